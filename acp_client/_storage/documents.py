"""The snapshot document and the classes of a snapshot: what leads from one to the other.

Per class a table of names, per container a pair of functions, for everything of the wire the wire's
own form. Fields equal to their default are left out, except those that a document always has. What
a document cannot express is listed too: `BOOKKEEPING` is stored beside it.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple, get_type_hints

import attrs
from msgspec import Struct
from msgspec.structs import replace

from .. import wire
from .._client_state import (
    ConnectionLoss,
    Elicitation,
    Permission,
    Prompt,
    Turn,
    with_wanted,
)
from .._snapshot import (
    BOOKKEEPING,
    CANCELLED,
    Compaction,
    Entries,
    Entry,
    Message,
    Plans,
    SessionFields,
    SessionInfo,
    Snapshot,
    Terminal,
    Terminals,
    ToolCall,
    UnknownEntry,
    Usage,
)
from .hooks import (
    VALUES,
    Hook,
    Rule,
    Rules,
    chunk_metas,
    is_one_of,
    listed,
    wire_out,
    wire_values_out,
    with_chunk_metas,
)


class Documents(NamedTuple):
    """A snapshot to its document, and back."""

    out: Hook
    back: Hook


@cache
def documents() -> Documents:
    """Return the two functions; all that they call has been chosen by then, once for each type."""
    return Documents(RULES.out(Snapshot), RULES.back(Snapshot))


# --- The tables ---

_ALWAYS: Final[dict[Any, tuple[str, ...]]] = {
    Message: ("content",),
    ToolCall: ("content", "kind"),
    Compaction: ("status", "summary"),
    Terminal: ("pieces",),
    Prompt: ("status", "echoed", "content"),
    Permission: ("options",),
    Usage: ("used", "size"),
    SessionFields: (
        "plans",
        "state",
        "info",
        "available_commands",
        "config_options",
        "notices",
        "prompts",
        "permissions",
    ),
}
"""Fields that a document has even when they equal their default."""

_NAMES: Final = {
    "meta": "_meta",
    "pieces": "output",
    "reported_status": "reportedStatus",
}
"""Document keys that are not the field's name in camel case."""

_UNSEEN: Final[dict[Any, tuple[str, ...]]] = {
    SessionFields: ("before_replay", "wanted", *BOOKKEEPING),
    Turn: ("cost_before",),
    ToolCall: ("cancel_marked",),
}
"""Fields that the document has no key for."""

ENTRY_CLASSES: Final[dict[str, type]] = {
    "user_message": Message,
    "agent_message": Message,
    "agent_thought": Message,
    "tool_call": ToolCall,
    "compaction": Compaction,
    "unknown": UnknownEntry,
}


def document_key(name: str) -> str:
    head, *rest = name.split("_")
    return _NAMES.get(name, head + "".join(map(str.capitalize, rest)))


# --- The classes ---

_REQUIRED: Final = object()
"""Stands for the default of a field that has none."""


def _blank(kind: Any, *names: str) -> Any:
    return kind(**dict.fromkeys(names, _REQUIRED))


_BLANK: Final[dict[Any, Any]] = {
    Message: _blank(Message, "type", "message_id"),
    ToolCall: _blank(ToolCall, "tool_call_id"),
    Compaction: _blank(Compaction, "compaction_id"),
    UnknownEntry: _blank(UnknownEntry, "update"),
    Terminal: _blank(Terminal, "terminal_id"),
    Usage: _blank(Usage, "used", "size"),
    SessionInfo: SessionInfo(),
    Prompt: _blank(Prompt, "request_id"),
    Permission: _blank(Permission, "request_id", "title", "options"),
    Elicitation: _blank(Elicitation, "request_id", "mode", "message"),
    Turn: _blank(Turn, "start"),
    ConnectionLoss: ConnectionLoss(),
    SessionFields: SessionFields(),
}
"""The classes of a document, each as it is before anything was said of it."""


class _Field(NamedTuple):
    """A field of a class, attrs or Struct, and its place in the document."""

    name: str
    key: str
    kind: Any
    always: bool
    default: Any


