"""What a store keeps, in bytes, by what it is: a walk over everything that its snapshots hold.

Versions of a session share nearly all they have, so every object is counted once, where it is met
first. What an object is for is told by the class that holds it: the bytes under a `Terminal` are
output, those of a `Json` are raw, and so on down, until another class of the table comes.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

import attrs
from msgspec import Struct

from . import wire
from ._content import ContentBlocks, OutputBytes, ToolCallContents
from ._errors import Problem
from ._json import Json
from ._snapshot import Terminal

Category = Literal["text", "terminals", "raw", "problems", "other"]


@attrs.frozen(kw_only=True)
class Memory:
    """Bytes of memory by what they are kept for; `total` is their sum.

    `text`: what messages, thoughts, tool calls and summaries hold, other content than text too.
    `terminals`: terminals and their output, and its transcript once it was read.
    `raw`: unknown updates, tool input and output, `_meta`: what is kept as JSON.
    `problems`: the problems that are kept.
    `other`: entries and lists themselves, ids, prompts, permissions, unfinished lines, requests.
    """

    text: int = 0
    terminals: int = 0
    raw: int = 0
    problems: int = 0
    other: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.text + self.terminals + self.raw + self.problems + self.other


_CATEGORIES: Final[dict[type, Category]] = {
    ContentBlocks: "text",
    ToolCallContents: "text",
    Terminal: "terminals",
    OutputBytes: "terminals",
    Json: "raw",
    wire.JsonObject: "raw",
    wire.Unknown: "raw",
    wire.UnknownStateUpdate: "raw",
    Problem: "problems",
}
"""What the parts of an object are for, where its class tells."""


def memory_of(roots: Iterable[Any]) -> Memory:
    """Measure everything that can be reached from some objects of this package, each once."""
    counted: dict[Category, int] = dict.fromkeys(attrs.fields_dict(Memory), 0)  # type: ignore[arg-type]  # the categories
    met: set[int] = set()
    waiting: list[tuple[Any, Category]] = [(root, "other") for root in roots]
    while waiting:
        value, category = waiting.pop()
        if id(value) in met:
            continue
        parts = _parts(value)
        if parts is None:
            continue
        met.add(id(value))
        category = _CATEGORIES.get(type(value), category)
        counted[category] += sys.getsizeof(value)
        waiting += [(part, category) for part in parts if part is not None]
    return Memory(**counted)


def _parts(value: Any) -> Iterable[Any] | None:
    """Return what an object holds; `None` for one that is not counted."""
    if isinstance(value, str | bytes | bytearray | int | float):
        return ()
    if isinstance(value, tuple | list | deque | set | frozenset):
        return tuple(value)
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, Struct):
        return [getattr(value, name) for name in value.__struct_fields__]
    is_ours = type(value).__module__.startswith(__package__) and not isinstance(value, type)
    return list(_attributes(value)) if is_ours else None


def _attributes(value: Any) -> Iterator[Any]:
    """Yield what an object of this package holds in slots and in its dict."""
    for kind in type(value).__mro__:
        names = vars(kind).get("__slots__", ())
        yield from (getattr(value, name, None) for name in names if name != "__weakref__")
    attributes = getattr(value, "__dict__", None)
    if attributes is not None:
        yield attributes
