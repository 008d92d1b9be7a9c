"""The lenient path: wire objects out of parsed JSON that the typed decoder refuses.

cattrs picks one hook for each type, once; the hooks are built from the annotations of the wire
classes and the table in `_leniency`. The theory:

- A hook returns a wire object, or raises `Malformed`. An object is malformed when a strict field
  of it is; so the exception travels up to the nearest lenient field or list item, which is left
  out and leaves one problem behind. Problems found inside something that is left out are dropped
  with it.
- An unknown tag of an open union is not malformed: it becomes an `Unknown` with the raw value. A
  known tag never does.
- Keys that a class does not define are not looked at.

Hooks take no context, so the problems of the message in hand are collected under a lock (see
`_lenient_scalars`, which also has the hooks of JSON's own types). A signal handler that reads a
message while one is in hand puts that one's problems back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as type_hints

import cattrs
import msgspec
from attrs import define
from msgspec import Struct, UnsetType

from . import wire
from ._errors import InvalidValueError
from ._json import Json
from ._lenient_scalars import (
    Finding,
    Findings,
    Hook,
    Malformed,
    check_of,
    flag,
    from_base64,
    json_object,
    number,
    raw_object,
    request_id,
    text,
    whole_number,
)
from ._locks import after_fork, holds, let_go

S = TypeVar("S")

_findings = Findings()
_lock = threading.RLock()


def _renew_lock() -> None:
    global _lock  # nothing else can reach it
    _lock = threading.RLock()


after_fork(_renew_lock)


def structure(value: Any, kind: type[S]) -> tuple[S, list[Finding]]:
    """Make a wire object of `kind` out of a parsed JSON value. Raises `Malformed`."""
    lock, before = _lock, holds(_lock)
    try:
        with lock:
            interrupted, found = _findings.list, list[Finding]()
            _findings.list = found
            try:
                return structurer(kind)(value), found  # type: ignore[arg-type]  # it is hashable
            finally:
                _findings.list = interrupted
    except BaseException:
        let_go(lock, before)
        raise


@cache
def structurer(kind: Hashable) -> Hook:
    """Return the hook of a type, chosen once."""
    return _hook(kind, _converter)


# --- Hooks for lists, unions and constraints ---


def _array(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    raise Malformed("is not array")


def _strict_items(value: Any, item_hook: Hook) -> tuple[Any, ...]:
    items = enumerate(_array(value))
    return tuple(_findings.attempt(f"[{index}]", item_hook, item) for index, item in items)


def _good_items(value: Any, item_hook: Hook) -> tuple[Any, ...]:
    kept = []
    for index, item in enumerate(_array(value)):
        try:
            kept.append(_findings.attempt(f"[{index}]", item_hook, item))
        except Malformed as malformed:
            _findings.add("skipped", malformed)
    return tuple(kept)


def _array_factory(kind: Any, converter: cattrs.Converter) -> Any:
    return _ignoring_kind(_items_hook(get_args(kind)[0], converter))


def _members_factory(kind: Any, converter: cattrs.Converter) -> Any:
    """Build the hook of an object whose keys are free."""
    member_hook = _hook(get_args(kind)[1], converter)

    def structure_members(value: Any) -> dict[str, Any]:
        members = json_object(value).items()
        return {key: _findings.attempt(key, member_hook, item) for key, item in members}

    return _ignoring_kind(structure_members)


def _union_factory(kind: Any, converter: cattrs.Converter) -> Any:
    """Build the hook of an open union of tagged Structs, be it of one."""
    _, unknown = get_args(kind)
    members = wire.variants(kind)
    tag_field = members[0].__struct_config__.tag_field
    hooks = {wire.tag_of(member): _struct_hook(member, converter) for member in members}
    is_mode = unknown.kind is wire.ElicitationUnknownMode

    def structure_union(value: Any) -> Any:
        hook = hooks.get(_tag(json_object(value), tag_field))
        if hook:
            return hook(value)
        return _unknown_mode(value) if is_mode else _unknown(value, unknown.needs)

    return _ignoring_kind(structure_union)


def _tagged_factory(kind: Any, converter: cattrs.Converter) -> Any:
    """Build the hook of a variant that stands alone, where a tag of another is an unknown one."""
    hook, config = _struct_hook(kind, converter), kind.__struct_config__

    def structure_tagged(value: Any) -> Any:
        tag = _tag(json_object(value), config.tag_field)
        return hook(value) if tag == config.tag else wire.Unknown(value)

    return _ignoring_kind(structure_tagged)


def _tag(value: dict[str, Any], key: str) -> str:
    tag = value.get(key)
    if type(tag) is str:
        return tag
    if key not in value:
        raise Malformed("is missing", key)
    return _findings.attempt(key, text, value[key])  # type: ignore[no-any-return]  # text's


def _unknown(value: dict[str, Any], required: tuple[str, ...]) -> wire.Unknown:
    for key in required:
        _tag(value, key)
    return wire.Unknown(value)


def _unknown_mode(value: dict[str, Any]) -> wire.ElicitationUnknownMode:
    _any_mode()(value)
    return wire.ElicitationUnknownMode(value)


@cache
def _any_mode() -> Hook:
    return _struct_hook(wire.Elicitation, _converter)


def _literal_factory(kind: Any, _: cattrs.Converter) -> Any:
    known = get_args(kind)

    def structure_literal(value: Any) -> str:
        if text(value) in known:
            return value  # type: ignore[no-any-return]  # text has checked it
        raise Malformed("is not one of the known values")

    return _ignoring_kind(structure_literal)


def _constrained_factory(kind: Any, converter: cattrs.Converter) -> Any:
    inner, *constraints = get_args(kind)
    hook = _hook(inner, converter)
    checks = [check_of(constraint) for constraint in constraints]

    def structure_constrained(value: Any) -> Any:
        result = hook(value)
        for check in checks:
            check(result)
        return result

    return _ignoring_kind(structure_constrained)


# --- Hooks for Structs ---


@define
class _Slot:
    """How one field of a Struct is read."""

    key: str
    name: str
    hook: Hook
    plain: type | None
    required: bool
    nullable: bool
    defaults: bool
    empty_null: bool
    is_list: bool


def _hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """Return the hook of a type as a function of the value alone.

    Hooks of this module have it as `alone`. While cattrs chooses one it takes no note of what is
    raised. So where the stack ends it may come to a hook of its own, and would remember it: then
    the converter goes, and the next call makes another.
    """
    alone: Hook | None = getattr(converter.get_structure_hook(kind), "alone", None)
    if alone is None:
        _begin_anew()
        raise RecursionError(f"the stack was too deep to find out how {kind} is read")
    return alone


def _begin_anew() -> None:
    global _converter  # nothing else can replace it
    _converter = _make_converter()


def _ignoring_kind(hook: Hook) -> Callable[[Any, Any], Any]:
    """Make a hook as cattrs calls it, which remembers the plain one."""

    def structure_kind(value: Any, _: Any) -> Any:
        return hook(value)

    structure_kind.alone = hook  # type: ignore[attr-defined]  # read by `_hook`
    return structure_kind


def _struct_factory(kind: Any, converter: cattrs.Converter) -> Any:
    return _ignoring_kind(_struct_hook(kind, converter))


def _struct_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of one Struct, whatever its tag."""
    hints = type_hints(kind, include_extras=True)
    fields = msgspec.structs.fields(kind)
    slots = [_slot(item, hints[item.name], converter) for item in fields]

    def structure_struct(value: Any) -> Any:
        source = json_object(value)
        given = {}
        for slot in slots:
            if slot.key in source:
                item = source[slot.key]
                if type(item) is not slot.plain:
                    item = _read(slot, item)
                if item is not _ABSENT:
                    given[slot.name] = item
            elif slot.required:
                raise Malformed("is missing", slot.key)
        return _made(kind, given)

    special = _SPECIAL_STRUCTS.get(kind)
    return (lambda value: special(value, structure_struct)) if special else structure_struct


