"""The lenient path: wire objects out of parsed JSON that the typed decoder refuses.

cattrs chooses a hook for each type, once; the hooks are built from the annotations of the wire
classes. Hooks call each other with the value and, where cattrs would pass the type, which a hook
knows, the `Findings` of the message. The theory:

- A hook returns a wire object, or raises `Malformed`. An object is malformed when a strict field
  of it is; so the exception travels up to the nearest lenient field or list item, which is left
  out and leaves one problem behind. Problems found inside something that is left out are dropped
  with it.
- An unknown tag of an open union is not malformed: it becomes an `Unknown` with the raw value. A
  known tag never does.
- Keys that a class does not define are not looked at.

The hooks of JSON's own types are in `_lenient_scalars`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin
from typing import get_type_hints as type_hints

import cattrs
import msgspec
from attrs import define
from msgspec import Struct, UnsetType

from . import _lenient_scalars, wire
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
    raw,
    raw_object,
    raw_variant,
    request_id,
    text,
    whole_number,
)

S = TypeVar("S")


def structure(value: Any, kind: type[S]) -> tuple[S, list[Finding]]:
    """Make a wire object of `kind` out of a parsed JSON value. Raises `Malformed`."""
    findings = Findings()
    return _hook_of(kind)(value, findings), findings.list  # type: ignore[arg-type]  # it is hashable


@cache
def _hook_of(kind: Hashable) -> Hook:
    return _hook(kind, _converter())


def _hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """Return the hook of a type.

    cattrs ignores what a predicate raises: where the stack ends it may come to a hook of its own,
    and would keep that. Then the converter goes, and the next call makes another.
    """
    hook: Hook = converter.get_structure_hook(kind)
    if hook.__module__ not in (__name__, _lenient_scalars.__name__):
        _converter.cache_clear()
        raise RecursionError(f"the stack was too deep to find out how {kind} is read")
    return hook


# --- Hooks for lists, unions and constraints ---


def _array(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    raise Malformed("is not array")


def _array_factory(kind: Any, converter: cattrs.Converter) -> Hook:
    return _items_hook(get_args(kind)[0], converter)


def _items_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of a list in which every item must be good."""
    item_hook = _hook(kind, converter)

    def structure_items(value: Any, findings: Findings) -> tuple[Any, ...]:
        items = enumerate(_array(value))
        return tuple(findings.attempt(f"[{index}]", item_hook, item) for index, item in items)

    return structure_items


def _good_items_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of a list whose bad items are left out."""
    item_hook = _hook(get_args(kind)[0], converter)

    def structure_good_items(value: Any, findings: Findings) -> tuple[Any, ...]:
        kept = []
        for index, item in enumerate(_array(value)):
            try:
                kept.append(findings.attempt(f"[{index}]", item_hook, item))
            except Malformed as malformed:
                findings.add("skipped", malformed)
        return tuple(kept)

    return structure_good_items


def _members_factory(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of an object whose keys are free."""
    member_hook = _hook(get_args(kind)[1], converter)

    def structure_members(value: Any, findings: Findings) -> dict[str, Any]:
        members = json_object(value).items()
        return {key: findings.attempt(key, member_hook, item) for key, item in members}

    return structure_members


