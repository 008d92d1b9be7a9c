"""The memory that a store keeps, in bytes by purpose: a walk over everything in its snapshots.

Versions of a session share most of their objects, so every object is counted once, where it is met
first. The class that holds an object decides its purpose: the bytes under a `Terminal` are output,
those of a `Json` are raw, and so on down, until another class of the table comes.

A store may be measured often and have millions of objects. So the walk goes by columns: objects of
one class are taken together, then the values of each of their fields, in loops of the interpreter.
An object with a single reference cannot be met twice, so only the others are remembered. The walk
changes nothing: where reading an attribute would create an object (a `__dict__`, a cached value),
the garbage collector's view of the object is used.

The sizes are those that the interpreter requests. The overhead of its allocator and objects that
only the caller keeps are not counted.
"""

from __future__ import annotations

import gc
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, compress
from operator import attrgetter, not_
from sys import getrefcount, getsizeof
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

import attrs
from msgspec import Struct

from . import wire
from ._errors import Problem
from ._items import Items
from ._json import Json
from ._snapshot import Compaction, Entries, Message, Terminal, Terminals, ToolCall, UnknownEntry

Category = Literal["text", "terminals", "raw", "problems", "other"]


@attrs.frozen(kw_only=True)
class Memory:
    """Bytes of memory by what they are kept for; `total` is their sum.

    `text`: messages, thoughts, tool calls and summaries with their ids and content, except raw
    values.
    `terminals`: terminals and their output, and the transcript once it was read.
    `raw`: unknown updates, tool input and output, `_meta`: everything that is kept as JSON.
    `problems`: the problems that are kept.
    `other`: sessions and their lists, prompts, permissions, unfinished lines, requests.
    """

    text: int = 0
    terminals: int = 0
    raw: int = 0
    problems: int = 0
    other: int = 0

    @property
    def total(self) -> int:
        """The sum of all purposes, in bytes."""
        return self.text + self.terminals + self.raw + self.problems + self.other


_Purpose: TypeAlias = Category | Literal["places"]
"""The purpose of an object; `places` is the structure of `Entries` without the entries."""

_CATEGORIES: Final[tuple[Category, ...]] = get_args(Category)

_PURPOSES: Final[dict[type, _Purpose]] = {
    Entries: "places",
    Message: "text",
    ToolCall: "text",
    Compaction: "text",
    UnknownEntry: "raw",
    Terminals: "terminals",
    Terminal: "terminals",
    Items: "raw",  # the `_meta` of chunks; other items are of classes of their own
    Json: "raw",
    wire.JsonObject: "raw",
    wire.Unknown: "raw",
    wire.UnknownStateUpdate: "raw",
    Problem: "problems",
}
"""The purpose of an object and its parts, by the class of the object."""

_ENTRIES: Final = (Message, ToolCall, Compaction, UnknownEntry)

_MOST: Final = 4096
"""The number of objects taken at once, which bounds the memory of the walk itself."""


def memory_of(roots: Iterable[Any]) -> Memory:
    """Measure everything that can be reached from some objects of this package, each once.

    Objects that several of them share are counted for the first one.
    """
    walk = _Walk()
    for root in roots:
        walk.take(root)
    return walk.memory()


class _Group(NamedTuple):
    """Objects of one class that are still to be counted."""

    purpose: _Purpose
    kind: type
    values: list[Any]


class _Walk:
    """A walk over objects, with the bytes counted so far."""

    def __init__(self) -> None:
        self._counted: Counter[_Purpose] = Counter()
        self._entries: Counter[_Purpose] = Counter()
        self._met: set[int] = set()
        self._columns: dict[type, _Columns | None] = {}
        self._waiting: list[_Group] = []

    def memory(self) -> Memory:
        """Return the counted bytes; those of `places` are divided by the number of entries."""
        places, entries = self._counted["places"], self._entries or Counter({"other": 1})
        return Memory(
            **{
                category: self._counted[category] + places * entries[category] // entries.total()
                for category in _CATEGORIES
            }
        )

    def take(self, root: Any) -> None:
        """Count everything that can be reached from an object."""
        self._waiting += self._groups("other", [root])
        while self._waiting:
            purpose, kind, values = self._waiting.pop()
            if len(values) > _MOST:
                self._waiting.append(_Group(purpose, kind, values))
                values = _taken_off(values)
            self._count(purpose, kind, self._news(values))

    def _count(self, purpose: _Purpose, kind: type, values: list[Any]) -> None:
        self._counted[purpose] += sum(map(getsizeof, values))
        if kind in _ENTRIES:
            self._entries[purpose] += len(values)
        columns = self._columns[kind] or _nothing
        groups = [group for part in columns(values) for group in self._groups(purpose, part)]
        self._waiting += reversed(groups)  # the first is the next to be taken

    def _groups(self, purpose: _Purpose, values: list[Any]) -> Iterator[_Group]:
        """Group objects by class, leaving out those of classes that are not counted."""
        kinds = dict.fromkeys(map(type, values))
        for kind in kinds:
            if kind not in self._columns:
                self._columns[kind] = _columns_of(kind)
            if self._columns[kind] is not None:
                same = values if len(kinds) == 1 else [it for it in values if type(it) is kind]
                yield _Group(_PURPOSES.get(kind, purpose), kind, same)

    def _news(self, values: list[Any]) -> list[Any]:
        """Return the objects that have not been met before."""
        is_shared = list(map(_SOLE.__lt__, map(getrefcount, values)))
        if True not in is_shared:
            return values
        shared = list(compress(values, is_shared))
        found = dict(zip(map(id, shared), shared, strict=True))
        news = set(found) - self._met
        self._met |= news
        return [*compress(values, map(not_, is_shared)), *map(found.__getitem__, news)]


def _taken_off(values: list[Any]) -> list[Any]:
    last = values[-_MOST:]
    del values[-_MOST:]
    return last


def _sole() -> int:
    """Return the reference count of an object in a list, if one other object refers to it."""
    holder = [object()]
    return max(map(getrefcount, list(holder)))


_SOLE: Final = _sole()


# --- What objects hold ---

_Columns: TypeAlias = Callable[[list[Any]], Iterable[list[Any]]]
"""Yields what objects of one class hold, as lists of the values of one field or of several."""

_FLAT: Final = (str, bytes, bytearray, int, float)
_SEQUENCES: Final = (tuple, list, deque, set, frozenset)


def _columns_of(kind: type) -> _Columns | None:
    """Return the function that yields the parts of a class's objects; `None` if not counted."""
    if issubclass(kind, _FLAT):
        return _nothing
    if issubclass(kind, _SEQUENCES):
        return _items
    if issubclass(kind, dict):
        return _keys_and_values
    if not kind.__module__.startswith(f"{__package__}.") or issubclass(kind, type):
        return None
    if issubclass(kind, Struct) and not kind.__struct_config__.gc:
        return partial(_fields, kind.__struct_fields__)
    return _referents


def _nothing(_: list[Any]) -> Iterable[list[Any]]:
    return ()


def _items(values: list[Any]) -> Iterator[list[Any]]:
    yield list(chain.from_iterable(values))


def _keys_and_values(values: list[Any]) -> Iterator[list[Any]]:
    yield list(chain.from_iterable(values))
    yield list(chain.from_iterable(map(dict.values, values)))


def _fields(names: Iterable[str], values: list[Any]) -> Iterator[list[Any]]:
    for name in names:
        yield list(map(attrgetter(name), values))


def _referents(values: list[Any]) -> Iterator[list[Any]]:
    yield list(chain.from_iterable(map(gc.get_referents, values)))
