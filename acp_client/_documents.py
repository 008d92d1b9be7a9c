"""The snapshot document and the classes of a snapshot: a cattrs converter between the two.

Per class a table of names, per container a pair of functions, for everything of the wire the wire's
own form. Fields equal to their default are left out, but for those that a document always has. What
a document has no words for is listed too: `BOOKKEEPING` is stored beside it.
"""

from __future__ import annotations

import base64
from functools import cache
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NamedTuple,
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
from ._json import Json, encode
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

if TYPE_CHECKING:
    import cattrs


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


# --- The converter ---


@cache
def document_converter() -> cattrs.Converter:
    """Return the converter: `unstructure(snapshot)`, `structure(document, Snapshot)`."""
    # cattrs costs more than the rest of the package to import, and only those who store or print
    # snapshots need it.
    import cattrs

    converter = cattrs.Converter(detailed_validation=False)
    _register_values(converter)
    for kind in _BLANK:
        out, back = _mapping(kind, converter)
        converter.register_unstructure_hook(kind, _adjusted(_ADJUST_OUT.get(kind), out))
        converter.register_structure_hook(kind, _adjusted(_ADJUST_BACK.get(kind), back))
    return converter


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


def _mapping(kind: Any, converter: cattrs.Converter) -> tuple[Any, Any]:
    fields = _fields(kind)
    required = {item.key for item in fields if item.default is _REQUIRED}

    def out(value: Any) -> dict[str, Any]:
        given = ((item, getattr(value, item.name)) for item in fields)
        return {
            item.key: converter.unstructure(found)
            for item, found in given
            if item.always or found != item.default
        }

    def back(document: dict[str, Any], _: Any) -> Any:
        if not required <= document.keys():
            raise KeyError(*(required - document.keys()))
        return kind(
            **{
                item.name: converter.structure(document[item.key], item.kind)
                for item in fields
                if item.key in document
            }
        )

    return out, back


def _adjusted(adjust: Any, hook: Any) -> Any:
    return hook if adjust is None else lambda *arguments: adjust(hook, *arguments)


def _message_out(hook: Any, message: Message) -> dict[str, Any]:
    return {**hook(message), **_chunk_metas(message.content)}


def _message_back(hook: Any, document: dict[str, Any], kind: type) -> Message:
    message: Message = _with_chunk_metas(hook(document, kind), document)
    return message


def _tool_call_out(hook: Any, call: ToolCall) -> dict[str, Any]:
    document: dict[str, Any] = {**hook(call), **_chunk_metas(call.content)}
    document["status"] = call.status
    document.pop("reportedStatus", None)
    if call.cancel_marked:
        document["reportedStatus"] = call.reported_status
    return document


def _tool_call_back(hook: Any, document: dict[str, Any], kind: type) -> ToolCall:
    reported = document.get("reportedStatus", document["status"])
    restored = hook({**document, "reportedStatus": reported}, kind)
    call: ToolCall = _with_chunk_metas(restored, document)
    return replace(call, cancel_marked="reportedStatus" in document)


def _prompt_out(hook: Any, prompt: Prompt) -> dict[str, Any]:
    document: dict[str, Any] = hook(prompt)
    if prompt.echoed:
        del document["content"]
    return document


def _prompt_back(hook: Any, document: dict[str, Any], kind: type) -> Prompt:
    prompt: Prompt = hook(document, kind)
    return attrs.evolve(prompt, content=()) if prompt.echoed else prompt


def _surroundings_out(hook: Any, around: Surroundings) -> dict[str, Any]:
    document: dict[str, Any] = hook(around)
    document["state"] = _wire_out(around.state or wire.StateUpdate("idle"))
    if around.before_replay is not None:
        document["replaying"] = True
    return document


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
}


def _register_values(converter: cattrs.Converter) -> None:
    """Register what is inside the attrs classes, before their own hooks are made of it."""
    converter.register_unstructure_hook(Snapshot, _with_converter(_snapshot_out, converter))
    converter.register_structure_hook(Snapshot, _with_converter(_snapshot_back, converter))
    for kind, (out, back) in _CONTAINERS.items():
        converter.register_unstructure_hook(kind, _with_converter(out, converter))
        converter.register_structure_hook(kind, _with_converter(back, converter))
    for kind in (str, int, bool):
        converter.register_structure_hook(kind, _exactly)
    converter.register_structure_hook_func(_is_literal, _literally)
    converter.register_structure_hook_func(_is_request_id, lambda value, _: value)
    converter.register_unstructure_hook_func(_is_wire, _wire_out)
    converter.register_structure_hook_func(_is_wire, _wire_back)


def _exactly(value: Any, kind: Any) -> Any:
    if type(value) is kind:
        return value
    raise ValueError(f"{value!r} is no {kind.__name__}")


def _is_literal(kind: Any) -> bool:
    return get_origin(kind) is Literal


def _literally(value: Any, kind: Any) -> Any:
    if value in get_args(kind):
        return value
    raise ValueError(f"{value!r} is none of {get_args(kind)}")


def _is_request_id(kind: Any) -> bool:
    return bool(kind == wire.RequestId)


def _with_converter(function: Any, converter: cattrs.Converter) -> Any:
    return lambda value, *_: function(converter, value)


def _snapshot_out(converter: cattrs.Converter, snapshot: Snapshot) -> dict[str, Any]:
    return {
        "sessionId": snapshot.session_id,
        "entries": converter.unstructure(snapshot.entries),
        "terminals": converter.unstructure(snapshot.terminals),
        **converter.unstructure(snapshot.surroundings),
    }