def _union_factory(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of an open union of tagged Structs, be it of one."""
    members, (_, unknown) = wire.variants(kind), get_args(kind)
    tag_field = members[0].__struct_config__.tag_field
    hooks = {wire.tag_of(member): _struct_hook(member, converter) for member in members}
    unknown_hook = _unknown_hook(unknown, converter)

    def structure_union(value: Any, findings: Findings) -> Any:
        hook = hooks.get(_tag(value, tag_field, findings), unknown_hook)
        return hook(value, findings)

    return structure_union


def _tagged_factory(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of a variant that stands alone, where a tag of another is an unknown one."""
    hook, config = _struct_hook(kind, converter), kind.__struct_config__

    def structure_tagged(value: Any, findings: Findings) -> Any:
        is_known = _tag(value, config.tag_field, findings) == config.tag
        return hook(value, findings) if is_known else wire.Unknown(value)

    return structure_tagged


def _tag(value: Any, key: str, findings: Findings) -> str:
    """Return the string under a key of an object."""
    tag = json_object(value).get(key)
    if type(tag) is str:
        return tag
    if key not in value:
        raise Malformed("is missing", key)
    return findings.attempt(key, text, tag)  # type: ignore[no-any-return]  # text's


def _unknown_hook(unknown: wire.UnknownVariant, converter: cattrs.Converter) -> Hook:
    if unknown.kind is wire.ElicitationUnknownMode:
        any_mode = _struct_hook(wire.Elicitation, converter)

        def structure_mode(value: Any, findings: Findings) -> wire.Unknown:
            any_mode(value, findings)
            return wire.ElicitationUnknownMode(value)

        return structure_mode

    def structure_unknown(value: Any, findings: Findings) -> wire.Unknown:
        for key in unknown.needs:
            _tag(value, key, findings)
        return wire.Unknown(value)

    return structure_unknown


def _literal_factory(kind: Any, _: cattrs.Converter) -> Hook:
    known = get_args(kind)

    def structure_literal(value: Any, findings: Findings) -> str:
        if text(value, findings) in known:
            return value  # type: ignore[no-any-return]  # text has checked it
        raise Malformed("is not one of the known values")

    return structure_literal


def _constrained_factory(kind: Any, converter: cattrs.Converter) -> Hook:
    inner, *constraints = get_args(kind)
    hook = _hook(inner, converter)
    checks = [check_of(constraint) for constraint in constraints]

    def structure_constrained(value: Any, findings: Findings) -> Any:
        result = hook(value, findings)
        for check in checks:
            check(result)
        return result

    return structure_constrained


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


def _struct_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of one Struct, whatever its tag."""
    hints = type_hints(kind, include_extras=True)
    fields = msgspec.structs.fields(kind)
    slots = [_slot(item, hints[item.name], converter) for item in fields]

    def structure_struct(value: Any, findings: Findings) -> Any:
        source = json_object(value)
        given = {}
        for slot in slots:
            if slot.key in source:
                item = source[slot.key]
                if type(item) is not slot.plain:
                    item = _read(slot, item, findings)
                if item is not _ABSENT:
                    given[slot.name] = item
            elif slot.required:
                raise Malformed("is missing", slot.key)
        return _made(kind, given)

    return _state_hook(structure_struct) if kind is wire.StateUpdate else structure_struct


def _made(kind: Any, given: dict[str, Any]) -> Any:
    try:
        return kind(**given)
    except InvalidValueError as error:
        raise Malformed(str(error)) from None


def _slot(item: Any, hint: Any, converter: cattrs.Converter) -> _Slot:
    kind, marks = _without_marks(hint)
    inner, nullable = _without_absence(kind)
    build = next((build for mark, build in _BUILDERS if mark in marks), _hook)
    hook = build(inner, converter)
    return _Slot(
        key=item.encode_name,
        name=item.name,
        hook=hook,
        plain=_PLAIN.get(hook),
        required=item.required,
        nullable=nullable,
        defaults=wire.ON_ERROR_ABSENT in marks,
        empty_null=wire.NULL_IS_EMPTY in marks,
        is_list=get_origin(inner) is tuple,
    )


_BUILDERS: Final = ((wire.SKIP_BAD_ITEMS, _good_items_hook), (wire.UNTAGGED, _struct_hook))
"""What a mark of a field makes of the hook of its type."""

_PLAIN: Final[dict[Hook, type]] = {text: str, flag: bool}
"""Hooks that take every value of one type as it is: such a value is taken without a call."""

_ABSENT: Final = object()


def _read(slot: _Slot, value: Any, findings: Findings) -> Any:
    if value is None and slot.nullable:
        return None
    if value is None and slot.empty_null:
        return ()
    try:
        return findings.attempt(slot.key, slot.hook, value)
    except Malformed as malformed:
        if not slot.defaults:
            raise
        findings.add("defaulted", malformed)
        return () if slot.is_list and not slot.nullable else _ABSENT


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


# --- The places where the schema needs more than annotations ---


def _resource_contents(value: Any, findings: Findings) -> Any:
    """Text wins over a blob; a resource with neither is malformed."""
    kinds = (wire.TextResourceContents, wire.BlobResourceContents)
    return _first_good(value, [_hook_of(kind) for kind in kinds], findings)


def _select_options(value: Any, findings: Findings) -> Any:
    """All of the choices are options, or else all of them are groups."""
    if not _array(value):
        raise Malformed("has too few items")
    kinds: list[Any] = [wire.SessionConfigSelectOption, wire.SessionConfigSelectGroup]
    if isinstance(value[0], dict) and "groupId" in value[0] and "value" not in value[0]:
        kinds.reverse()  # no options then: only for the reason
    hooks = [_hook_of(tuple[kind, ...]) for kind in kinds]  # type: ignore[valid-type]  # a value
    return wire.SessionConfigSelectOptions(_first_good(value, hooks, findings))


def _multi_select_items(value: Any, findings: Findings) -> Any:
    """Choices have titles, or the type `string`, or a type that is not known."""
    tag = json_object(value).get("type")
    if isinstance(tag, str) and tag != "string":
        return wire.UnknownMultiSelectItems(value)
    kinds: list[Any] = [wire.StringMultiSelectItems, wire.TitledMultiSelectItems]
    if tag is None:
        kinds.reverse()
    return _first_good(value, [_hook_of(kind) for kind in kinds], findings)


def _requested_schema(value: Any, findings: Findings) -> wire.RequestedSchema:
    """Check a form's schema; what is wrong in it and can be left out is reported, and stays."""
    _hook_of(wire.ElicitationSchema)(value, findings)
    return wire.RequestedSchema(value)


def _first_good(value: Any, hooks: list[Hook], findings: Findings) -> Any:
    """Return what the first hook that takes a value makes of it; the reason is the first one's."""
    reasons = []
    for hook in hooks:
        mark = len(findings.list)
        try:
            return hook(value, findings)
        except Malformed as malformed:
            del findings.list[mark:]
            reasons.append(malformed)
    raise reasons[0]


def _state_hook(structure_struct: Hook) -> Hook:
    """Build the hook that keeps the keys of each state apart, and unknown states raw."""

    def structure_state(value: Any, findings: Findings) -> Any:
        if _tag(value, "state", findings) not in _STATES:
            return wire.UnknownStateUpdate(_without(value, "sessionUpdate"))
        if value["state"] != "idle":
            return structure_struct(_without(value, "stopReason", "error", "usage"), findings)
        reason = value.get("stopReason")
        if isinstance(reason, str) and reason not in _STOP_REASONS:
            known = structure_struct(_without(value, "stopReason", "error"), findings)
            return _unknown_stop(value, known)
        return structure_struct(value if reason == "error" else _without(value, "error"), findings)

    return structure_state


def _unknown_stop(value: dict[str, Any], known: wire.StateUpdate) -> wire.UnknownStateUpdate:
    """Keep a stop reason that is not known, with the known keys as they were decoded."""
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


# --- The converter ---

_HOOKS: Final[dict[Any, Hook]] = {
    str: text,
    bool: flag,
    int: whole_number,
    float: number,
    bytes: from_base64,
    wire.JsonObject: raw_object,
    wire.RequestedSchema: _requested_schema,
}

_EXACT_HOOKS: Final[dict[Any, Hook]] = {
    Json: raw,
    wire.Unknown: raw_variant,
    type_hints(wire.CancelRequestNotification, include_extras=True)["request_id"]: request_id,
    wire.EmbeddedResourceResource: _resource_contents,
    wire.SessionConfigSelectOptions: _select_options,
    wire.MultiSelectItems: _multi_select_items,
}
"""Hooks of types whose subclasses, or whose parts, have hooks of their own."""


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _is_tagged(kind: Any) -> bool:
    return _is_struct(kind) and bool(kind.__struct_config__.tag)


def _has_origin(origin: Any) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) is origin


_FACTORIES: Final[tuple[tuple[Callable[[Any], bool], Any], ...]] = (
    (_is_struct, _struct_hook),
    (_is_tagged, _tagged_factory),
    (_has_origin(tuple), _array_factory),
    (_has_origin(dict), _members_factory),
    (_has_origin(Literal), _literal_factory),
    (_has_origin(Annotated), _constrained_factory),
    (wire.is_open_union, _union_factory),
)
"""What makes the hook of a type: of the factories that apply, the last."""


@cache
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter()
    for kind, hook in _HOOKS.items():
        converter.register_structure_hook(kind, hook)
    for predicate, factory in _FACTORIES:
        converter.register_structure_hook_factory(predicate, factory)
    for kind, hook in _EXACT_HOOKS.items():
        converter.register_structure_hook_func(_is_exactly(kind), hook)
    return converter


def _is_exactly(wanted: Any) -> Callable[[Any], bool]:
    return lambda kind: kind == wanted
