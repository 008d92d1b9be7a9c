"""The snapshot document and the classes of a snapshot: what leads from one to the other.

Per class a table of names, per container a pair of functions, for everything of the wire the wire's
own form. Fields equal to their default are left out, but for those that a document always has. What
a document has no words for is listed too: `BOOKKEEPING` is stored beside it. How a value is stored
is chosen by its declared type, once: whatever fails while that is done is done again.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from functools import cache
from itertools import count
from types import NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import attrs
from msgspec import Struct
from msgspec.structs import replace

from . import wire
from ._containers import Keyed
from ._content import ContentBlocks, OutputBytes, ToolCallContents
from ._decode import lenient_path
from ._json import Json, encode
from ._prompts import request_key
from ._snapshot import (
    BOOKKEEPING,
    Compaction,
    Entries,
    Entry,
    Message,
    Permission,
    Plans,
    Prompt,
    SessionInfo,
    Snapshot,
    Surroundings,
    Terminal,
    Terminals,
    ToolCall,
    UnknownEntry,
    Usage,
    entry_key,
    plan_key,
)
from ._v1_diffs import is_old_diff

K = TypeVar("K", bound=Keyed[Any])

Hook: TypeAlias = Callable[[Any], Any]
"""What turns a value into its part of a document, or back."""


# --- The tables ---

_ALWAYS: Final[dict[Any, tuple[str, ...]]] = {
    Message: ("content",),
    ToolCall: ("content", "kind"),
    Compaction: ("status", "summary"),
    Terminal: ("pieces",),
    Prompt: ("status", "echoed", "content"),
    Permission: ("options",),
    Usage: ("used", "size"),
    Surroundings: (
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
    Surroundings: ("before_replay", *BOOKKEEPING),
    ToolCall: ("cancel_marked",),
}
"""Fields that the document has no key for."""

_ENTRY_CLASSES: Final[dict[str, type]] = {
    "user_message": Message,
    "agent_message": Message,
    "agent_thought": Message,
    "tool_call": ToolCall,
    "compaction": Compaction,
    "unknown": UnknownEntry,
}


def _key(name: str) -> str:
    head, *rest = name.split("_")
    return _NAMES.get(name, head + "".join(map(str.capitalize, rest)))


# --- Out and back ---


class Documents(NamedTuple):
    """A snapshot to its document, and back."""

    out: Hook
    back: Hook


@cache
def documents() -> Documents:
    """Return the two functions; all that they call has been chosen by then, once for each type."""
    return Documents(_out(Snapshot), _back(Snapshot))


def _out(kind: Any) -> Hook:
    """Return what turns values of a type into their part of a document."""
    return _rule(kind).out(kind)


def _back(kind: Any) -> Hook:
    """Return what turns a part of a document into a value of a type."""
    return _rule(kind).back(kind)


def _rule(kind: Any) -> _Rule:
    return next(rule for rule in _RULES if rule.applies(kind))


class _Rule(NamedTuple):
    """How values of some types are stored: what makes the hooks of one of them."""

    applies: Callable[[Any], bool]
    out: Callable[[Any], Hook]
    back: Callable[[Any], Hook]


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
    Surroundings: Surroundings(),
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
    hints = get_type_hints(kind)
    blank = _BLANK[kind]
    return [
        _Field(name, _key(name), hints[name], name in _ALWAYS.get(kind, ()), getattr(blank, name))
        for name in _field_names(kind)
        if name not in _UNSEEN.get(kind, ())
    ]


def _field_names(kind: Any) -> tuple[str, ...]:
    if issubclass(kind, Struct):
        return tuple(kind.__struct_fields__)
    return tuple(item.name for item in attrs.fields(kind))


def _mapping_out(kind: Any) -> Hook:
    fields = [(item, _out(item.kind)) for item in _fields(kind)]

    def out(value: Any) -> dict[str, Any]:
        given = ((item, hook, getattr(value, item.name)) for item, hook in fields)
        return {
            item.key: hook(found)
            for item, hook, found in given
            if item.always or found != item.default
        }

    return _adjusted(_ADJUST_OUT.get(kind), out)


def _mapping_back(kind: Any) -> Hook:
    fields = [(item, _back(item.kind)) for item in _fields(kind)]
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
    return {**hook(message), **_chunk_metas(message.content)}


def _message_back(hook: Any, document: dict[str, Any]) -> Message:
    message: Message = _with_chunk_metas(hook(document), document)
    return message


def _tool_call_out(hook: Any, call: ToolCall) -> dict[str, Any]:
    document: dict[str, Any] = {**hook(call), **_chunk_metas(call.content)}
    document["status"] = call.status
    document.pop("reportedStatus", None)
    if call.cancel_marked:
        document["reportedStatus"] = call.reported_status
    return document


def _tool_call_back(hook: Any, document: dict[str, Any]) -> ToolCall:
    reported = document.get("reportedStatus", document["status"])
    restored = hook({**document, "reportedStatus": reported})
    call: ToolCall = _with_chunk_metas(restored, document)
    return replace(call, cancel_marked="reportedStatus" in document)


def _prompt_out(hook: Any, prompt: Prompt) -> dict[str, Any]:
    document: dict[str, Any] = hook(prompt)
    if prompt.echoed:
        del document["content"]
    return document


def _prompt_back(hook: Any, document: dict[str, Any]) -> Prompt:
    prompt: Prompt = hook(document)
    return attrs.evolve(prompt, content=()) if prompt.echoed else prompt


def _surroundings_out(hook: Any, around: Surroundings) -> dict[str, Any]:
    document: dict[str, Any] = hook(around)
    document["state"] = _wire_out(around.state or wire.StateUpdate("idle"))
    if around.before_replay is not None:
        document["replaying"] = True
    return document


def _surroundings_back(hook: Any, document: dict[str, Any]) -> Surroundings:
    around: Surroundings = hook(document)
    if len({request_key(one.request_id) for one in around.permissions}) < len(around.permissions):
        raise ValueError("two permission requests have one id")
    return around


_ADJUST_OUT: Final[dict[Any, Any]] = {
    Message: _message_out,
    ToolCall: _tool_call_out,
    Prompt: _prompt_out,
    Surroundings: _surroundings_out,
}
_ADJUST_BACK: Final[dict[Any, Any]] = {
    Message: _message_back,
    ToolCall: _tool_call_back,
    Prompt: _prompt_back,
    Surroundings: _surroundings_back,
}


# --- Values of JSON's own types ---


def _as_it_is(value: Any) -> Any:
    return value


def _plain_out(kind: Any) -> Hook:
    return _as_it_is


def _plain_back(kind: Any) -> Hook:
    def back(value: Any) -> Any:
        if type(value) is kind:
            return value
        raise ValueError(f"{value!r} is no {kind.__name__}")

    return back


def _literal_back(kind: Any) -> Hook:
    known = get_args(kind)

    def back(value: Any) -> Any:
        if value in known:
            return value
        raise ValueError(f"{value!r} is none of {known}")

    return back


def _request_id_back(kind: Any) -> Hook:
    return _request_id


def _request_id(value: Any) -> wire.RequestId:
    if type(value) in (str, int):
        return value  # type: ignore[no-any-return]  # it is one
    raise ValueError(f"{value!r} is no id of a request")


def _optional_out(kind: Any) -> Hook:
    inner = _out(_without_none(kind))
    return lambda value: None if value is None else inner(value)


def _optional_back(kind: Any) -> Hook:
    inner = _back(_without_none(kind))
    return lambda value: None if value is None else inner(value)


def _items_out(kind: Any) -> Hook:
    inner = _out(get_args(kind)[0])
    return lambda values: list(map(inner, values))


def _items_back(kind: Any) -> Hook:
    inner = _back(get_args(kind)[0])
    return lambda values: tuple(map(inner, _listed(values)))


def _listed(values: Any) -> list[Any]:
    if isinstance(values, list):
        return values
    raise ValueError(f"{values!r} is no list")


# --- The snapshot, and what grows in it ---


def _snapshot_out(kind: Any) -> Hook:
    entries, terminals, around = (_out(part) for part in (Entries, Terminals, Surroundings))
    return lambda snapshot: {
        "sessionId": snapshot.session_id,
        "entries": entries(snapshot.entries),
        "terminals": terminals(snapshot.terminals),
        **around(snapshot.surroundings),
    }


def _snapshot_back(kind: Any) -> Hook:
    text, entries, terminals, around = (
        _back(part) for part in (str, Entries, Terminals, Surroundings)
    )
    return lambda document: Snapshot(
        text(document["sessionId"]),
        entries(document["entries"]),
        terminals(document["terminals"]),
        around(document),
    )


def _entries_out(kind: Any) -> Hook:
    hooks = {part: _out(part) for part in _ENTRY_CLASSES.values()}
    return lambda entries: [{"type": entry.type, **hooks[type(entry)](entry)} for entry in entries]


def _entries_back(kind: Any) -> Hook:
    hooks = {name: _back(part) for name, part in _ENTRY_CLASSES.items()}

    def back(documents: list[Any]) -> Entries:
        entries: list[Entry] = [hooks[one["type"]](one) for one in _listed(documents)]
        return _keyed(Entries, entries, map(entry_key, entries, count()))

    return back


def _terminals_back(kind: Any) -> Hook:
    hook = _back(Terminal)

    def back(documents: list[Any]) -> Terminals:
        terminals: list[Terminal] = list(map(hook, _listed(documents)))
        return _keyed(Terminals, terminals, (one.terminal_id for one in terminals))

    return back


def _terminals_out(kind: Any) -> Hook:
    hook = _out(Terminal)
    return lambda terminals: list(map(hook, terminals))


def _plans_back(kind: Any) -> Hook:
    hook = _back(wire.PlanUpdateContent)

    def back(documents: list[Any]) -> Plans:
        plans = list(map(hook, _listed(documents)))
        return _keyed(Plans, plans, map(plan_key, plans))

    return back


def _keyed(kind: type[K], values: list[Any], keys: Iterable[Any]) -> K:
    """Make a sequence of values that are found by their keys, of which none is there twice."""
    made = kind.of(zip(keys, values, strict=True))
    if len(made.keys()) < len(made):
        raise ValueError(f"an id is there twice in {kind.__name__.lower()}")
    return made


def _wire_values_out(kind: Any) -> Hook:
    return lambda values: list(map(_wire_out, values))


def _blocks_back(kind: Any) -> Hook:
    hook = _back(wire.ContentBlock)
    return lambda documents: ContentBlocks.of(map(hook, _listed(documents)))


def _contents_back(kind: Any) -> Hook:
    item = _content_item(_back(wire.ToolCallContent))
    return lambda documents: ToolCallContents.of(map(item, _listed(documents)))


def _content_item(hook: Hook) -> Hook:
    """Make the hook of a content item; a diff of ACP v1 is raw, though v2 has another one."""
    return lambda document: wire.Unknown(document) if is_old_diff(document) else hook(document)


def _chunk_metas(content: ContentBlocks | ToolCallContents) -> dict[str, Any]:
    metas = {str(index): meta for index, meta in content.metas}
    return {"chunkMeta": metas} if metas else {}


def _with_chunk_metas(entry: Any, document: dict[str, Any]) -> Any:
    if "chunkMeta" not in document:
        return entry
    metas = [(int(key), wire.JsonObject(meta)) for key, meta in document["chunkMeta"].items()]
    content = entry.content
    return replace(entry, content=content.made(content.stored(), metas))


def _output_out(kind: Any) -> Hook:
    return lambda output: base64.b64encode(output.data).decode()


def _output_back(kind: Any) -> Hook:
    def back(text: str) -> OutputBytes:
        data = base64.b64decode(text, validate=True)
        return OutputBytes.made([data] if data else [])

    return back


# --- Wire objects ---


def _is_wire(kind: Any) -> bool:
    """Tell whether a type is a wire class, a raw value, or a union of them (or `None`)."""
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    classes = [member for member in members if member is not NoneType]
    return bool(classes) and all(
        isinstance(member, type) and issubclass(member, Struct | Json) for member in classes
    )


def _wire_values(kind: Any) -> Hook:
    return _wire_out


def _wire_values_back(kind: Any) -> Hook:
    tag = _UPDATE_TAGS.get(kind)
    exact: Any = wire.SessionUpdate if tag else _without_none(kind)

    def back(value: Any) -> Any:
        if value is None:
            return None
        restored, findings = _structured({**value, "sessionUpdate": tag} if tag else value, exact)
        if findings and encode(_wire_out(restored)) != encode(value):  # not as it was stored
            raise ValueError(findings[0].reason)
        return restored

    return _subject_back(back) if wire.ToolCallPermissionSubject in get_args(kind) else back


def _structured(value: Any, kind: Any) -> tuple[Any, list[Any]]:
    structure, malformed = lenient_path()
    try:
        return structure(value, kind)
    except malformed as error:
        raise ValueError(str(error)) from None


def _wire_out(value: Any) -> Any:
    document = wire.to_builtins(value)
    if isinstance(document, dict):
        document.pop("sessionUpdate", None)
    if isinstance(value, wire.ToolCallPermissionSubject):
        del document["toolCall"]["sessionUpdate"]
    return document


_UPDATE_TAGS: Final[dict[Any, str]] = {
    wire.Notice: "notice",
    wire.StateUpdate | wire.UnknownStateUpdate | None: "state_update",
}
"""Parts of a document that are session updates without their tag."""


def _subject_back(hook: Hook) -> Hook:
    """Make the hook of subjects, whose tool call may have diffs of ACP v1, see `_contents_back`."""
    item = _content_item(_back(wire.ToolCallContent))

    def back(value: Any) -> Any:
        if value is None or not _has_old_diff(value):
            return hook(value)
        call = value["toolCall"]
        subject = hook({**value, "toolCall": {**call, "content": []}})
        content = tuple(map(item, call["content"]))
        return replace(subject, tool_call=replace(subject.tool_call, content=content))

    return back


def _has_old_diff(subject: dict[str, Any]) -> bool:
    call = subject.get("toolCall") if subject["type"] == "tool_call" else None
    return call is not None and any(map(is_old_diff, call.get("content") or ()))


def _without_none(kind: Any) -> Any:
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    kept = tuple(member for member in members if member is not NoneType)
    return Union[kept]  # noqa: UP007  # built from a list


# --- The rules: the first that applies counts ---


def _is_optional(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind)


def _is_one_of(*kinds: Any) -> Callable[[Any], bool]:
    return lambda kind: kind in kinds


def _has_origin(origin: Any) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) is origin


_RULES: Final = (
    _Rule(_is_one_of(Snapshot), _snapshot_out, _snapshot_back),
    _Rule(_is_one_of(Entries), _entries_out, _entries_back),
    _Rule(_is_one_of(Terminals), _terminals_out, _terminals_back),
    _Rule(_is_one_of(Plans), _wire_values_out, _plans_back),
    _Rule(_is_one_of(ContentBlocks), _wire_values_out, _blocks_back),
    _Rule(_is_one_of(ToolCallContents), _wire_values_out, _contents_back),
    _Rule(_is_one_of(OutputBytes), _output_out, _output_back),
    _Rule(_is_one_of(*_BLANK), _mapping_out, _mapping_back),
    _Rule(_is_wire, _wire_values, _wire_values_back),
    _Rule(_is_optional, _optional_out, _optional_back),
    _Rule(_has_origin(tuple), _items_out, _items_back),
    _Rule(_has_origin(Literal), _plain_out, _literal_back),
    _Rule(_is_one_of(wire.RequestId), _plain_out, _request_id_back),
    _Rule(_is_one_of(str, int, bool), _plain_out, _plain_back),
)