def _fields(kind: Any) -> list[_Field]:
    """Return the fields that a document has a key for."""
    hints = get_type_hints(kind, include_extras=True)
    blank = _BLANK[kind]
    return [
        _Field(
            name,
            document_key(name),
            hints[name],
            name in _ALWAYS.get(kind, ()),
            getattr(blank, name),
        )
        for name in _field_names(kind)
        if name not in _UNSEEN.get(kind, ())
    ]


def _field_names(kind: Any) -> tuple[str, ...]:
    if issubclass(kind, Struct):
        return tuple(kind.__struct_fields__)
    return tuple(item.name for item in attrs.fields(kind))


def _mapping_out(kind: Any, rules: Rules) -> Hook:
    fields = [(item, rules.out(item.kind)) for item in _fields(kind)]

    def out(value: Any) -> dict[str, Any]:
        given = ((item, hook, getattr(value, item.name)) for item, hook in fields)
        return {
            item.key: hook(found)
            for item, hook, found in given
            if item.always or found != item.default
        }

    return _adjusted(_ADJUST_OUT.get(kind), out)


def _mapping_back(kind: Any, rules: Rules) -> Hook:
    fields = [(item, rules.back(item.kind)) for item in _fields(kind)]
    required = {item.key for item, _ in fields if item.default is _REQUIRED}

    def back(document: dict[str, Any]) -> Any:
        if not required <= document.keys():
            raise KeyError(*(required - document.keys()))
        given = ((item, hook) for item, hook in fields if item.key in document)
        return kind(**{item.name: hook(document[item.key]) for item, hook in given})

    return _adjusted(_ADJUST_BACK.get(kind), back)


def _adjusted(adjust: Any, hook: Hook) -> Hook:
    return hook if adjust is None else lambda value: adjust(hook, value)


def _message_out(hook: Any, message: Message) -> dict[str, Any]:
    return {**hook(message), **chunk_metas(message.content)}


def _message_back(hook: Any, document: dict[str, Any]) -> Message:
    message: Message = with_chunk_metas(hook(document), document)
    return message


def _tool_call_out(hook: Any, call: ToolCall) -> dict[str, Any]:
    document: dict[str, Any] = {**hook(call), **chunk_metas(call.content)}
    document["status"] = call.status
    document.pop("reportedStatus", None)
    if call.cancel_marked:
        document["reportedStatus"] = call.reported_status
    return document


def _tool_call_back(hook: Any, document: dict[str, Any]) -> ToolCall:
    reported = document.get("reportedStatus", document["status"])
    restored = hook({**document, "reportedStatus": reported})
    is_marked = "reportedStatus" in document
    if is_marked and (document["status"] != CANCELLED or restored.is_finished):
        raise ValueError("a cancel covers a status that is not final, and nothing else does")
    call: ToolCall = with_chunk_metas(restored, document)
    return replace(call, cancel_marked=is_marked)


def _prompt_out(hook: Any, prompt: Prompt) -> dict[str, Any]:
    document: dict[str, Any] = hook(prompt)
    if prompt.echoed and not prompt.content:
        del document["content"]
    return document


def _elicitation_out(hook: Any, elicitation: Elicitation) -> dict[str, Any]:
    document: dict[str, Any] = hook(elicitation)
    document.pop("relatedRequest", None)
    if elicitation.request_id is None:
        document.pop("requestId", None)
    raw = document.pop("raw", None)
    return document if raw is None else {**raw.value, "requestId": elicitation.request_id}


def _elicitation_back(hook: Any, document: dict[str, Any]) -> Elicitation:
    restored: Elicitation
    if document["mode"] in ("form", "url"):
        restored = hook({"requestId": None, **document})
        return restored
    raw = {key: value for key, value in document.items() if key != "requestId"}
    known = {key: document[key] for key in ("requestId", "mode", "message")}
    restored = attrs.evolve(hook(known), raw=wire.JsonObject(raw))
    return restored


def _turn_out(hook: Any, turn: Turn) -> dict[str, Any]:
    outcome = {} if turn.outcome is None else wire_out(turn.outcome)
    outcome = outcome.value if isinstance(outcome, wire.Json) else outcome
    places = [turn.start] if turn.stop is None else [turn.start, turn.stop]
    return {"entries": places, **{key: outcome[key] for key in outcome if key != "state"}}