def _snapshot_back(converter: cattrs.Converter, document: dict[str, Any]) -> Snapshot:
    return Snapshot(
        _exactly(document["sessionId"], str),
        converter.structure(document["entries"], Entries),
        converter.structure(document["terminals"], Terminals),
        converter.structure(document, Surroundings),
    )


def _values_out(converter: cattrs.Converter, values: Keyed[Any]) -> list[Any]:
    return [converter.unstructure(value) for value in values]


def _entries_out(converter: cattrs.Converter, entries: Entries) -> list[Any]:
    return [{"type": entry.type, **converter.unstructure(entry)} for entry in entries]


def _entries_back(converter: cattrs.Converter, documents: list[Any]) -> Entries:
    entries: list[Entry] = [
        converter.structure(document, _ENTRY_CLASSES[document["type"]]) for document in documents
    ]
    return Entries.of((entry_key(entry, place), entry) for place, entry in enumerate(entries))


def _terminals_back(converter: cattrs.Converter, documents: list[Any]) -> Terminals:
    terminals = [converter.structure(document, Terminal) for document in documents]
    return Terminals.of((terminal.terminal_id, terminal) for terminal in terminals)


def _plans_back(converter: cattrs.Converter, documents: list[Any]) -> Plans:
    plans = [_wire_back(document, wire.PlanUpdateContent) for document in documents]
    return Plans.of((plan_key(plan), plan) for plan in plans)


def _wire_values_out(converter: cattrs.Converter, values: Any) -> list[Any]:
    return [_wire_out(value) for value in values]


def _blocks_back(converter: cattrs.Converter, documents: list[Any]) -> ContentBlocks:
    return ContentBlocks.of(_wire_back(document, wire.ContentBlock) for document in documents)


def _contents_back(converter: cattrs.Converter, documents: list[Any]) -> ToolCallContents:
    return ToolCallContents.of(_item_back(document) for document in documents)


def _item_back(document: Any) -> wire.ToolCallContent:
    """Restore a content item; a diff of ACP v1 is raw, though v2 has another of that name."""
    if is_old_diff(document):
        return wire.Unknown(document)
    item: wire.ToolCallContent = _wire_back(document, wire.ToolCallContent)
    return item


def _chunk_metas(content: ContentBlocks | ToolCallContents) -> dict[str, Any]:
    metas = {str(index): meta for index, meta in content.metas}
    return {"chunkMeta": metas} if metas else {}


def _with_chunk_metas(entry: Any, document: dict[str, Any]) -> Any:
    if "chunkMeta" not in document:
        return entry
    metas = [(int(key), wire.JsonObject(meta)) for key, meta in document["chunkMeta"].items()]
    content = entry.content
    return replace(entry, content=content.made(content.stored(), metas))


def _output_out(converter: cattrs.Converter, output: OutputBytes) -> str:
    return base64.b64encode(output.data).decode()


def _output_back(converter: cattrs.Converter, text: str) -> OutputBytes:
    data = base64.b64decode(text, validate=True)
    return OutputBytes.made([data] if data else [])


_CONTAINERS: Final[dict[type, tuple[Any, Any]]] = {
    Entries: (_entries_out, _entries_back),
    Terminals: (_values_out, _terminals_back),
    Plans: (_wire_values_out, _plans_back),
    ContentBlocks: (_wire_values_out, _blocks_back),
    ToolCallContents: (_wire_values_out, _contents_back),
    OutputBytes: (_output_out, _output_back),
}


# --- Wire objects ---


def _is_wire(kind: Any) -> bool:
    """Tell whether a type is a wire class, a raw value, or a union of them (or `None`)."""
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    classes = [member for member in members if member is not NoneType]
    return bool(classes) and all(
        isinstance(member, type) and issubclass(member, Struct | Json) for member in classes
    )


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


def _wire_back(value: Any, kind: Any) -> Any:
    from ._lenient import structure  # it loads cattrs, see `document_converter`
    from ._lenient_values import Malformed

    if value is None:
        return None
    if wire.ToolCallPermissionSubject in get_args(kind) and _has_old_diff(value):
        return _subject_back(value, kind)
    given = value
    if kind in _UPDATE_TAGS:
        value = {**value, "sessionUpdate": _UPDATE_TAGS[kind]}
        kind = wire.SessionUpdate
    try:
        restored, findings = structure(value, _without_none(kind))
    except Malformed as error:
        raise ValueError(str(error)) from None
    if findings and encode(_wire_out(restored)) != encode(given):  # not as it was stored
        raise ValueError(findings[0].reason)
    return restored


def _has_old_diff(subject: dict[str, Any]) -> bool:
    call = subject.get("toolCall") if subject["type"] == "tool_call" else None
    return call is not None and any(map(is_old_diff, call.get("content") or ()))


def _subject_back(value: dict[str, Any], kind: Any) -> Any:
    """Restore a subject whose tool call has diffs of ACP v1, see `_item_back`."""
    call = value["toolCall"]
    subject = _wire_back({**value, "toolCall": {**call, "content": []}}, kind)
    content = tuple(_item_back(item) for item in call["content"])
    return replace(subject, tool_call=replace(subject.tool_call, content=content))


def _without_none(kind: Any) -> Any:
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    kept = tuple(member for member in members if member is not NoneType)
    return Union[kept]  # noqa: UP007  # built from a list
