"""Diffs among the content of tool calls, in one form for both versions of the protocol.

v2 lists changes to files, and may bring a patch (`wire.Diff`). v1 has a path, the old text and the
new one, under the same tag; such a diff is kept exactly as it came, as a raw `wire.Unknown`.
`file_diff` returns the same form for both: the changed files, and a unified diff.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from msgspec import Struct

from . import wire
from ._json import encode
from ._sequence_diff import common_length

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

_MOST_COMPARISONS: Final = 400_000
"""The most pairs of lines that are compared, since that takes at least quadratic time. Beyond it, a
diff replaces all lines between the common ones at both ends."""

_Opcode: TypeAlias = tuple[str, int, int, int, int]


def is_old_diff(item: Any) -> bool:
    """Return whether a content item, as parsed JSON, is a diff in the shape of v1."""
    if not isinstance(item, dict) or item.get("type") != "diff" or "changes" in item:
        return False
    texts = (item.get("oldText"), item.get("newText"))
    return (
        isinstance(item.get("path"), str)
        and all(text is None or isinstance(text, str) for text in texts)
        and texts != (None, None)
    )


class FileDiff(Struct, frozen=True):
    """The changes of a diff, whichever version of the protocol it came in.

    `changes` has the files and the operation on each. `text` is a unified diff of all of them,
    empty if the agent sent none or nothing differs. `line_endings` is set if every line ending of
    the file changed, from the first to the second; `text` then leaves them out.
    """

    changes: tuple[wire.DiffChange, ...]
    text: str = ""
    line_endings: tuple[str, str] | None = None


def file_diff(item: wire.ToolCallContent, *, context: int = 3) -> FileDiff | None:
    """Return a content item of a tool call as a diff; `None` if it is something else.

    `context` is how many lines around a change the text of a v1 diff has.
    """
    if isinstance(item, wire.Diff):
        return FileDiff(item.changes, item.patch.text if item.patch else "")
    raw = item.value if isinstance(item, wire.Unknown) else None
    if raw is None or not is_old_diff(raw):
        return None
    before, after = _texts(raw)
    endings = _changed_endings(before, after)
    if endings is not None and before is not None and after is not None:
        before, after = before.replace("\r\n", "\n"), after.replace("\r\n", "\n")
    text = _unified(raw["path"], before, after, context)
    return FileDiff((_change(raw["path"], before, after),), text, endings)


def unified_diff(item: wire.ToolCallContent, *, context: int = 3) -> str | None:
    """Return the patch from the old text of a v1 diff to the new one, line endings included.

    Returns `None` for any other content item. An old text that is absent is a new file, a new text
    that is absent a deleted one.
    """
    raw = item.value if isinstance(item, wire.Unknown) else None
    if raw is None or not is_old_diff(raw):
        return None
    return _unified(raw["path"], *_texts(raw), context)


def _texts(raw: dict[str, Any]) -> tuple[str | None, str | None]:
    before, after = raw.get("oldText"), raw.get("newText")
    return before, None if after == "" and _says_deleted(raw) else after


def _unified(path: str, before: str | None, after: str | None, context: int) -> str:
    path = _printable_path(path)
    body = "".join(_marked(_body(_lines(before), _lines(after), context)))
    if not body:
        return ""
    return f"--- {_name(path, before)}\n+++ {_name(path, after)}\n{body}"


def _change(path: str, before: str | None, after: str | None) -> wire.DiffChange:
    if before is None:
        return wire.DiffAdd(path)
    return wire.DiffDelete(path) if after is None else wire.DiffModify(path)


def _changed_endings(before: str | None, after: str | None) -> tuple[str, str] | None:
    """Return the line endings of two texts if each has one kind of them, and not the same."""
    kinds = _ending(before), _ending(after)
    if None in kinds or kinds[0] == kinds[1]:
        return None
    return kinds  # type: ignore[return-value]  # neither is `None`


def _ending(text: str | None) -> str | None:
    """Return the one kind of line ending that a text has."""
    feeds = (text or "").count("\n")
    pairs = (text or "").count("\r\n")
    return None if not feeds or pairs not in (0, feeds) else ("CRLF" if pairs else "LF")


def _says_deleted(raw: dict[str, Any]) -> bool:
    """Return whether Codex's adapter marks the file as deleted, which v1 itself cannot express."""
    meta = raw.get("_meta")
    return isinstance(meta, dict) and meta.get("kind") == "delete"


def _printable_path(path: str) -> str:
    """Quote a path that would break the header's line."""
    return encode(path).decode("utf-8", "replace") if _CONTROL.search(path) else path


def _name(path: str, text: str | None) -> str:
    return "/dev/null" if text is None else path


def _lines(text: str | None) -> list[str]:
    """Split after line feeds alone: other line endings are content to a patch."""
    pieces = (text or "").split("\n")
    lines = [piece + "\n" for piece in pieces[:-1]]
    return [*lines, pieces[-1]] if pieces[-1] else lines


def _body(before: list[str], after: list[str], context: int) -> Iterator[str]:
    """Return the hunks; of the common lines at both ends, only the context is included."""
    if before == after:
        return
    same = common_length(before, after)
    shorter = min(len(before), len(after)) - same
    same_end = (
        common_length(before[: -shorter - 1 : -1], after[: -shorter - 1 : -1]) if shorter else 0
    )
    start = max(same - context, 0)
    behind = max(same_end - context, 0)
    old, new = before[start : len(before) - behind], after[start : len(after) - behind]
    lead, tail = same - start, same_end - behind
    for group in _grouped(old, new, lead, tail, context):
        yield from _hunk(group, old, new, start)


def _grouped(
    old: list[str], new: list[str], lead: int, tail: int, context: int
) -> Iterable[list[_Opcode]]:
    ends = len(old) - tail, len(new) - tail
    if (ends[0] - lead) * (ends[1] - lead) <= _MOST_COMPARISONS:
        from difflib import SequenceMatcher  # imported late: only the printing of diffs needs it

        return SequenceMatcher(None, old, new).get_grouped_opcodes(context)
    replaced = ("replace", lead, ends[0], lead, ends[1])
    around = ("equal", 0, lead, 0, lead), ("equal", ends[0], len(old), ends[1], len(new))
    return [[around[0], replaced, around[1]]]


def _hunk(group: list[_Opcode], old: list[str], new: list[str], offset: int) -> Iterator[str]:
    (_, first, _, first_new, _), (_, _, last, _, last_new) = group[0], group[-1]
    ranges = _range(first, last, offset), _range(first_new, last_new, offset)
    yield f"@@ -{ranges[0]} +{ranges[1]} @@\n"
    for tag, start, end, start_new, end_new in group:
        if tag == "equal":
            yield from (" " + line for line in old[start:end])
        else:
            yield from ("-" + line for line in old[start:end])
            yield from ("+" + line for line in new[start_new:end_new])


def _range(start: int, end: int, offset: int) -> str:
    """Write a range of lines; an empty one names the line before it."""
    length = end - start
    return f"{start + offset + bool(length)},{length}"


def _marked(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines; mark a line that has no line ending."""
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
