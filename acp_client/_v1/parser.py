"""Lines of ACP v1 to JSON-RPC messages, and their parts to wire objects.

The shape of a message is checked as in v2, with two things forgiven that agents of v1 do: a missing
`jsonrpc`, and an `error: null` beside a result. Parameters stay parsed JSON, because what they mean
is for the translation to say. Whatever it makes of them is structured here, by the decoder of v2:
strictly if that is possible, or else leniently, with the same problems.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from .. import wire
from .._decode import NOTHING, PartReader, each_message, read_message, within
from .._diffs import is_old_diff
from .._errors import Problem
from . import shapes

CONTENT: Final = "$.params.update.content"
"""Where the content is in the message that most updates come in."""


class ReaderV1(PartReader):
    """Reads one line, and structures what is in it."""

    def messages(self, data: bytes, unterminated: bool) -> list[tuple[Any, ReaderV1]]:
        """Read the messages of the line, each with the reader of its parts."""
        value = self.json(data, unterminated=unterminated)
        message = None if value is NOTHING else each_message(value, self, _read_message)
        if not isinstance(message, wire.Batch):
            return [(message, self)]
        placed = zip(message.places, message, strict=True)
        return [(each, ReaderV1(self.number, within(self.report, at))) for at, each in placed]

    def rejected(self, path: str, reason: str) -> None:
        """Report something that cannot be used."""
        self.problem("rejected", path, reason)

    def replaced(self, path: str, reason: str) -> None:
        """Report something in the place of which something else is used."""
        self.problem("defaulted", path, reason)

    def event(self, update: dict[str, Any]) -> Any:
        """Structure a session update in the shape of v2; `None` if it is malformed."""
        kind = _UPDATES.get(_tag(update, "sessionUpdate"), wire.SessionUpdate)
        return self.structure(update, kind, "$.params.update")

    def attempt(self, update: dict[str, Any]) -> Any:
        """Structure a session update of v2; `None`, and no problem, if it cannot be read as one."""
        found: list[Problem] = []
        event = ReaderV1(self.number, found.append).event(update)
        for problem in found if event is not None else ():
            self.report(problem)
        return event

    def block(self, block: Any, path: str = CONTENT) -> wire.ContentBlock | None:
        """Structure a content block; `None` if it is malformed."""
        if isinstance(block, dict) and len(block) == 2 and block.get("type") == "text":
            text = block.get("text")
            if isinstance(text, str):
                return wire.TextContent(text)
        kind = _BLOCKS.get(_tag(block, "type"), wire.ContentBlock)
        found: wire.ContentBlock | None = self.structure(block, kind, path)
        return found

    def tool_call(
        self, fields: dict[str, Any], path: str = "$.params.update"
    ) -> wire.ToolCallUpdate | None:
        """Structure the fields of a tool call; diffs in the shape of v1 stay as they are."""
        shaped = shapes.tool_call(fields)
        content: Any = shapes.items(shaped.get("content"))
        has_old = isinstance(content, list) and any(map(is_old_diff, content))
        if content is not None:
            shaped["content"] = [] if has_old else content
        event = self.structure(shaped, wire.ToolCallUpdate, path)
        if event is None or not has_old or not isinstance(content, list):
            return event
        found = [self._item(item, f"{path}.content[{at}]") for at, item in enumerate(content or ())]
        kept = tuple(item for item in found if item is not None)
        return msgspec.structs.replace(event, content=kept)

    def options(self, given: list[Any], path: str) -> tuple[wire.SessionConfigOption, ...]:
        """Structure configuration options; bad ones are left out."""
        shaped = {"configOptions": shapes.each(given, shapes.config_option)}
        found = self.structure(shaped, wire.SetSessionConfigOptionResponse, path)
        return found.config_options if found else ()

    def _item(self, item: Any, path: str) -> wire.ToolCallContent | None:
        if is_old_diff(item):
            return wire.Unknown(item)
        kind = _ITEMS.get(_tag(item, "type"), wire.ToolCallContent)
        found: wire.ToolCallContent | None = self.structure(item, kind, path)
        return found


def _read_message(value: Any, path: str, reader: PartReader) -> Any:
    """Read a message as in v2, after two things are forgiven."""
    if isinstance(value, dict):
        if "result" in value and value.get("error", value) is None:
            del value["error"]
        value.setdefault("jsonrpc", "2.0")
    return read_message(value, path, reader, _raw_params)


def _raw_params(value: dict[str, Any], path: str, reader: PartReader) -> Any:
    return value.get("params")


def _tag(value: Any, key: str) -> Any:
    tag = value.get(key) if isinstance(value, dict) else None
    return tag if isinstance(tag, str) else None


def _by_tag(union: Any) -> dict[Any, Any]:
    return {wire.tag_of(kind): kind for kind in wire.variants(union)}


_UPDATES: Final = _by_tag(wire.SessionUpdate)
_BLOCKS: Final = _by_tag(wire.ContentBlock)
_ITEMS: Final = _by_tag(wire.ToolCallContent)
"""The classes of unions by tag: msgspec prepares a union again for each conversion."""