def _turn_back(hook: Any, document: dict[str, Any]) -> Turn:
    outcome = {key: document[key] for key in ("stopReason", "usage", "error") if key in document}
    values: dict[str, Any] = dict(zip(("start", "stop"), document["entries"], strict=False))
    if outcome:
        values["outcome"] = {"state": "idle", **outcome}
    restored: Turn = hook(values)
    return restored


def _session_fields_out(hook: Any, around: SessionFields) -> dict[str, Any]:
    document: dict[str, Any] = hook(around)
    document["state"] = wire_out(around.state or wire.StateUpdate("idle"))
    document["configOptions"] = [
        wire_out(option) for option in with_wanted(around.config_options, around.wanted)
    ]
    if around.before_replay is not None:
        document["replaying"] = True
    return document


def _session_fields_back(hook: Any, document: dict[str, Any]) -> SessionFields:
    around: SessionFields = hook(document)
    if len({one.request_id for one in around.permissions}) < len(around.permissions):
        raise ValueError("two permission requests have one id")
    return around


_ADJUST_OUT: Final[dict[Any, Any]] = {
    Message: _message_out,
    ToolCall: _tool_call_out,
    Prompt: _prompt_out,
    Elicitation: _elicitation_out,
    Turn: _turn_out,
    SessionFields: _session_fields_out,
}
_ADJUST_BACK: Final[dict[Any, Any]] = {
    Message: _message_back,
    ToolCall: _tool_call_back,
    Elicitation: _elicitation_back,
    Turn: _turn_back,
    SessionFields: _session_fields_back,
}


# --- The snapshot ---


def _snapshot_out(kind: Any, rules: Rules) -> Hook:
    entries, terminals, around = (rules.out(part) for part in (Entries, Terminals, SessionFields))
    return lambda snapshot: {
        "sessionId": snapshot.session_id,
        "entries": entries(snapshot.entries),
        "terminals": terminals(snapshot.terminals),
        **around(snapshot._fields),
    }


def _snapshot_back(kind: Any, rules: Rules) -> Hook:
    text, entries, terminals, around = (
        rules.back(part) for part in (str, Entries, Terminals, SessionFields)
    )
    return lambda document: Snapshot(
        text(document["sessionId"]),
        entries(document["entries"]),
        terminals(document["terminals"]),
        around(document),
    )


def _entry_out(kind: Any, rules: Rules) -> Hook:
    hooks = {part: rules.out(part) for part in ENTRY_CLASSES.values()}
    return lambda entry: {"type": entry.type, **hooks[type(entry)](entry)}


def _entry_back(kind: Any, rules: Rules) -> Hook:
    hooks = {name: rules.back(part) for name, part in ENTRY_CLASSES.items()}
    return lambda document: hooks[document["type"]](document)


def _entries_out(kind: Any, rules: Rules) -> Hook:
    hook = rules.out(Entry)
    return lambda entries: list(map(hook, entries))


def _entries_back(kind: Any, rules: Rules) -> Hook:
    hook = rules.back(Entry)
    return lambda documents: Entries.of(map(hook, listed(documents)))


def _terminals_back(kind: Any, rules: Rules) -> Hook:
    hook = rules.back(Terminal)

    def back(documents: list[Any]) -> Terminals:
        return Terminals.of(map(hook, listed(documents)))

    return back


def _terminals_out(kind: Any, rules: Rules) -> Hook:
    hook = rules.out(Terminal)
    return lambda terminals: list(map(hook, terminals))


def _plans_back(kind: Any, rules: Rules) -> Hook:
    hook = rules.back(wire.PlanUpdateContent)

    def back(documents: list[Any]) -> Plans:
        return Plans.of(map(hook, listed(documents)))

    return back


RULES: Final = Rules(
    (
        Rule(is_one_of(Snapshot), _snapshot_out, _snapshot_back),
        Rule(is_one_of(Entry), _entry_out, _entry_back),
        Rule(is_one_of(Entries), _entries_out, _entries_back),
        Rule(is_one_of(Terminals), _terminals_out, _terminals_back),
        Rule(is_one_of(Plans), wire_values_out, _plans_back),
        Rule(is_one_of(*_BLANK), _mapping_out, _mapping_back),
        *VALUES,
    )
)