def _made(kind: Any, given: dict[str, Any]) -> Any:
    try:
        return kind(**given)
    except InvalidValueError as error:
        raise Malformed(str(error)) from None


def _slot(item: Any, hint: Any, converter: cattrs.Converter) -> _Slot:
    kind, marks = _without_marks(hint)
    inner, nullable = _without_absence(kind)
    is_list = get_origin(inner) is tuple
    if wire.SKIP_BAD_ITEMS in marks:
        hook = _skipping_hook(inner, converter)
    elif wire.UNTAGGED in marks:
        hook = _struct_hook(inner, converter)
    else:
        hook = _hook(inner, converter)
    return _Slot(
        key=item.encode_name,
        name=item.name,
        hook=hook,
        plain=_PLAIN.get(hook),
        required=item.required,
        nullable=nullable,
        defaults=wire.ON_ERROR_ABSENT in marks,
        empty_null=wire.NULL_IS_EMPTY in marks,
        is_list=is_list,
    )


def _skipping_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of a list whose bad items are left out."""
    item_hook = _hook(get_args(kind)[0], converter)
    return lambda value: _good_items(value, item_hook)


def _without_marks(hint: Any) -> tuple[Any, frozenset[str]]:
    """Split a field's type into what it is without the schema's marks, and these."""
    if get_origin(hint) is not Annotated:
        return hint, frozenset()
    inner, *metadata = get_args(hint)
    marks = frozenset(one for one in metadata if isinstance(one, str))
    others = [one for one in metadata if not isinstance(one, str)]
    return (Annotated[(inner, *others)] if others else inner), marks


def _without_absence(hint: Any) -> tuple[Any, bool]:
    """Split a field's type into the type of its values and whether `null` is one."""
    if get_origin(hint) not in (Union, UnionType):
        return hint, False
    parts = get_args(hint)
    kinds = tuple(part for part in parts if part not in (NoneType, UnsetType))
    return Union[kinds], NoneType in parts  # noqa: UP007  # built from a list


