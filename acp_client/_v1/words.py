"""The lines of ACP v1 for `_chunk_runs`: runs of chunks, whether they have ids or not.

A chunk without an id belongs to the message that is open, so its run ends with the first line that
is not one of it. The first chunk of each run is placed by its session; the others of the run go
where that one went. Output in the `_meta` of a tool call comes in such runs, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Protocol

from .. import wire
from .._chunk_runs import Chunk, Reading, decode_text
from .._reducer import Drafts
from .._typed import Refused
from .terminals import only_output
from .updates import NO_META, AgentMessageChunk, AgentThoughtChunk, ToolCallUpdate, update_decoder


class Translates(Protocol):
    """The translation of one connection, as far as it is needed here."""

    def typed(self, session_id: str, update: Any) -> list[Any] | None:
        """Translate a well-formed update; `None` for one that is to be read as parsed JSON."""

    def run_of(self, session_id: str, kind: str, given: str | None = None) -> str | None:
        """Return the message that the next chunk goes on with, by its id or without one."""


def _text(event: Any) -> str | None:
    """Return the text of a chunk that has nothing else."""
    block = event.content
    if event.meta is not NO_META or type(block) is not wire.TextContent:
        return None
    text: str = block.text
    return text if block.annotations is None and block.meta is None else None


def _message_id(event: Any) -> tuple[str, ...]:
    return (event.message_id,) if event.message_id else ()


def _output(event: Any) -> str | None:
    """Return the output that is all that an update of a tool call brings."""
    found = None if event.meta is NO_META else only_output(event.meta)
    return found.data if found is not None and event.is_bare else None


def _output_ids(event: Any) -> tuple[str, ...]:
    found: Any = only_output(event.meta)
    return (event.tool_call_id, found.terminal_id)


_TEXT: Final = Reading(b'"text":', decode_text, _text, _message_id)
_OUTPUT: Final = Reading(b'"data":', decode_text, _output, _output_ids)

_KINDS: Final[dict[type, Any]] = {
    AgentMessageChunk: "agent_message",
    AgentThoughtChunk: "agent_thought",
}


class WordsV1:
    """The lines of one connection that speaks v1."""

    is_steady: ClassVar[bool] = False
    strings: ClassVar[Mapping[type, Reading]] = {
        AgentMessageChunk: _TEXT,
        AgentThoughtChunk: _TEXT,
        ToolCallUpdate: _OUTPUT,
    }

    def __init__(self, translation: Translates) -> None:
        self._translation = translation

    def read(self, line: bytes, after_unknown: bool) -> Any:
        """Return the parameters of a well-formed update; `None` for any other line."""
        try:
            return update_decoder()(line).params
        except Refused:
            return None

    def reduce(self, drafts: Drafts, session_id: str, update: Any) -> bool | None:
        """Reduce an update; return `False` for one that is to be read as an odd line."""
        events = self._translation.typed(session_id, update)
        if events is None:
            return False
        for event in events:
            drafts.reduce(session_id, event)
        return None

    def append(self, drafts: Drafts, chunk: Chunk) -> Callable[[Any], None] | None:
        """Return what appends the string of a chunk to its message or terminal.

        An empty chunk may have begun no message.
        """
        kind, ids, session_id = chunk
        draft = drafts.draft(session_id)
        if kind is ToolCallUpdate:
            append = draft.terminal(ids[-1]).fresh.append
            return lambda text: append(text.encode("utf-8", "surrogatepass"))
        message_id = self._translation.run_of(session_id, _KINDS[kind], *ids)
        return None if message_id is None else draft.message(_KINDS[kind], message_id).fresh.append
