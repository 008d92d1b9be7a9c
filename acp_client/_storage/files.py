"""Snapshots in files: `save` and `load`, which never leave or take half of one.

What is stored is written to a new file beside the old one, brought to the disk, and then put in the
old one's place in a single step. So whatever happens on the way (the disk is full, the process is
killed, the power fails), the path leads to the old snapshot or to the new one, whole. A process
that is killed may leave its unfinished `.name.….tmp` beside it; nothing reads that. Where the name
is so long that the system takes none that is longer, only its beginning is in that.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final, cast

from .._errors import InvalidValueError, checked
from .._snapshot import Snapshot
from .serialization import dumps, loads

_UNFINISHED: Final = ".tmp"
_BEGINNING: Final = 16


def save(snapshot: Snapshot, path: str | os.PathLike[str]) -> None:
    """Store a snapshot in a file: after that the file holds it whole, or what it held before.

    A file that is there keeps its permissions, a new one is for its owner alone, since sessions
    hold what people and programs say in private. Owner, group and attributes (such as access lists)
    stay too, where the system lets them; where it does not, the group has no access. A symbolic
    link is followed. Raises `OSError`, also where there is something else than a regular file: a
    directory, a pipe, a device; and `InvalidValueError` for what is no path.
    """
    data = dumps(snapshot)
    path = _checked_path(path)
    _refuse_what_is_no_file(path)
    target = Path(os.path.realpath(path))
    handle, unfinished = _begun(target)
    try:
        _write(handle, data)
        with suppress(FileNotFoundError):
            _keep_access(target, unfinished)
        os.replace(unfinished, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise
    _keep_entries(target.parent)


def load(path: str | os.PathLike[str]) -> Snapshot:
    """Restore a snapshot from a file that `save` wrote, in this version or an earlier one.

    Raises `OSError`, `StoredSnapshotError` for a file that holds something else, and
    `InvalidValueError` for what is no path.
    """
    return loads(Path(_checked_path(path)).read_bytes())


def _checked_path(path: str | os.PathLike[str]) -> str:
    """Return the text of a path. Raises `InvalidValueError` for what no system has a file for."""
    text = os.fspath(checked(path, str | os.PathLike, "a path"))
    try:
        if not checked(text, str, "a path of text") or "\0" in text:
            raise InvalidValueError(f"no file has such a path: {text!r}")
        os.fsencode(text)
    except UnicodeEncodeError:
        raise InvalidValueError(f"no file has such a path: {text!r}") from None
    return cast("str", text)


def _refuse_what_is_no_file(path: str) -> None:
    """Raise `OSError` for what is there and is no regular file: it must not be replaced by one."""
    with suppress(FileNotFoundError):
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "Is a directory, not a regular file", path)
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "Is not a regular file", path)


def _begun(target: Path) -> tuple[int, str]:
    """Make the unfinished file: with the target's name, or where that is too long, a part of it."""
    try:
        return tempfile.mkstemp(_UNFINISHED, f".{target.name}.", target.parent)
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
    return tempfile.mkstemp(_UNFINISHED, f".{target.name[:_BEGINNING]}.", target.parent)


def _write(handle: int, data: bytes) -> None:
    """Write a file, and wait until it is on the disk."""
    with open(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _keep_access(target: Path, unfinished: str) -> None:
    """Let a new file be read and written by whom the old one is, or by fewer."""
    before = os.stat(target)
    mode = stat.S_IMODE(before.st_mode)
    has_group = _keep_owner(before, unfinished)
    if not _keep_attributes(target, unfinished) or not has_group:
        mode &= ~stat.S_IRWXG
    os.chmod(unfinished, mode)  # last: a change of owner takes some of it away


def _keep_owner(before: os.stat_result, unfinished: str) -> bool:
    """Give a file the owner and the group of another; tell whether it has that group."""
    now = os.stat(unfinished)
    if (now.st_uid, now.st_gid) == (before.st_uid, before.st_gid):
        return True
    for owner in (before.st_uid, -1):  # only the system's administrator can give a file away
        with suppress(OSError):
            os.chown(unfinished, owner, before.st_gid)
            return True
    return False


def _keep_attributes(target: Path, unfinished: str) -> bool:
    """Give a file the attributes of another, where there are any; tell whether that is safe.

    It is where nobody gets in by an access list that the old file had not, or was kept out by one
    that the new file has not.
    """
    before, now = _attributes(target), _attributes(unfinished)
    for name in now.keys() - before.keys():  # of its directory
        with suppress(OSError):
            os.removexattr(unfinished, name)
    for name, value in before.items():
        with suppress(OSError):  # some are not ours to set
            os.setxattr(unfinished, name, value)
    return _access_lists(_attributes(unfinished)) == _access_lists(before)


def _attributes(path: str | Path) -> dict[str, bytes]:
    """Return what the file system has noted of a file, as far as it tells."""
    found = {}
    with suppress(OSError, AttributeError):  # there are none, or none on this system
        for name in os.listxattr(path):
            with suppress(OSError):
                found[name] = os.getxattr(path, name)
    return found


def _access_lists(attributes: dict[str, bytes]) -> dict[str, bytes]:
    return {name: value for name, value in attributes.items() if "acl" in name}


def _keep_entries(directory: Path) -> None:
    """Bring a directory to the disk, where the system can: else the new file's name may be lost."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
