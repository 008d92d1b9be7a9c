"""The lenient path: build wire objects from parsed JSON that the typed decoder refuses.

cattrs chooses a hook for each type, once; the hooks are built from the annotations of the wire
classes. Hooks call each other with the value and the `Findings` of the message, which take the
place of cattrs's type argument, as each hook knows its type. The rules:

- A hook returns a wire object, or raises `Malformed`. An object is malformed if one of its strict
  fields is; so the exception travels up to the nearest lenient field or list item, which is left
  out with one problem recorded. Problems found inside something that is left out are dropped with
  it.
- An unknown tag of an open union is not malformed: it becomes an `Unknown` with the raw value. A
  known tag never does.
- Keys that a class does not define are ignored.

The hooks of JSON's own types are in `_lenient_scalars`, those of lists in `_lenient_containers`.
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

from . import wire
from ._errors import InvalidValueError
from ._json import Json
from ._lenient_containers import (
    array,
    array_factory,
    chosen_hook,
    constrained_factory,
    good_items_hook,
    literal_factory,
    members_factory,
    tag_under,
)
from ._lenient_scalars import (
    Finding,
    Findings,
    Hook,
    Malformed,
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
    try:
        return chosen_hook(kind, _converter())
    except RecursionError:
        _converter.cache_clear()  # the converter may have cached a hook that is not ours
        raise


# --- Hooks for open unions ---


def _union_factory(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of an open union of tagged Structs, even of a single one."""
    members, (_, unknown) = wire.variants(kind), get_args(kind)
    tag_field = members[0].__struct_config__.tag_field
    hooks = {wire.tag_of(member): _struct_hook(member, converter) for member in members}
    unknown_hook = _unknown_hook(unknown, converter)

    def structure_union(value: Any, findings: Findings) -> Any:
        hook = hooks.get(tag_under(value, tag_field, findings), unknown_hook)
        return hook(value, findings)

    return structure_union


def _tagged_factory(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of a variant that stands alone; any other tag makes an `Unknown`."""
    hook, config = _struct_hook(kind, converter), kind.__struct_config__

    def structure_tagged(value: Any, findings: Findings) -> Any:
        is_known = tag_under(value, config.tag_field, findings) == config.tag
        return hook(value, findings) if is_known else wire.Unknown(value)

    return structure_tagged


def _unknown_hook(unknown: wire.UnknownVariant, converter: cattrs.Converter) -> Hook:
    if unknown.kind is wire.ElicitationUnknownMode:
        any_mode = _struct_hook(wire.Elicitation, converter)

        def structure_mode(value: Any, findings: Findings) -> wire.Unknown:
            any_mode(value, findings)
            return wire.ElicitationUnknownMode(value)

        return structure_mode

    def structure_unknown(value: Any, findings: Findings) -> wire.Unknown:
        for key in unknown.needs:
            tag_under(value, key, findings)
        return wire.Unknown(value)

    return structure_unknown


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
    build = next((build for mark, build in _BUILDERS if mark in marks), chosen_hook)
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


_BUILDERS: Final = ((wire.SKIP_BAD_ITEMS, good_items_hook), (wire.UNTAGGED, _struct_hook))
"""Marks of a field that replace the hook of its type."""

_PLAIN: Final[dict[Hook, type]] = {text: str, flag: bool}
"""Hooks that accept every value of one type unchanged: such a value needs no call."""

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
    """Split a field's type into the type without the schema's marks, and the marks."""
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
    """Prefer text over a blob; a resource with neither is malformed."""
    kinds = (wire.TextResourceContents, wire.BlobResourceContents)
    return _first_good(value, [_hook_of(kind) for kind in kinds], findings)


def _select_options(value: Any, findings: Findings) -> Any:
    """Read all choices as options, or else all of them as groups."""
    if not array(value):
        raise Malformed("has too few items")
    kinds: list[Any] = [wire.SessionConfigSelectOption, wire.SessionConfigSelectGroup]
    if isinstance(value[0], dict) and "groupId" in value[0] and "value" not in value[0]:
        kinds.reverse()  # neither: called only for its reason
    hooks = [_hook_of(tuple[kind, ...]) for kind in kinds]  # type: ignore[valid-type]  # a value
    return wire.SessionConfigSelectOptions(_first_good(value, hooks, findings))


def _multi_select_items(value: Any, findings: Findings) -> Any:
    """Read choices with titles, choices of the type `string`, or choices of an unknown type."""
    tag = json_object(value).get("type")
    if isinstance(tag, str) and tag != "string":
        return wire.UnknownMultiSelectItems(value)
    kinds: list[Any] = [wire.StringMultiSelectItems, wire.TitledMultiSelectItems]
    if tag is None:
        kinds.reverse()
    return _first_good(value, [_hook_of(kind) for kind in kinds], findings)


def _requested_schema(value: Any, findings: Findings) -> wire.RequestedSchema:
    """Check a form's schema, report its problems, and keep the schema as it came."""
    _hook_of(wire.ElicitationSchema)(value, findings)
    return wire.RequestedSchema(value)


def _first_good(value: Any, hooks: list[Hook], findings: Findings) -> Any:
    """Return the result of the first hook that accepts a value; raise what the first one raised."""
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
    """Build the hook that keeps only the keys of each known state, and keeps unknown states raw."""

    def structure_state(value: Any, findings: Findings) -> Any:
        if tag_under(value, "state", findings) not in _STATES:
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
    """Keep an unknown stop reason, with the known keys as they were decoded."""
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
"""Hooks of types whose subclasses or parts have hooks of their own."""


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def _is_tagged(kind: Any) -> bool:
    return _is_struct(kind) and bool(kind.__struct_config__.tag)


def _has_origin(origin: Any) -> Callable[[Any], bool]:
    return lambda kind: get_origin(kind) is origin


_FACTORIES: Final[tuple[tuple[Callable[[Any], bool], Any], ...]] = (
    (_is_struct, _struct_hook),
    (_is_tagged, _tagged_factory),
    (_has_origin(tuple), array_factory),
    (_has_origin(dict), members_factory),
    (_has_origin(Literal), literal_factory),
    (_has_origin(Annotated), constrained_factory),
    (wire.is_open_union, _union_factory),
)
"""Factories of hooks; the last one that applies to a type is used."""


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
