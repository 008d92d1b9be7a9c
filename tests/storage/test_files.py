"""Snapshots in files: the old one or the new one, whatever happens while it is written.

`ACP_CLIENT_KILLS` is how often the writer is killed; a few dozen times unless it says otherwise.
"""

from __future__ import annotations

import errno
import os
import random
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich_session import rich_snapshot, richer_snapshot
from traffic import chunk

from acp_client import Snapshot, StoredSnapshotError, apply, dumps
from acp_client._storage.files import load, save

STORED = Path(__file__).parent / "stored"
KILLS = int(os.environ.get("ACP_CLIENT_KILLS", "36"))
POSIX = pytest.mark.skipif(os.name != "posix", reason="permissions and signals of POSIX")


def spoken(text: str) -> Snapshot:
    """Make a session in which one thing was said."""
    return apply(Snapshot("s1"), chunk(text))


def names(directory: Path) -> list[str]:
    """Give the names in a directory."""
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize("convert", [str, Path])
def test_what_is_saved_is_loaded(tmp_path: Path, convert: Any) -> None:
    """A session is loaded as it was saved, over an older one too, and nothing else is left."""
    path = convert(tmp_path / "session.json")
    for snapshot in (spoken("one"), rich_snapshot(), Snapshot("s2")):
        save(snapshot, path)
        assert load(path) == snapshot
    assert names(tmp_path) == ["session.json"]


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """Loading what is no stored snapshot, or only half of one, raises an exception of ours."""
    path = tmp_path / "session.json"
    for data in (b"", b"{}", dumps(rich_snapshot())[:-100]):
        path.write_bytes(data)
        with pytest.raises(StoredSnapshotError):
            load(path)


def test_a_file_of_a_newer_version_says_so(tmp_path: Path) -> None:
    """What a later version of the package saved is refused by its number, not as damage."""
    path = tmp_path / "session.json"
    path.write_bytes(dumps(Snapshot("s1")).replace(b'"version":2', b'"version":99'))
    with pytest.raises(StoredSnapshotError, match="has version 99; this package reads up to"):
        load(path)


@pytest.mark.parametrize("stored", sorted(STORED.iterdir()), ids=lambda stored: stored.stem)
def test_files_of_every_version_are_loaded_and_saved_anew(stored: Path, tmp_path: Path) -> None:
    """A file of any version is loaded, and what is saved of it is the same session."""
    snapshot = load(stored)
    newest = richer_snapshot() if stored.stem == "version-2" else rich_snapshot()
    assert snapshot.entries == newest.entries
    save(snapshot, tmp_path / "session.json")
    assert load(tmp_path / "session.json") == snapshot


def test_errors_of_the_system_pass_through(tmp_path: Path) -> None:
    """A path that leads nowhere is the caller's to handle, when saving and when loading."""
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none")
    with pytest.raises(FileNotFoundError):
        save(spoken("x"), tmp_path / "none" / "session.json")
    with pytest.raises(OSError, match="directory"):
        save(spoken("x"), tmp_path)
    assert names(tmp_path) == []


def made_directory(path: Path) -> None:
    """Make a directory that is not empty."""
    path.mkdir()
    (path / "file").touch()


def made_pipe(path: Path) -> None:
    """Make a pipe that has a name."""
    os.mkfifo(path)


def made_socket(path: Path) -> None:
    """Make a socket of the file system, which stays when it is closed."""
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))  # the system takes no long path here


@POSIX
@pytest.mark.parametrize("make", [made_directory, made_socket, made_pipe])
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_no_regular_file_is_refused_and_stays(
    tmp_path: Path, make: Callable[[Path], None], linked: bool
) -> None:
    """A directory, a socket, a pipe: nothing is written, and nothing takes their place."""
    path = there = tmp_path / "there"
    make(there)
    if linked:
        path = tmp_path / "link"
        path.symlink_to(there)
    before = there.stat()
    with pytest.raises(OSError, match="not a regular file") as raised:
        save(spoken("x"), path)
    assert raised.value.errno == (errno.EISDIR if there.is_dir() else errno.EINVAL)
    assert raised.value.filename == str(path)
    assert os.path.samestat(there.stat(), before)
    assert names(tmp_path) == sorted({"there", path.name})


