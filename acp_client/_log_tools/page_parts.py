"""The parts of a conversation as HTML: entries, content, diffs, terminals, plans.

Parts are made of the snapshot document, so they know its words and no classes. All text of a peer
goes through `Room.text`, which escapes it and keeps the page within its size.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

from .. import wire
from .._diffs import unified_diff
from .._terminal_text import terminal_text
from .._text import escape_html
from .leaves import at, text_at

Fields = dict[str, Any]

_IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_BASE64: Final = re.compile(r"[A-Za-z0-9+/\s]*={0,2}\s*")
_FENCED: Final = re.compile(r"\s*(`{3,})[^`\n]*\n(?P<inside>.*?)\n?\1\s*", re.DOTALL)
_LONGEST_IMAGE: Final = 1_000_000
_SPEAKERS: Final = {
    "user_message": "User",
    "agent_message": "Agent",
    "agent_thought": "Thought",
    "tool_call": "Tool call",
    "compaction": "Compaction",
    "unknown": "Unknown update",
}


class Room:
    """How much text a page still has room for; a text that is too long is cut, and says so."""

    def __init__(self, total: int = 6_000_000, each: int = 400_000) -> None:
        self._left = total
        self._each = each

    def cut(self, text: str) -> str:
        """Return a text, or its beginning and how much is missing."""
        most = max(2_000, min(self._each, self._left))
        self._left -= min(len(text), most)
        missing = len(text) - most
        return text if missing <= 0 else f"{text[:most]}\n… {missing:,} more characters"

    def text(self, text: str) -> str:
        """Return a text as HTML."""
        return escape_html(self.cut(text))


def inline(text: str) -> str:
    """Return a text of one line as HTML."""
    return escape_html(text[:2_000], keep_newlines=False)


def element(name: str, inside: str, **attributes: object) -> str:
    """Write an element; values of attributes are escaped, `class_` is the class."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape_html(str(value), keep_newlines=False)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{given}>{inside}</{name}>"


def entry_heading(entry: Fields) -> str:
    """Return who speaks, or what a tool call is, with its status."""
    kind = entry["type"]
    heading = element("span", _SPEAKERS[kind], class_="who")
    if kind == "tool_call":
        title = entry.get("title") or entry.get("name") or entry["toolCallId"]
        heading += f" {element('span', inline(title), class_='title')}"
        heading += f" {element('span', inline(entry['kind']), class_='kind')}"
    if "status" in entry:
        heading += f" {badge(entry['status'])}"
    return heading


def badge(status: str) -> str:
    """Return a status as a badge."""
    return element("span", inline(status.replace("_", " ")), class_="status", data_status=status)


def entry_body(entry: Fields, terminals: dict[str, Fields], room: Room) -> str:
    """Return the content of an entry; text of messages is one block, which can grow."""
    kind = entry["type"]
    if kind == "tool_call":
        return _tool_call(entry, terminals, room)
    if kind == "unknown":
        update = entry["update"]
        return _details(f"{text_at(update, 'sessionUpdate') or 'update'}", _json(update, room))
    blocks = entry.get("content") or entry.get("summary") or []
    others = [_block(block, room) for block in blocks if at(block, "type") != "text"]
    body = element("div", room.text(message_text(entry)), class_="text grows") + "".join(others)
    return body + (element("p", inline(entry["error"]), class_="error") if "error" in entry else "")


def message_text(entry: Fields) -> str:
    """Return the text blocks of a message or a summary, joined."""
    blocks = entry.get("content") or entry.get("summary") or []
    return "".join(text_at(block, "text") for block in blocks if at(block, "type") == "text")


def _tool_call(entry: Fields, terminals: dict[str, Fields], room: Room) -> str:
    parts = [_item(item, terminals, room) for item in entry["content"]]
    body = "".join(element("div", part, class_="item") for part in parts)
    locations = ", ".join(_location(one) for one in entry.get("locations", ()))
    if locations:
        body = element("p", inline(locations), class_="locations") + body
    for key, label in (("rawInput", "Input"), ("rawOutput", "Output")):
        if key in entry:
            body += _details(label, _json(entry[key], room))
    return body


def _location(location: Fields) -> str:
    line = location.get("line")
    return text_at(location, "path") + ("" if line is None else f":{line}")


def _item(item: Any, terminals: dict[str, Fields], room: Room) -> str:
    """Return an item of a tool call's content."""
    kind = at(item, "type")
    if kind == "content":
        return _block(at(item, "content"), room)
    if kind == "terminal":
        terminal = terminals.get(text_at(item, "terminalId"))
        missing = f"terminal {text_at(item, 'terminalId')}: nothing known of it"
        return terminal_part(terminal, room) if terminal else element("p", inline(missing))
    if kind == "diff":
        return _diff(item, room)
    return _details("Unknown content", _json(item, room))