_ABSENT: Final = object()


_PLAIN: Final[dict[Hook, type]] = {text: str, flag: bool}
"""Hooks that take every value of one type as it is: such a value is taken without a call."""


def _read(slot: _Slot, value: Any) -> Any:
    if value is None and slot.nullable:
        return None
    if value is None and slot.empty_null:
        return ()
    try:
        return _findings.attempt(slot.key, slot.hook, value)
    except Malformed as malformed:
        if not slot.defaults:
            raise
        _findings.add("defaulted", malformed)
        return () if slot.is_list and not slot.nullable else _ABSENT


# --- The places where the schema needs more than a table ---


def _resource_contents(value: Any) -> Any:
    """Text wins over a blob; a resource with neither is malformed."""
    kinds = (wire.TextResourceContents, wire.BlobResourceContents)
    return _first_good(value, [structurer(kind) for kind in kinds])


def _select_options(value: Any) -> Any:
    """All of the choices are options, or else all of them are groups."""
    if not _array(value):
        raise Malformed("has too few items")
    kinds: list[Any] = [wire.SessionConfigSelectOption, wire.SessionConfigSelectGroup]
    if isinstance(value[0], dict) and "groupId" in value[0] and "value" not in value[0]:
        kinds.reverse()  # no options then: only for the reason
    hooks = [_items_hook(kind, _converter) for kind in kinds]
    return wire.SessionConfigSelectOptions(_first_good(value, hooks))


def _multi_select_items(value: Any) -> Any:
    """Choices have titles, or the type `string`, or a type that is not known."""
    tag = json_object(value).get("type")
    if isinstance(tag, str) and tag != "string":
        return wire.UnknownMultiSelectItems(value)
    kinds: list[Any] = [wire.StringMultiSelectItems, wire.TitledMultiSelectItems]
    if tag is None:
        kinds.reverse()
    return _first_good(value, [structurer(kind) for kind in kinds])


def _requested_schema(value: Any) -> wire.RequestedSchema:
    """Check a form's schema; what is wrong in it and can be left out is reported, and stays."""
    structurer(wire.ElicitationSchema)(value)
    return wire.RequestedSchema(value)


