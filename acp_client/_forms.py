"""The values of an elicitation's form, checked against its schema before they are sent.

The schema of a form is flat: an object whose properties are strings, numbers, booleans, or lists of
strings. A property of an unknown type is not checked, since only the agent knows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, Final

from . import wire
from ._errors import InvalidValueError


def check_form(schema: wire.ElicitationSchema, content: Mapping[str, Any]) -> None:
    """Check the values of a form. Raises `InvalidValueError` for the first invalid one."""
    for name in schema.required or ():
        if name not in content:
            raise InvalidValueError(f"{name!r} is required")
    for name, value in content.items():
        if name not in schema.properties:
            raise InvalidValueError(f"the form has no field {name!r}")
        field = schema.properties[name]
        reason = _CHECKS.get(type(field), _unchecked)(field, value)
        if reason is not None:
            raise InvalidValueError(f"{name!r} {reason}")


def _unchecked(field: Any, value: Any) -> str | None:
    return None


def _string(field: wire.StringPropertySchema, value: Any) -> str | None:
    if not isinstance(value, str):
        return "is not a string"
    if field.min_length is not None and len(value) < field.min_length:
        return f"is shorter than {field.min_length} characters"
    if field.max_length is not None and len(value) > field.max_length:
        return f"is longer than {field.max_length} characters"
    choices = field.enum or [option.const for option in field.one_of or ()]
    if choices and value not in choices:
        return "is not one of the choices"
    return None if _matches(field.pattern, value) else f"does not match {field.pattern!r}"


def _matches(pattern: str | None, value: str) -> bool:
    """Return whether a text matches.

    A pattern comes from the agent, so one that may be slow, or that Python cannot compile, is left
    to the agent, which checks the values too.
    """
    if pattern is None or len(value) > _LONGEST or not _is_quick(pattern):
        return True
    try:
        return re.search(pattern, value) is not None
    except re.error:
        return True


_LONGEST: Final = 200
"""The length, in characters, up to which a value is matched with a pattern."""

_MOST_REPEATS: Final = 3


def _is_quick(pattern: str) -> bool:
    """Return whether a pattern repeats no group and few single characters."""
    repeats = re.findall(r"[*+]|\{\d*,", pattern)
    return len(repeats) <= _MOST_REPEATS and not re.search(r"\)[*+?{]|\\[1-9]|\(\?", pattern)


def _number(field: Any, value: Any) -> str | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not isfinite(value):
        return "is not a number"
    if field.minimum is not None and value < field.minimum:
        return f"is less than {field.minimum}"
    if field.maximum is not None and value > field.maximum:
        return f"is more than {field.maximum}"
    return None


def _integer(field: wire.IntegerPropertySchema, value: Any) -> str | None:
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return _number(field, value) if is_whole else "is not an integer"


def _boolean(field: wire.BooleanPropertySchema, value: Any) -> str | None:
    return None if isinstance(value, bool) else "is neither true nor false"


def _choices(field: wire.MultiSelectPropertySchema, value: Any) -> str | None:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        return "is not a list of strings"
    if field.min_items is not None and len(value) < field.min_items:
        return f"has fewer than {field.min_items} items"
    if field.max_items is not None and len(value) > field.max_items:
        return f"has more than {field.max_items} items"
    known = _known_choices(field.items)
    return None if known is None or known.issuperset(value) else "is not among the choices"


def _known_choices(items: wire.MultiSelectItems) -> set[str] | None:
    if isinstance(items, wire.StringMultiSelectItems):
        return set(items.enum)
    if isinstance(items, wire.TitledMultiSelectItems):
        return {option.const for option in items.any_of}
    return None


_CHECKS: Final[dict[type, Callable[[Any, Any], str | None]]] = {
    wire.StringPropertySchema: _string,
    wire.NumberPropertySchema: _number,
    wire.IntegerPropertySchema: _integer,
    wire.BooleanPropertySchema: _boolean,
    wire.MultiSelectPropertySchema: _choices,
}
"""The check of each type of field: it returns why a value does not fit, or `None`."""