@POSIX
@pytest.mark.parametrize("path", [os.devnull, "/dev/fd/{}"])
def test_devices_and_pipes_of_the_process_are_refused(
    monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """A device and an open pipe are no files to replace, and nothing is made beside them."""

    def made(*_: Any) -> None:
        pytest.fail("a file was made beside what is no file")

    monkeypatch.setattr(tempfile, "mkstemp", made)  # the system's device must outlive a failure
    read, write = os.pipe()
    with pytest.raises(OSError, match="Is not a regular file"):
        save(spoken("x"), path.format(write))
    os.close(read)
    os.close(write)


@POSIX
@pytest.mark.parametrize("length", [1, 240, 241, 242, 248, 255])
@pytest.mark.parametrize("character", ["n", "ü", "日"])
def test_a_name_may_be_as_long_as_the_system_takes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int, character: str
) -> None:
    """The unfinished file is hidden and tells whose it is; no room for its name is no error."""
    unfinished: list[str] = []
    replace = os.replace

    def noted(*paths: Any) -> None:
        unfinished.append(Path(paths[0]).name)
        replace(*paths)

    monkeypatch.setattr(os, "replace", noted)
    size = len(character.encode())
    path = tmp_path / (character * (length // size) + "n" * (length % size))
    for snapshot in (spoken("one"), spoken("two")):
        save(snapshot, path)
        assert load(path) == snapshot
    assert names(tmp_path) == [path.name]
    assert all(name.startswith(".acp-client-") and name.endswith(".tmp") for name in unfinished)


@POSIX
def test_a_name_that_the_system_refuses_is_an_error(tmp_path: Path) -> None:
    """A name that is too long by itself is the caller's to handle."""
    with pytest.raises(OSError, match=os.strerror(errno.ENAMETOOLONG)):
        save(spoken("x"), tmp_path / ("n" * 256))
    assert names(tmp_path) == []


@POSIX
def test_a_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    """A session holds what people say in private, so nobody else can read the file."""
    path = tmp_path / "session.json"
    path.touch(0o644)
    save(spoken("one"), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@POSIX
def test_links_are_followed(tmp_path: Path) -> None:
    """Saving through a symbolic link changes the file that it leads to, and the link stays."""
    path, link = tmp_path / "session.json", tmp_path / "link"
    save(spoken("one"), path)
    link.symlink_to(path)
    save(spoken("two"), link)
    assert link.is_symlink()
    assert load(path) == spoken("two")


@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "no space"), KeyboardInterrupt()])
def test_what_fails_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, error: BaseException
) -> None:
    """Whatever stops the writer on its way, the old file is there, and no other is."""
    path = tmp_path / "session.json"
    save(spoken("old"), path)

    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(os, function, fail)
    with pytest.raises(type(error)):
        save(spoken("new"), path)
    monkeypatch.undo()
    assert load(path) == spoken("old")
    assert names(tmp_path) == ["session.json"]


FULL = """
import resource, signal, sys
import acp_client
from acp_client._storage.files import save
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
event = acp_client.wire.AgentMessageChunk("m", acp_client.wire.TextContent("x" * 100_000))
try:
    save(acp_client.apply(acp_client.Snapshot("s1"), event), sys.argv[1])
except OSError as error:
    print(error.errno)
"""


@POSIX
def test_a_disk_that_takes_no_more_leaves_the_old_file_alone(tmp_path: Path) -> None:
    """Where the system takes only a part of the new file, the old one is there, and no other is."""
    path = tmp_path / "session.json"
    save(spoken("old"), path)
    ran = subprocess.run(
        [sys.executable, "-c", FULL, path], check=True, capture_output=True, text=True
    )
    assert ran.stdout.split() == [str(errno.EFBIG)]
    assert load(path) == spoken("old")
    assert names(tmp_path) == ["session.json"]