def _items_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    item_hook = _hook(kind, converter)
    return lambda value: _strict_items(value, item_hook)


def _first_good(value: Any, hooks: list[Hook]) -> Any:
    """Return what the first hook that takes a value makes of it; the reason is the first one's."""
    reasons = []
    for hook in hooks:
        mark = len(_findings.list)
        try:
            return hook(value)
        except Malformed as malformed:
            del _findings.list[mark:]
            reasons.append(malformed)
    raise reasons[0]


def _state(value: Any, structure_struct: Hook) -> Any:
    """Keep the keys of each state apart, and unknown states and stop reasons raw."""
    state = _tag(json_object(value), "state")
    if state not in _STATES:
        return wire.UnknownStateUpdate(_without(value, "sessionUpdate"))
    if state != "idle":
        return structure_struct(_without(value, "stopReason", "error", "usage"))
    reason = value.get("stopReason")
    if isinstance(reason, str) and reason not in _STOP_REASONS:
        return _unknown_stop(value, structure_struct)
    return structure_struct(value if reason == "error" else _without(value, "error"))


def _unknown_stop(value: dict[str, Any], structure_struct: Hook) -> wire.UnknownStateUpdate:
    known = structure_struct(_without(value, "stopReason", "error"))
    parts: dict[str, Any] = _without(value, "sessionUpdate", "background", "usage", "_meta")
    if known.background is not None:
        parts["background"] = [wire.to_builtins(item) for item in known.background]
    if known.usage is not None:
        parts["usage"] = wire.to_builtins(known.usage)
    if known.meta is not None:
        parts["_meta"] = known.meta
    return wire.UnknownStateUpdate(parts)


def _without(value: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key not in keys}


_STATES: Final = get_args(type_hints(wire.StateUpdate)["state"])
_STOP_REASONS: Final = get_args(_without_absence(type_hints(wire.StateUpdate)["stop_reason"])[0])
_SPECIAL_STRUCTS: Final[dict[Any, Callable[[Any, Hook], Any]]] = {wire.StateUpdate: _state}


def _is_tagged(kind: Any) -> bool:
    return _is_struct(kind) and bool(kind.__struct_config__.tag)


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _make_converter() -> cattrs.Converter:
    converter = cattrs.Converter()
    plain: dict[Any, Hook] = {
        str: text,
        bool: flag,
        int: whole_number,
        float: number,
        bytes: from_base64,
        wire.JsonObject: raw_object,
        wire.RequestedSchema: _requested_schema,
    }
    for kind, hook in plain.items():
        converter.register_structure_hook(kind, _ignoring_kind(hook))
    factories: list[tuple[Callable[[Any], bool], Any]] = [
        (_is_struct, _struct_factory),
        (_is_tagged, _tagged_factory),
        (lambda kind: get_origin(kind) is tuple, _array_factory),
        (lambda kind: get_origin(kind) is dict, _members_factory),
        (lambda kind: get_origin(kind) is Literal, _literal_factory),
        (lambda kind: get_origin(kind) is Annotated, _constrained_factory),
        (wire.is_open_union, _union_factory),
    ]
    for predicate, factory in factories:
        converter.register_structure_hook_factory(predicate, factory)
    for kind, function in _EXACT_KINDS.items():
        converter.register_structure_hook_func(_is_exactly(kind), function)
    return converter


def _is_exactly(wanted: Any) -> Callable[[Any], bool]:
    return lambda kind: kind == wanted


_EXACT_KINDS: Final[dict[Any, Callable[[Any, Any], Any]]] = {
    Json: _ignoring_kind(Json),
    wire.Unknown: _ignoring_kind(wire.Unknown),
    type_hints(wire.CancelRequestNotification, include_extras=True)["request_id"]: _ignoring_kind(
        request_id
    ),
    wire.EmbeddedResourceResource: _ignoring_kind(_resource_contents),
    wire.SessionConfigSelectOptions: _ignoring_kind(_select_options),
    wire.MultiSelectItems: _ignoring_kind(_multi_select_items),
}
"""Types whose subclasses, or whose parts, have hooks of their own."""


_converter = _make_converter()
