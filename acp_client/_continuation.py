"""How the texts and outputs of one snapshot continue those of another.

If two versions share their beginning, the comparison costs only what was added. If they share
nothing (a snapshot loaded from a file, an agent that sends all of its text again), their values are
compared.

*Content.* A renderer draws the text of an entry as one string, with other items in between. So
content is split into *runs*: runs of text items, joined, and runs of other items. New content
continues old content if it begins with the old items: the runs are then what follows them. It also
does if the first item that differs is a text of the same style on both sides: the old content is
then cut at the first character that differs, and the first run begins there.

A text may end with half a character: a high surrogate whose other half comes with the next chunk.
The run with the other half begins *at* the first half, and replaces it. If something other than
text came between the halves, no run can express that, and the content counts as replaced.

*The end of a text*, its `Ending`, would cost the whole text to find. It is found once and then kept
with each version that is compared, so the next comparison starts from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

from . import wire
from ._content import ContentBlocks, ToolCallContents, shown_text
from ._grown_text import GrownText
from ._items import measured
from ._sequence_diff import common_length, common_prefix
from ._snapshot import Terminal
from ._terminal_output import OutputBytes, bytes_left_out
from ._terminal_text import TranscriptTail
from ._text import Position, heal_surrogates

Content: TypeAlias = ContentBlocks | ToolCallContents

# --- Content ---


class Ending(NamedTuple):
    """The end of a text.

    `half` is a high surrogate after `position`, which may be half a character; `is_passed` says
    that something other than text has come after it.
    """

    position: Position = Position()
    half: str = ""
    is_passed: bool = False


class Run(NamedTuple):
    """Content items from `first` up to `stop`: of text, or of others, which have no `text`.

    The text begins at `start`, where `removed` characters of the old text are removed. The first
    item begins with `kept` characters of the item that was in its place. `cuts_items` says that
    items other than text are removed as well, `is_torn` that the first character of the text began
    before items other than text.
    """

    first: int
    stop: int
    start: Position
    text: str | None = None
    removed: int = 0
    kept: int = 0
    cuts_items: bool = False
    is_torn: bool = False

    @property
    def places(self) -> range:
        """The places of the items."""
        return range(self.first, self.stop)


def appended_runs(old: Content, new: Content) -> list[Run] | None:
    """Return the runs by which `new` continues `old`, or `None` if it does not."""
    if new._grew_from(old):
        return _continued(old, new, len(old))
    same = common_length(old._stored(), new._stored())
    return _continued(old, new, same) if same == len(old) else _recut(old, new, same)


def _continued(old: Content, new: Content, same: int) -> list[Run] | None:
    """Return the runs of `new` after all items of `old`."""
    ending = measured(old, lambda: _walked(Ending(), old._stored())[0])
    ending, runs = _walked(ending, new._stored(same), same)
    measured(new, lambda: ending)
    return None if any(run.is_torn for run in runs) else runs


def _recut(old: Content, new: Content, same: int) -> list[Run] | None:
    """Return the runs of `new` from the first character on that differs from `old`."""
    were, are = old._stored(same), new._stored(same)
    if not are or _style(were[0]) is None or _style(were[0]) != _style(are[0]):
        return None
    before, _ = _walked(Ending(), old._stored()[:same])
    if before.half:
        return None
    _, (was, *_) = _walked(before, were)
    ending, (now, *rest) = _walked(before, are, same)
    shared = common_prefix(was.text or "", now.text or "")
    if not same and not shared:
        return None
    measured(new, lambda: ending)
    kept = common_prefix(_text_of(were[0]) or "", _text_of(are[0]) or "")
    start, text = now.start.after((now.text or "")[:shared]), (now.text or "")[shared:]
    removed = _length(measured(old, lambda: _walked(before, were)[0])) - start.offset
    cut = any(_text_of(item) is None for item in were)
    now = Run(same, now.stop, start, text, removed, kept, cuts_items=cut)
    runs = [now, *rest]
    return None if any(run.is_torn for run in runs) else runs


def _length(ending: Ending) -> int:
    return ending.position.offset + len(ending.half)


def _walked(ending: Ending, items: Sequence[Any], index: int = 0) -> tuple[Ending, list[Run]]:
    """Return the new ending and the runs of items from `index` on, which follow an ending."""
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
        whole = heal_surrogates(half + text)
        run = Run(index, stop, position, whole, 1, is_torn=is_passed)
    else:
        run = Run(index, stop, position.after(half), heal_surrogates(text))
    return _ending(run.start, run.text or ""), run


def _ending(start: Position, text: str) -> Ending:
    if "\ud800" <= text[-1] <= "\udbff":
        return Ending(start.after(text[:-1]), text[-1])
    return Ending(start.after(text))


def _text_of(item: Any) -> str | None:
    text = shown_text(item)
    if text is not None:
        return text
    block = item.content if type(item) is wire.Content else item
    return block.text if type(block) is wire.TextContent else None


def _style(item: Any) -> Any:
    """Return the fields of a text item other than its text; `None` for any other item."""
    if type(item) is str or type(item) is GrownText:
        return ()
    block = item.content if type(item) is wire.Content else item
    return (block.annotations, block.meta, item.meta) if type(block) is wire.TextContent else None


# --- Output ---


def appended_output(old: OutputBytes, new: OutputBytes, dropped: int) -> tuple[int, bytes] | None:
    """Return the bytes that `new` adds to `old` without the first `dropped`, and where they begin.

    Returns `None` if `new` does not continue `old`.
    """
    offset = old.size - dropped
    if offset < 0:
        return None
    if new._dropped_since(old) == dropped or new.data.startswith(old.data[dropped:]):
        return offset, new.data_from(offset)
    return None


class _OutputEnding(NamedTuple):
    """The end of a transcript of output whose first bytes may be left out."""

    left_out: int
    position: Position
    tail: TranscriptTail


def appended_transcript(
    old: OutputBytes, now: Terminal, dropped: int, data: bytes
) -> tuple[Position, str]:
    """Return where `data` changes the transcript of `old`, and that of `now` from there on.

    A transcript that begins with another byte than before changes from its start.
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
