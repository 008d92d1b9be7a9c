"""The files that the tool calls of a session touched, from their diffs and locations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from . import wire
from ._errors import checked
from ._snapshot import Snapshot, ToolCall


class FileTouched(Struct, frozen=True, gc=False):
    """A file that tool calls of a session touched.

    `changes` are the operations in their diffs (`add`, `delete`, `modify`, `move`, `copy`), in
    order of first appearance; a file that is only a location has none. `tool_call_ids` are the ids
    of the calls.
    """

    path: str
    changes: tuple[str, ...] = ()
    tool_call_ids: tuple[str, ...] = ()


def files_touched(snapshot: Snapshot) -> dict[str, FileTouched]:
    """Return the files that the tool calls of a session touched, by path, in order of appearance.

    Raises `InvalidValueError` for something other than a snapshot.
    """
    entries = checked(snapshot, Snapshot, "a snapshot").entries
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for call in entries:
        if not isinstance(call, ToolCall):
            continue
        for path, change in _touched(call):
            changes, calls = found.setdefault(path, ({}, {}))
            calls[call.tool_call_id] = None
            if change is not None:
                changes[change] = None
    return {
        path: FileTouched(path, tuple(changes), tuple(calls))
        for path, (changes, calls) in found.items()
    }


def _touched(call: ToolCall) -> Iterator[tuple[str, str | None]]:
    """Yield the paths that a tool call touches, each with the kind of change if there is one."""
    for location in call.locations:
        yield location.path, None
    for item in call.content:
        if isinstance(item, wire.Diff):
            for change in item.changes:
                yield from _changed_paths(change)
        elif isinstance(item, wire.Unknown):
            yield from _path_of_old_diff(item.value)


def _changed_paths(change: wire.DiffChange) -> Iterator[tuple[str, str]]:
    if isinstance(change, wire.Unknown):
        return
    kind = str(change.__struct_config__.tag)
    if isinstance(change, wire.DiffMove):
        yield change.old_path, kind
    yield change.path, kind


def _path_of_old_diff(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the path of a diff of v1, which has an old and a new text."""
    if isinstance(value, dict) and value.get("type") == "diff":
        path = value.get("path")
        if isinstance(path, str):
            yield path, "modify" if isinstance(value.get("oldText"), str) else "add"