def _diff(item: Fields, room: Room) -> str:
    changes = item.get("changes")
    heads = [
        f"{text_at(one, 'operation')} {text_at(one, 'oldPath')} {text_at(one, 'path')}"
        for one in (changes if isinstance(changes, list) else ())
    ]
    patch = at(item, "patch", "text")
    if changes is None:
        patch = unified_diff(wire.Unknown(item))
        heads = [text_at(item, "path")]
    caption = "".join(element("figcaption", inline(head)) for head in heads)
    lines = room.cut(patch).split("\n") if isinstance(patch, str) else []
    body = "\n".join(_diff_line(line) for line in lines)
    return element("figure", caption + element("pre", body), class_="diff")


_PATCH_LINES: Final = (
    ("+++", "head"),
    ("---", "head"),
    ("@@", "hunk"),
    ("+", "add"),
    ("-", "del"),
)


def _diff_line(line: str) -> str:
    """Return a line of a patch; what it does is said by a class, and by its first character."""
    for start, name in _PATCH_LINES:
        if line.startswith(start):
            return element("span", escape_html(line, keep_newlines=False), class_=name)
    return escape_html(line, keep_newlines=False)


def terminal_part(terminal: Fields, room: Room) -> str:
    """Return a terminal: its command, how it ended, and what it shows."""
    command = text_at(terminal, "command") or f"terminal {terminal['terminalId']}"
    status = at(terminal, "exitStatus")
    ending = "running"
    if status is not None:
        code, signal = at(status, "exitCode"), at(status, "signal")
        ending = f"exit {code}" if code is not None else f"signal {signal}" if signal else "exited"
    head = element("span", f"$ {inline(command)}", class_="command")
    tone = "failed" if ending not in ("exit 0", "running", "exited") else "completed"
    head += f" {element('span', inline(ending), class_='status', data_status=tone)}"
    shown = element("pre", room.text(terminal["text"]), class_="output")
    attributes = {"class_": "terminal", "data_terminal": terminal["terminalId"]}
    return element("figure", element("figcaption", head) + shown, **attributes)


def _block(block: Any, room: Room) -> str:
    kind = at(block, "type")
    maker = _BLOCKS.get(kind) if isinstance(kind, str) else None
    return maker(block, room) if maker else _details("Unknown content", _json(block, room))


def _text_block(block: Fields, room: Room) -> str:
    text = terminal_text(text_at(block, "text"))
    fenced = _FENCED.fullmatch(text)
    return element("pre", room.text(fenced["inside"] if fenced else text)) if text.strip() else ""


def _image(block: Fields, room: Room) -> str:
    data, kind = text_at(block, "data"), text_at(block, "mimeType")
    is_shown = kind in _IMAGES and len(data) <= _LONGEST_IMAGE and _BASE64.fullmatch(data)
    if not is_shown:
        return element("p", inline(f"[image {kind}, {len(data) * 3 // 4:,} bytes]"), class_="media")
    source = f"data:{kind};base64,{room.cut(data)}"
    return f'<img alt="image from the conversation" src="{escape_html(source)}">'


def _audio(block: Fields, room: Room) -> str:
    size = len(text_at(block, "data")) * 3 // 4
    return element(
        "p", inline(f"[audio {text_at(block, 'mimeType')}, {size:,} bytes]"), class_="media"
    )


def _link(block: Fields, room: Room) -> str:
    name = text_at(block, "title") or text_at(block, "name")
    return element("p", inline(f"[link {name}] {text_at(block, 'uri')}"), class_="media")


def _resource(block: Fields, room: Room) -> str:
    uri, text = text_at(block, "resource", "uri"), at(block, "resource", "text")
    if isinstance(text, str):
        return _details(uri, element("pre", room.text(text)))
    return element("p", inline(f"[resource {uri}]"), class_="media")


_BLOCKS: Final[dict[str, Callable[[Fields, Room], str]]] = {
    "text": _text_block,
    "image": _image,
    "audio": _audio,
    "resource_link": _link,
    "resource": _resource,
}


def plan_part(plan: Fields, room: Room) -> str:
    """Return a plan: its entries with their status, or its text."""
    entries = plan.get("entries")
    if isinstance(entries, list):
        return element("ol", "".join(_plan_entry(one) for one in entries), class_="plan")
    text = text_at(plan, "content") or text_at(plan, "uri") or json.dumps(plan)
    return element("div", room.text(text), class_="text")


def _plan_entry(entry: Any) -> str:
    status, content = text_at(entry, "status"), inline(text_at(entry, "content"))
    return element("li", f"{badge(status)} {content}", data_status=status)


def _details(label: str, inside: str) -> str:
    return f"<details>{element('summary', inline(label))}{inside}</details>"


def _json(value: Any, room: Room) -> str:
    if isinstance(value, str):
        return element("pre", room.text(terminal_text(value)))
    return element("pre", room.text(json.dumps(value, indent=2, ensure_ascii=False, default=str)))