SMALL_DISK = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
MOUNTED = 'mount -t tmpfs -o size=64k none "$1" && exec "$2" -c "$3" "$1/session.json"'
FILLED = """
import os, sys
from pathlib import Path
import acp_client
from acp_client._storage.files import load, save
path = Path(sys.argv[1])
old, new = acp_client.Snapshot("old"), acp_client.Snapshot("new")
event = acp_client.wire.AgentMessageChunk("m", acp_client.wire.TextContent("x" * 100_000))
save(old, path)
for _ in range(100):
    try:
        save(acp_client.apply(new, event), path)
    except OSError as error:
        number = error.errno
print(number, load(path) == old, os.listdir(path.parent))
save(new, path)
print(load(path) == new)
"""


def can_mount(folder: Path) -> bool:
    """Tell whether this user may mount a small file system of its own."""
    command = [*SMALL_DISK, 'mount -t tmpfs none "$1"', "sh", str(folder)]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def test_a_full_disk_leaves_the_old_file_alone(tmp_path: Path) -> None:
    """On a disk that is full the old file is there, no part of another, and there is room again."""
    if not can_mount(tmp_path):
        pytest.skip("no file system can be mounted here")
    command = [*SMALL_DISK, MOUNTED, "sh", str(tmp_path), sys.executable, FILLED]
    ran = subprocess.run(command, check=True, capture_output=True, text=True)
    assert ran.stdout.splitlines() == [f"{errno.ENOSPC} True ['session.json']", "True"]


def test_a_directory_that_cannot_be_brought_to_the_disk_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system cannot open a directory the file is saved all the same."""

    def refuse(*_: Any) -> int:
        raise PermissionError

    replace = os.replace

    def replace_then_refuse(*paths: Any) -> None:
        replace(*paths)
        monkeypatch.setattr(os, "open", refuse)

    monkeypatch.setattr(os, "replace", replace_then_refuse)
    save(spoken("x"), tmp_path / "session.json")
    monkeypatch.undo()
    assert load(tmp_path / "session.json") == spoken("x")


WRITER = """
import os, sys
import acp_client
from acp_client._storage.files import save
text = acp_client.wire.TextContent("x" * 200_000)
snapshots = [
    acp_client.apply(acp_client.Snapshot(name), acp_client.wire.AgentMessageChunk("m", text))
    for name in ("odd", "even")
]
save(snapshots[0], sys.argv[1])
for _ in sys.stdin:  # begin a writer: to start a whole interpreter for each would take longest
    writer = os.fork()
    while not writer:
        for snapshot in snapshots:
            save(snapshot, sys.argv[1])
    print(writer, flush=True)
    os.waitpid(writer, 0)
    print("gone", flush=True)
"""


@POSIX
def test_a_killed_writer_leaves_a_whole_file(tmp_path: Path) -> None:
    """However often the writer is killed, and wherever it is, the file is one of those it wrote."""
    path = tmp_path / "session.json"
    chance, longest = random.Random(6), 4 * time_of_saving(path)
    seen = set()
    command = [sys.executable, "-c", WRITER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdin is not None
        assert run.stdout is not None
        for number in range(10 * KILLS):
            print("begin", file=run.stdin, flush=True)
            writer = int(run.stdout.readline())
            time.sleep(chance.random() * longest * (1 + number // KILLS))
            os.kill(writer, signal.SIGKILL)
            assert run.stdout.readline() == "gone\n"
            seen.add(checked(path))
            if number >= KILLS - 1 and len(seen) == 2:  # a busy machine needs more of them
                break
        run.stdin.close()
    assert seen == {"odd", "even"}
    for left in names(tmp_path):
        assert left == path.name or left.startswith(".acp-client-")


def time_of_saving(path: Path) -> float:
    """Tell how many seconds it takes to save a session like the writer's."""
    started = time.perf_counter()
    save(spoken("x" * 200_000), path)
    return time.perf_counter() - started


def checked(path: Path) -> str:
    """Load a session of the writer's; give its id."""
    snapshot = load(path)
    assert len(snapshot.entries) == 1
    assert len(snapshot.entries[0].text) == 200_000  # type: ignore[union-attr]  # a message
    return snapshot.session_id
