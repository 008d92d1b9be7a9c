"""Handlers that let an agent read and write text files under one folder: the only I/O of a store.

They answer `fs/read_text_file` and `fs/write_text_file` of ACP v1. A store has them only if the
client registers them with a root, see `handle_text_files`. A path that leads out of the root,
through `..` or a symbolic link, is refused.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._agent_calls import Responder
from ._errors import HandlerError, checked

if TYPE_CHECKING:
    from ._store import Store

INVALID_PARAMS = -32602
NOT_FOUND = -32002


def handle_text_files(store: Store, root: str | os.PathLike[str], *, writing: bool = False) -> None:
    """Let the agent read text files under `root`, and write them if `writing` is true.

    Raises `InvalidValueError` for a root that is not a path. The handlers read and write when the
    store calls them, in the thread that feeds it.
    """
    files = _TextFiles(Path(checked(root, str | os.PathLike, "a path")).resolve())
    store.handle("fs/read_text_file", files.read)
    if writing:
        store.handle("fs/write_text_file", files.write)


class _TextFiles:
    """The files under one folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def read(self, request: Responder) -> dict[str, str]:
        """Return the text of a file, from the 1-based `line` on, at most `limit` lines."""
        params = _params(request)
        start = _count(params, "line", least=1) or 1
        limit = _count(params, "limit", least=0)
        try:
            with self._path(params).open(encoding="utf-8", newline="") as file:
                text = file.read()
        except OSError as error:
            raise HandlerError(str(error.strerror), NOT_FOUND) from error
        except UnicodeDecodeError as error:
            raise HandlerError("the file is not UTF-8 text") from error
        if start == 1 and limit is None:
            return {"content": text}
        lines = text.splitlines(keepends=True)[start - 1 :]
        return {"content": "".join(lines if limit is None else lines[:limit])}

    def write(self, request: Responder) -> dict[str, Any]:
        """Write a file, which may be new."""
        params = _params(request)
        content = params.get("content")
        if not isinstance(content, str):
            raise HandlerError("content is not a string", INVALID_PARAMS)
        try:
            with self._path(params).open("w", encoding="utf-8", newline="") as file:
                file.write(content)
        except (OSError, UnicodeEncodeError) as error:
            raise HandlerError(f"cannot write: {error}") from error
        return {}

    def _path(self, params: dict[str, Any]) -> Path:
        """Return the requested path, which is under the root after all links are resolved."""
        given = params.get("path")
        if not isinstance(given, str) or "\0" in given or not os.path.isabs(given):
            raise HandlerError("path is not an absolute path", INVALID_PARAMS)
        try:
            path = Path(given).resolve()
        except (OSError, RuntimeError) as error:  # links in a circle
            raise HandlerError("path cannot be resolved", INVALID_PARAMS) from error
        if not path.is_relative_to(self._root):
            raise HandlerError("path is outside of the folder", INVALID_PARAMS)
        return path


def _params(request: Responder) -> dict[str, Any]:
    params = request.params
    if not isinstance(params, dict):
        raise HandlerError("params is not an object", INVALID_PARAMS)
    return params


def _count(params: dict[str, Any], name: str, *, least: int) -> int | None:
    value = params.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise HandlerError(f"{name} is not a number of lines", INVALID_PARAMS)
    return value
