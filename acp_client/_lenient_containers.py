"""The lenient path: lists, objects with free keys, strings of a known set, and constraints.

Each function here builds a hook, with the hooks of the parts inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from ._lenient_scalars import Findings, Hook, Malformed, check_of, json_object, text

if TYPE_CHECKING:
    import cattrs


def chosen_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """Return the hook of a type.

    cattrs ignores exceptions of predicates, so at the end of the stack it may choose one of its own
    hooks. Raises `RecursionError` then.
    """
    hook: Hook = converter.get_structure_hook(kind)
    if not hook.__module__.startswith(_OURS):
        raise RecursionError(f"the stack was too deep to find out how {kind} is read")
    return hook


_OURS: Final = __name__.removesuffix("_containers")
"""The prefix of the names of modules with hooks."""


def array(value: Any) -> list[Any]:
    """Accept a list."""
    if isinstance(value, list):
        return value
    raise Malformed("is not array")


def array_factory(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of a list in which every item must be well-formed."""
    item_hook = chosen_hook(get_args(kind)[0], converter)

    def structure_items(value: Any, findings: Findings) -> tuple[Any, ...]:
        items = enumerate(array(value))
        return tuple(findings.attempt(f"[{index}]", item_hook, item) for index, item in items)

    return structure_items


def good_items_hook(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of a list whose malformed items are skipped."""
    item_hook = chosen_hook(get_args(kind)[0], converter)

    def structure_good_items(value: Any, findings: Findings) -> tuple[Any, ...]:
        kept = []
        for index, item in enumerate(array(value)):
            try:
                kept.append(findings.attempt(f"[{index}]", item_hook, item))
            except Malformed as malformed:
                findings.add("skipped", malformed)
        return tuple(kept)

    return structure_good_items


def members_factory(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of an object whose keys are free."""
    member_hook = chosen_hook(get_args(kind)[1], converter)

    def structure_members(value: Any, findings: Findings) -> dict[str, Any]:
        members = json_object(value).items()
        return {key: findings.attempt(key, member_hook, item) for key, item in members}

    return structure_members


def tag_under(value: Any, key: str, findings: Findings) -> str:
    """Return the string under a key of an object."""
    tag = json_object(value).get(key)
    if type(tag) is str:
        return tag
    if key not in value:
        raise Malformed("is missing", key)
    return findings.attempt(key, text, tag)  # type: ignore[no-any-return]  # text's


def literal_factory(kind: Any, _: cattrs.Converter) -> Hook:
    """Build the hook of a string that must be one of the known values."""
    known = get_args(kind)

    def structure_literal(value: Any, findings: Findings) -> str:
        if text(value, findings) in known:
            return value  # type: ignore[no-any-return]  # text has checked it
        raise Malformed("is not one of the known values")

    return structure_literal


def constrained_factory(kind: Any, converter: cattrs.Converter) -> Hook:
    """Build the hook of a value with bounds, a length or a form."""
    inner, *constraints = get_args(kind)
    hook = chosen_hook(inner, converter)
    checks = [check_of(constraint) for constraint in constraints]

    def structure_constrained(value: Any, findings: Findings) -> Any:
        result = hook(value, findings)
        for check in checks:
            check(result)
        return result

    return structure_constrained
