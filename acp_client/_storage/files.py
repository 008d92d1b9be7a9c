"""Snapshots in files: `save` and `load`, which never leave or take half of one.

A snapshot is written to a new file in the same directory, synced, and put in the place of the old
one in a single step. Whatever happens on the way (the disk is full, the process is killed, the
power fails), the path leads to the old snapshot or to the new one, whole. A process that is killed
may leave its unfinished file behind; nothing reads that.
"""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import cast

from .._errors import InvalidValueError, checked
from .._snapshot import Snapshot
from .serialization import dumps, loads


def save(snapshot: Snapshot, path: str | os.PathLike[str]) -> None:
    """Store a snapshot in a file that its owner alone can read.

    After that the file holds the snapshot whole; if `save` raises, it holds what it held before. A
    symbolic link is followed. Raises `OSError`, also where something other than a regular file is
    (a directory, a pipe, a device), and `InvalidValueError` for a value that is not a path.
    """
    data = dumps(snapshot)
    given = _checked_path(path)
    if os.path.isdir(given):
        raise IsADirectoryError(errno.EISDIR, "Is a directory, not a regular file", given)
    if os.path.exists(given) and not os.path.isfile(given):
        raise OSError(errno.EINVAL, "Is not a regular file", given)
    target = Path(os.path.realpath(given))
    handle, unfinished = tempfile.mkstemp(".tmp", ".acp-client-", target.parent)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.replace(unfinished, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise
    _sync_directory(target.parent)


def load(path: str | os.PathLike[str]) -> Snapshot:
    """Restore a snapshot from a file that `save` wrote, in this version or an earlier one.

    Raises `OSError`, `StoredSnapshotError` for a file that holds something else, and
    `InvalidValueError` for a value that is not a path.
    """
    return loads(Path(_checked_path(path)).read_bytes())


def _checked_path(path: str | os.PathLike[str]) -> str:
    """Return the text of a path. Raises `InvalidValueError` for a path that no file can have."""
    text = os.fspath(checked(path, str | os.PathLike, "a path"))
    try:
        if not checked(text, str, "a path of text") or "\0" in text:
            raise InvalidValueError(f"no file has such a path: {text!r}")
        os.fsencode(text)
    except UnicodeEncodeError:
        raise InvalidValueError(f"no file has such a path: {text!r}") from None
    return cast("str", text)


def _sync_directory(directory: Path) -> None:
    """Flush the new name to the disk, where the system supports it."""
    with suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
