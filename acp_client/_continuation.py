"""How what grows in one snapshot continues what was there in another: texts and output.

Two questions are answered here, each at the cost of what came new where the two versions share
their beginning, and by comparing values where they share nothing (a snapshot loaded from a file).

*Content.* A renderer draws the text of an entry as one string, and other items between. So content
is taken in *runs*: of text items, joined, and of others. New content continues old content if the
old items are its beginning. The last items of the old may be cut otherwise, as long as they are
text of one style and their text is the beginning of the new run: an agent that replaces a message
by a longer one has only appended.

A text may end with half a character: a high surrogate whose other half comes with the next chunk.
The run that brings it begins *at* the half, and replaces it. If something other than text came
between the halves, then no run can say so, and the content counts as replaced.

*Where a text ends*, its `Ending`, would cost the whole text to find. It is found once and then
kept with each version that is compared, so the next comparison goes on from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from . import wire
from ._content import ContentBlocks, ToolCallContents
from ._items import measured
from ._sequence_diff import common_length
from ._snapshot import Terminal
from ._terminal_output import OutputBytes, bytes_left_out
from ._terminal_text import TranscriptTail
from ._text import Position, heal_surrogates

Content: TypeAlias = ContentBlocks | ToolCallContents

# --- Content ---


class Ending(NamedTuple):
    """Where some text ends.

    `half` is a high surrogate behind `position`, which may be half a character; `is_passed` tells
    that something other than text has come after it.
    """

    position: Position = Position()
    half: str = ""
    is_passed: bool = False


class Run(NamedTuple):
    """Content items from `first` up to `stop`: of text, or of others, which have no `text`.

    The text begins at `start`, with `replaced` characters of what was there before (half a
    character). `is_torn` tells that its first character began before items that are not text.
    """

    first: int
    stop: int
    start: Position
    text: str | None = None
    replaced: int = 0
    is_torn: bool = False


def appended_runs(old: Content, new: Content) -> list[Run] | None:
    """Return the runs by which `new` continues `old`, or `None` if it does not."""
    if new._grew_from(old):
        return _continued(old, new, len(old))
    kept = common_length(old._stored(), new._stored())
    return _continued(old, new, kept) if kept == len(old) else _recut(old, new, kept)


def _continued(old: Content, new: Content, kept: int) -> list[Run] | None:
    """Return the runs of `new` behind all items of `old`."""
    ending = measured(old, lambda: _walked(Ending(), old._stored())[0])
    ending, runs = _walked(ending, new._stored(kept), kept)
    measured(new, lambda: ending)
    return _untorn(runs)


def _recut(old: Content, new: Content, kept: int) -> list[Run] | None:
    """Return the runs of `new` behind the text of `old`, whose last items are cut otherwise."""
    rest = new._stored(kept)
    tail = old._stored(kept)
    head = _alike(rest, _style(tail[0]))
    if not head or len(_alike(tail, _style(tail[0]))) < len(tail):
        return None
    before, _ = _walked(Ending(), old._stored()[:kept])
    (was,), (now,) = _walked(before, tail)[1], _walked(before, head)[1]
    ending, runs = _walked(before, rest, kept)
    if was.start != now.start or _kept(was.text or "", now.text or "") is None:
        return None
    measured(new, lambda: ending)
    return _untorn([_behind(runs[0], was.text or ""), *runs[1:]])


def _behind(run: Run, text: str) -> Run:
    """Return what a run of text has behind `text`, with which it begins."""
    whole = run.text or ""
    kept = _kept(text, whole) or 0
    start = run.start.after(text[:kept])
    return run._replace(start=start, text=whole[kept:], replaced=len(text) - kept)


def _untorn(runs: list[Run]) -> list[Run] | None:
    return None if any(run.is_torn for run in runs) else runs


def _walked(ending: Ending, items: Sequence[Any], index: int = 0) -> tuple[Ending, list[Run]]:
    """Take items from `index` on as runs, behind a text with some ending; return the new one."""
    runs = []
    for is_text, group in groupby(map(_text_of, items), _is_text):
        texts: list[Any] = list(group)
        if is_text:
            ending, run = _text_run(ending, "".join(texts), index, index + len(texts))
        else:
            run = Run(index, index + len(texts), ending.position.after(ending.half))
            ending = ending._replace(is_passed=True)
        runs.append(run)
        index = run.stop
    return ending, runs


def _is_text(text: str | None) -> bool:
    return text is not None


def _text_run(ending: Ending, text: str, index: int, stop: int) -> tuple[Ending, Run]:
    position, half, is_passed = ending
    if not text:
        return ending, Run(index, stop, position.after(half), "")
    if half and "\udc00" <= text[0] <= "\udfff":
        run = Run(index, stop, position, heal_surrogates(half + text), 1, is_passed)
    else:
        run = Run(index, stop, position.after(half), heal_surrogates(text))
    return _ending(run.start, run.text or ""), run


def _ending(start: Position, text: str) -> Ending:
    if "\ud800" <= text[-1] <= "\udbff":
        return Ending(start.after(text[:-1]), text[-1])
    return Ending(start.after(text))


def _text_of(item: Any) -> str | None:
    if type(item) is str:
        return item
    block = item.content if type(item) is wire.Content else item
    return block.text if type(block) is wire.TextContent else None


def _style(item: Any) -> Any:
    """Return what a text item has beside its text; `None` for an item that is not text."""
    if type(item) is str:
        return ()
    block = item.content if type(item) is wire.Content else item
    return (block.annotations, block.meta, item.meta) if type(block) is wire.TextContent else None


def _alike(items: Sequence[Any], style: Any) -> Sequence[Any]:
    """Return the text items of one style with which some items begin."""
    if style is None:
        return ()
    differs = (place for place, item in enumerate(items) if _style(item) != style)
    return items[: next(differs, len(items))]


def _kept(old: str, new: str) -> int | None:
    """Tell how many characters of `old` stay where `new` continues it; `None` if it does not."""
    if new.startswith(old):
        return len(old)
    place = len(old) - 1
    if "\ud800" <= old[-1] <= "\udbff" and new.startswith(old[:place]) and place < len(new):
        whole = new[place] > "\uffff" and (ord(new[place]) - 0x10000) >> 10 == ord(old[-1]) & 0x3FF
        return place if whole else None
    return None


# --- Output ---


def appended_output(old: OutputBytes, new: OutputBytes, dropped: int) -> tuple[int, bytes] | None:
    """Return the bytes that `new` adds to `old` without the first `dropped`, and where they begin.

    `None` if it does not continue that.
    """
    offset = old.size - dropped
    if offset < 0:
        return None
    if new._dropped_since(old) == dropped or new.data.startswith(old.data[dropped:]):
        return offset, new.data_from(offset)
    return None


class _OutputEnding(NamedTuple):
    """Where the transcript of output goes on, which leaves out the first bytes."""

    left_out: int
    position: Position
    tail: TranscriptTail


def appended_transcript(
    old: OutputBytes, now: Terminal, dropped: int, data: bytes
) -> tuple[Position, str]:
    """Return where the transcript of `old` changes by `data`, and that of `now` from there on.

    It begins anew where it does not begin with the same byte.
    """
    left_out = bytes_left_out(now.dropped_bytes - dropped, old.size)
    left_out_now = bytes_left_out(now.dropped_bytes, now.pieces.size)
    if left_out != left_out_now + dropped:
        now.pieces._measure = None
        _transcript_ending(now.pieces, left_out_now)
        return Position(), now.text
    _, settled, tail = _transcript_ending(old, left_out)
    tail, more = tail.fed(data)
    now.pieces._measure = _OutputEnding(left_out_now, settled.after(more), tail)
    return settled, more + tail.line


def _transcript_ending(output: OutputBytes, left_out: int) -> _OutputEnding:
    ending: _OutputEnding | None = output._measure
    if ending is None or ending.left_out != left_out:
        text, tail = output._shown(left_out)
        settled = Position().after(text[: len(text) - len(tail.line)])
        ending = output._measure = _OutputEnding(left_out, settled, tail)
    return ending
