"""Short representations of values, and `Value`, the base of the frozen attrs classes.

A session may hold megabytes, and a debugger or a REPL shows the values of variables. So a value
shows its class and its non-empty fields, each shortened.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import attrs
from msgspec import Struct

_LONGEST: Final = 300
"""The length, in characters, of a whole value; one more field may exceed it."""

_LONGEST_FIELD: Final = 80
_LONGEST_TEXT: Final = 40


def short_repr(self: Any) -> str:
    """Return the class of a value and its non-empty fields, shortened."""
    return f"{type(self).__name__}({_joined(_fields(self), _LONGEST)})"


def short_items(value: Any) -> str:
    """Return the class of a sequence and its first items, shortened; if cut, with their number."""
    items = _joined(map(_short, value), _LONGEST)
    count = f", {len(value)} in all" if items.endswith("...") else ""
    return f"{type(value).__name__}([{items}]{count})"


def _joined(parts: Iterator[str], longest: int) -> str:
    """Join parts with commas as long as there is room."""
    shown: list[str] = []
    for part in parts:
        if sum(map(len, shown)) > longest:
            return ", ".join([*shown, "..."])
        shown.append(part)
    return ", ".join(shown)


def _fields(value: Any) -> Iterator[str]:
    kind: Any = type(value)
    names = kind.__struct_fields__ if isinstance(value, Struct) else _attributes(kind)
    for name in names:
        field = getattr(value, name)
        is_said = field is not None and field is not False and not _is_empty(field)
        if is_said and not name.startswith("_"):
            yield f"{name}={_short(field)}"


def _attributes(kind: Any) -> list[str]:
    return [item.name for item in attrs.fields(kind)]


def _is_empty(field: Any) -> bool:
    return hasattr(field, "__len__") and len(field) == 0


def _short(field: Any) -> str:
    """Return a field in one short piece."""
    if isinstance(field, str | bytes):
        cut = field[:_LONGEST_TEXT]
        return repr(cut) if len(cut) == len(field) else f"{cut!r}... ({len(field)})"
    if isinstance(field, Mapping):
        text = repr(dict(field))
    elif hasattr(field, "_fields"):  # a named tuple
        text = repr(field)
    elif isinstance(field, tuple | list) and len(field) <= 2:
        text = f"({', '.join(map(_short, field))})"
    elif hasattr(field, "__len__"):
        return f"<{len(field)} items>" if len(field) != 1 else f"<{_short(next(iter(field)))}>"
    else:
        text = repr(field)
    return text if len(text) <= _LONGEST_FIELD else f"{text[:_LONGEST_FIELD]}..."


class Value:
    """The base of the frozen attrs classes: one `repr`, and weak references."""

    __slots__ = ("__weakref__",)

    __repr__ = short_repr
