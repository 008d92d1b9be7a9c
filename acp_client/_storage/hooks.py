"""What the parts of a snapshot document are made of: values, wire objects, content that grows.

How a value is stored is chosen by its declared type: the first rule that applies makes a hook of
the type, once, with the hooks of its parts inside. Whatever fails while that is done is done again.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, Final, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin

from msgspec import Struct
from msgspec.structs import replace

from .. import wire
from .._content import ContentBlocks, ToolCallContents
from .._decode import lenient_path
from .._diffs import is_old_diff
from .._json import Json, encode
from .._terminal_output import OutputBytes

Hook: TypeAlias = Callable[[Any], Any]
"""What turns a value into its part of a document, or back."""


class Rule(NamedTuple):
    """How values of some types are stored: what makes the hooks of one of them."""

    applies: Callable[[Any], bool]
    out: Callable[[Any, Rules], Hook]
    back: Callable[[Any, Rules], Hook]


class Rules(tuple[Rule, ...]):
    """Rules of which the first that applies counts."""

    __slots__ = ()

    def out(self, kind: Any) -> Hook:
        """Return what turns values of a type into their part of a document."""
        return self._rule(kind).out(kind, self)

    def back(self, kind: Any) -> Hook:
        """Return what turns a part of a document into a value of a type."""
        return self._rule(kind).back(kind, self)

    def _rule(self, kind: Any) -> Rule:
        for rule in self:
            if rule.applies(kind):
                return rule
        raise LookupError(f"no rule says how {kind} is stored")


def is_one_of(*kinds: Any) -> Callable[[Any], bool]:
    """Make a rule apply to some types."""
    return lambda kind: kind in kinds


# --- Values of JSON's own types ---


def _as_it_is(value: Any) -> Any:
    return value


def _plain_out(kind: Any, rules: Rules) -> Hook:
    return _as_it_is


def _plain_back(kind: Any, rules: Rules) -> Hook:
    def back(value: Any) -> Any:
        if type(value) is kind:
            return value
        raise _unfit(value, kind.__name__)

    return back


def _count_back(kind: Any, rules: Rules) -> Hook:
    return _count


def _count(value: Any) -> int:
    if type(value) is int and value >= 0:
        return value
    raise _unfit(value, "number of things")


def _literal_back(kind: Any, rules: Rules) -> Hook:
    known = get_args(kind)

    def back(value: Any) -> Any:
        if value in known:
            return value
        raise _unfit(value, f"one of {known}")

    return back


def _request_id_back(kind: Any, rules: Rules) -> Hook:
    return _request_id


def _request_id(value: Any) -> wire.RequestId:
    if type(value) in (str, int):
        return value  # type: ignore[no-any-return]  # it is one
    raise _unfit(value, "id of a request")


def _optional_out(kind: Any, rules: Rules) -> Hook:
    inner = rules.out(_without_none(kind))
    return lambda value: None if value is None else inner(value)


def _optional_back(kind: Any, rules: Rules) -> Hook:
    inner = rules.back(_without_none(kind))
    return lambda value: None if value is None else inner(value)


def _items_out(kind: Any, rules: Rules) -> Hook:
    inner = rules.out(get_args(kind)[0])
    return lambda values: list(map(inner, values))


def _items_back(kind: Any, rules: Rules) -> Hook:
    inner = rules.back(get_args(kind)[0])
    return lambda values: tuple(map(inner, listed(values)))


def listed(values: Any) -> list[Any]:
    """Return a list. Raises for any other value, which is damage."""
    if isinstance(values, list):
        return values
    raise _unfit(values, "list")


def _unfit(value: Any, expected: str) -> ValueError:
    """Make the exception for a value: what it is, but not how long or how deep."""
    given = value if isinstance(value, bool | float | None) else type(value).__name__
    return ValueError(f"expected {expected}, not {given}")


# --- Wire objects ---


def _is_wire(kind: Any) -> bool:
    """Return whether a type is a wire class, a raw value, or a union of them (or `None`)."""
    members = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    kinds = [member for member in members if member is not NoneType]
    return bool(kinds) and all(
        wire.is_open_union(kind) or (isinstance(kind, type) and issubclass(kind, Struct | Json))
        for kind in kinds
    )


def _wire_values(kind: Any, rules: Rules) -> Hook:
    return wire_out


def _wire_values_back(kind: Any, rules: Rules) -> Hook:
    tag = _UPDATE_TAGS.get(kind)
    exact: Any = wire.SessionUpdate if tag else _without_none(kind)
    may_be_none = NoneType in get_args(kind)

    def back(value: Any) -> Any:
        if value is None and may_be_none:
            return None
        tagged: Any = value
        if tag:
            tagged = {**tagged, "sessionUpdate": tag}
        restored, findings = _structured(tagged, exact)
        if findings and encode(wire_out(restored)) != encode(value):  # not as it was stored
            raise ValueError(findings[0].reason)
        return restored

    return _subject_back(back, rules) if exact is wire.RequestPermissionSubject else back


def _structured(value: Any, kind: Any) -> tuple[Any, list[Any]]:
    structure, malformed = lenient_path()
    try:
        return structure(value, kind)
    except malformed as error:
        from .._lenient_scalars import path_text  # after `lenient_path` it is there

        raise ValueError(f"{path_text(error.path)} {error.reason}".strip()) from None


def wire_out(value: Any) -> Any:
    """Return what a document holds of a wire object: the wire's form without the update's tag."""
    document = wire.to_builtins(value)
    if isinstance(document, dict):
        document.pop("sessionUpdate", None)
    if isinstance(value, wire.ToolCallPermissionSubject):
        del document["toolCall"]["sessionUpdate"]
    return document


_UPDATE_TAGS: Final[dict[Any, str]] = {
    wire.Notice: "notice",
    wire.StateUpdate | wire.UnknownStateUpdate: "state_update",
    wire.StateUpdate | wire.UnknownStateUpdate | None: "state_update",
}
"""Parts of a document that are session updates without their tag."""


def _subject_back(hook: Hook, rules: Rules) -> Hook:
    """Make the hook of subjects, whose tool call may have diffs of ACP v1, see `_contents_back`."""
    item = _content_item(rules.back(wire.ToolCallContent))

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


# --- Content that grows ---


def wire_values_out(kind: Any, rules: Rules) -> Hook:
    """Make the hook of sequences of wire objects."""
    return lambda values: list(map(wire_out, values))


def _blocks_back(kind: Any, rules: Rules) -> Hook:
    hook = rules.back(wire.ContentBlock)
    return lambda documents: ContentBlocks.of(map(hook, listed(documents)))


def _contents_back(kind: Any, rules: Rules) -> Hook:
    item = _content_item(rules.back(wire.ToolCallContent))
    return lambda documents: ToolCallContents.of(map(item, listed(documents)))


def _content_item(hook: Hook) -> Hook:
    """Make the hook of a content item; a diff of ACP v1 is raw, though v2 has another one."""
    return lambda document: wire.Unknown(document) if is_old_diff(document) else hook(document)


def chunk_metas(content: ContentBlocks | ToolCallContents) -> dict[str, Any]:
    """Return the key of a document for the `_meta` of chunks, where there is any."""
    metas = {str(index): meta for index, meta in content.metas}
    return {"chunkMeta": metas} if metas else {}


def with_chunk_metas(entry: Any, document: dict[str, Any]) -> Any:
    """Return an entry with the `_meta` of the chunks that brought its content."""
    if "chunkMeta" not in document:
        return entry
    content, given = entry.content, document["chunkMeta"]
    if list(given) != [str(place) for place in range(len(content)) if str(place) in given]:
        raise ValueError("chunks have places in the content, in ascending order")
    if not all(isinstance(meta, dict) and meta for meta in given.values()):
        raise ValueError("a chunk has a `_meta` with something in it, or none")
    metas = [(int(key), wire.JsonObject(meta)) for key, meta in given.items()]
    return replace(entry, content=content._made(content._stored(), metas))


def _output_out(kind: Any, rules: Rules) -> Hook:
    return lambda output: base64.b64encode(output.data).decode()


def _output_back(kind: Any, rules: Rules) -> Hook:
    def back(text: str) -> OutputBytes:
        data = base64.b64decode(text, validate=True)
        return OutputBytes._made([data] if data else [])

    return back


# --- The rules ---


def _is_optional(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType) and NoneType in get_args(kind)


def _has_origin(origin: Any) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) is origin


VALUES: Final = (
    Rule(is_one_of(ContentBlocks), wire_values_out, _blocks_back),
    Rule(is_one_of(ToolCallContents), wire_values_out, _contents_back),
    Rule(is_one_of(OutputBytes), _output_out, _output_back),
    Rule(_is_wire, _wire_values, _wire_values_back),
    Rule(_is_optional, _optional_out, _optional_back),
    Rule(_has_origin(tuple), _items_out, _items_back),
    Rule(_has_origin(Literal), _plain_out, _literal_back),
    Rule(is_one_of(wire.RequestId), _plain_out, _request_id_back),
    Rule(is_one_of(int), _plain_out, _count_back),
    Rule(is_one_of(str, bool), _plain_out, _plain_back),
)
"""The rules for everything that is no class of a snapshot."""
