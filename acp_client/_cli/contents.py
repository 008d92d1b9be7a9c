"""Content that is no plain text, as lines: resources, images, diffs, terminals, raw values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
import msgspec

from .. import wire
from .._diffs import FileDiff, file_diff
from .._json import Json, nests_deeper
from .._snapshot import Snapshot, Terminal
from .._terminal_text import terminal_text
from .._widths import truncate
from .layout import (
    INDENT,
    Layout,
    Span,
    one_line,
    paragraph,
    quotation,
    safe,
    titled,
)

_LEGIBLE_DEPTH: Final = 100

_SIZES: Final = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))

_PATCH_STYLES: Final = (
    ("+++", "faint"),
    ("---", "faint"),
    ("+", "added"),
    ("-", "removed"),
    ("@@", "hunk"),
    ("diff ", "faint"),
    ("index ", "faint"),
    ("new file", "faint"),
    ("deleted file", "faint"),
    ("rename ", "faint"),
    ("copy ", "faint"),
    ("similarity ", "faint"),
)

_PATCH_HEAD: Final = 30

_OPERATIONS: Final = {
    wire.DiffAdd: ("added", "added"),
    wire.DiffDelete: ("deleted", "removed"),
    wire.DiffModify: ("modified", ""),
    wire.DiffMove: ("moved", ""),
    wire.DiffCopy: ("copied", ""),
}


def size_words(count: int) -> str:
    """Write a number of bytes."""
    for unit, name in _SIZES:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} B"


def raw_line(label: str, value: Json, layout: Layout) -> list[Span]:
    """Show a raw value as JSON, cut to two lines unless the layout is full."""
    lead = f"{label} " if label else ""
    text = safe(_spaced(value.text).decode("utf-8", "replace"))
    if not layout.full:
        text = truncate(text, 2 * layout.width - len(lead) - 4 * len(INDENT))
    narrow = attrs.evolve(layout, fold=layout.width)
    return paragraph([(lead + text, "faint")], narrow, rest=INDENT * 2)


def output_lines(value: Json, layout: Layout) -> list[Span]:
    """Show what a tool put out; if that is but one text, as the text."""
    text = value.value
    if isinstance(text, dict) and len(text) == 1:
        (text,) = text.values()
    if isinstance(text, str) and "\n" in text.strip():
        return quotation(terminal_text(text), layout)
    return raw_line("output", value, layout)


def _spaced(text: bytes) -> bytes:
    """Put blanks into JSON, where lines can be broken, unless it nests too deeply to be legible."""
    if nests_deeper(text, _LEGIBLE_DEPTH):
        return text
    try:
        return msgspec.json.format(text, indent=0)
    except msgspec.DecodeError:
        return text


# --- Content blocks ---


def _link(link: wire.ResourceLink, layout: Layout) -> list[Span]:
    size = "" if link.size is None else size_words(link.size)
    name = link.title or link.name
    return _labelled("link", [name, link.uri, link.mime_type, size, link.description], layout)


def _media(media: wire.ImageContent | wire.AudioContent, layout: Layout) -> list[Span]:
    uri = media.uri if isinstance(media, wire.ImageContent) else None
    size = size_words(len(media.data) * 3 // 4)
    label = "image" if isinstance(media, wire.ImageContent) else "audio"
    return _labelled(label, [media.mime_type, size, uri], layout)


def _resource(embedded: wire.EmbeddedResource, layout: Layout) -> list[Span]:
    contents = embedded.resource
    if isinstance(contents, wire.TextResourceContents):
        words = _labelled("resource", [contents.uri, contents.mime_type], layout)
        return words + quotation(contents.text, layout)
    if isinstance(contents, wire.BlobResourceContents):
        size = size_words(len(contents.blob) * 3 // 4)
        return _labelled("resource", [contents.uri, contents.mime_type, size], layout)
    return []


def _labelled(label: str, words: Sequence[str | None], layout: Layout) -> list[Span]:
    told = layout.joined(one_line(word) for word in words if word)
    return paragraph([(f"[{label}] ", "faint"), (told, "")], layout, rest=INDENT * 2)


_BLOCKS: Final[dict[type, Callable[[Any, Layout], list[Span]]]] = {
    wire.ResourceLink: _link,
    wire.ImageContent: _media,
    wire.AudioContent: _media,
    wire.EmbeddedResource: _resource,
}


def block_lines(block: wire.ContentBlock, layout: Layout) -> list[Span]:
    """Show a content block that is not text."""
    show = _BLOCKS.get(type(block))
    if show is not None:
        return show(block, layout)
    if isinstance(block, wire.Unknown):
        return raw_line("[unknown content]", block, layout)
    return raw_line(f"[{wire.tag_of(block)}]", Json(wire.to_builtins(block)), layout)


# --- What tool calls produce ---


def item_lines(item: wire.ToolCallContent, snapshot: Snapshot, layout: Layout) -> list[Span]:
    """Show one content item of a tool call."""
    match item:
        case wire.Content(content=wire.TextContent(text=text)):
            return quotation(terminal_text(text), layout) if text.strip() else []
        case wire.Content(content=block):
            return block_lines(block, layout)
        case wire.Diff():
            return diff_lines(item, layout)
        case wire.Terminal(terminal_id=terminal_id):
            return _embedded_terminal(terminal_id, snapshot, layout)
        case _:
            return _unknown_item(item, layout)


def diff_lines(diff: wire.Diff, layout: Layout) -> list[Span]:
    """Show what a diff changes, and its patch."""
    spans: list[Span] = []
    for change in diff.changes:
        spans += _change(change, layout)
    if diff.patch is not None:
        spans += _patch(diff.patch.text, layout)
    return spans


def _change(change: wire.DiffChange, layout: Layout) -> list[Span]:
    if isinstance(change, wire.Unknown):
        return raw_line("[unknown change]", change, layout)
    word, style = _OPERATIONS[type(change)]
    path = safe(change.path)
    if isinstance(change, wire.DiffMove | wire.DiffCopy):
        path = f"{safe(change.old_path)} {layout.glyphs.arrow} {path}"
    return paragraph([(f"{word} ", style or "faint"), (path, "")], layout, rest=INDENT * 2)


def _unknown_item(item: wire.Unknown, layout: Layout) -> list[Span]:
    diff = file_diff(item)
    return raw_line("[unknown content]", item, layout) if diff is None else _old_diff(diff, layout)


def _old_diff(diff: FileDiff, layout: Layout) -> list[Span]:
    """Show a diff of v1."""
    spans: list[Span] = []
    if diff.line_endings is not None:
        words = f"line endings: {f' {layout.glyphs.arrow} '.join(diff.line_endings)}"
        spans += paragraph([(words, "warning")], layout)
    return spans + _patch(diff.text, layout)


def _patch(text: str, layout: Layout) -> list[Span]:
    return quotation(text, layout, styles=_PATCH_STYLES, head=_PATCH_HEAD)


def _embedded_terminal(terminal_id: str, snapshot: Snapshot, layout: Layout) -> list[Span]:
    terminal = snapshot.terminals.get(terminal_id)
    if terminal is None:
        words = f"[terminal] {one_line(terminal_id)}: nothing known of it"
        return paragraph([(words, "faint")], layout)
    return terminal_lines(terminal, layout)


def terminal_lines(terminal: Terminal, layout: Layout) -> list[Span]:
    """Show the command of a terminal, how it ended, and what it would show."""
    command = one_line(terminal.command or f"(terminal {terminal.terminal_id})")
    dropped = f"{size_words(terminal.dropped_bytes)} dropped" if terminal.dropped_bytes else ""
    notes = [(safe(terminal.cwd or ""), "faint"), (dropped, "faint"), _ending(terminal.exit_status)]
    spans = titled([("$ ", "faint"), (command, "strong")], notes, layout)
    text = terminal.text
    return spans + quotation(text, layout, head=8) if text.strip() else spans


def _ending(status: wire.TerminalExitStatus | None) -> tuple[str, str]:
    """Say how a command ended, in which style."""
    if status is None:
        return "running", "warning"
    if status.signal is not None:
        return f"ended by {one_line(status.signal)}", "bad"
    if status.exit_code is None:
        return "exited", "faint"
    return f"exit {status.exit_code}", "bad" if status.exit_code else "faint"


def shows_nothing(items: Sequence[wire.ToolCallContent], snapshot: Snapshot) -> bool:
    """Return whether content consists of terminals alone of which nothing is known."""
    terminals = [item.terminal_id for item in items if isinstance(item, wire.Terminal)]
    known = any(snapshot.terminals.get(terminal_id) for terminal_id in terminals)
    return len(terminals) == len(items) and not known


def embedded_terminals(items: Sequence[wire.ToolCallContent]) -> set[str]:
    """Name the terminals that some content embeds."""
    return {item.terminal_id for item in items if isinstance(item, wire.Terminal)}
