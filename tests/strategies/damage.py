"""Damage by value (a node replaced, dropped, added), by text (a key twice, odd tokens), by byte."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from .builders import anything
from .choices import Choices, Json, JsonObject
from .junk import BAD_BYTES, LOG_LINES, cut, insert, trimmable
from .writing import TOKEN, TOKEN_TEXTS, TWICE

Path: TypeAlias = tuple[str | int, ...]


# Wrong in value rather than in type: what a field of that name must not hold.
_BAD_VALUES: dict[str | int, tuple[Json, ...]] = {
    "updatedAt": ("yesterday", "2026-02-30T09:00:00Z", "2026-03-01T09:00:00", "2026-03-01T09:00Z"),
    "data": ("%%%", "aGk=\n", "a b=", "_-8=", "A"),
    "used": (-1, 1.5, "1", True),
    "size": (-5, 0.5, {"cols": 0, "rows": 1}, {"cols": 65_536, "rows": 1}, [80, 24]),
    "cols": (0, 65_536, -80, 1.5),
    "line": (0, 1.5, 2**32, -1),
    "exitCode": ("0", 1.5, True),
    "exitStatus": (0, [], "done"),
    "priority": (2, -0.1, "high"),
    "code": (1.5, 2**31, "x"),
    "title": ("", 42),
    "options": ([], [5], {}),
    "cancel": (True, 0),
    "content": ("x", [5, {"type": "text"}, {"type": "text", "text": "kept"}], {"type": "text"}),
    "background": ("x", [{"type": "terminal"}], [5]),
    "currentValue": ("true", 1),
    "messageId": (7, None),
    "jsonrpc": ("1.0", 2),
    "id": (None, {}, 1.5, True, []),
}
_ADDED_KEYS = ("extra", "error", "stopReason", "id", "result", "title", "content", "__proto__")


def _paths(node: Json) -> list[Path]:
    """List the way to every node below the root, parents first."""
    found: list[Path] = []
    waiting: list[tuple[Path, Json]] = [((), node)]
    while waiting:
        path, parent = waiting.pop()
        for key, child in _children(parent):
            found.append((*path, key))
            waiting.append(((*path, key), child))
    return found


def _children(node: Json) -> Iterable[tuple[str | int, Json]]:
    if isinstance(node, dict):
        return node.items()
    return enumerate(node) if isinstance(node, list) else ()


def _at(node: Json, path: Path, change: Callable[[Json], Json]) -> Json:
    """Copy the tree with one node changed; nothing of the old tree is written to."""
    if not path:
        return change(node)
    copy = node.copy()
    copy[path[0]] = _at(copy[path[0]], path[1:], change)
    return copy


def _wrong(choices: Choices, key: str | int) -> Json:
    if key in _BAD_VALUES and not choices.one_in(3):
        return choices.pick(_BAD_VALUES[key])
    return anything(choices)


def _replace(choices: Choices, tree: Json, path: Path) -> Json:
    wrong = _wrong(choices, path[-1])
    return _at(tree, path, lambda _: wrong)


def _drop(choices: Choices, tree: Json, path: Path) -> Json:
    def without(parent: Json) -> Json:
        if isinstance(parent, list):
            return parent[: int(path[-1])] + parent[int(path[-1]) + 1 :]
        return {key: value for key, value in parent.items() if key != path[-1]}

    return _at(tree, path[:-1], without)


def _add(choices: Choices, tree: Json, path: Path) -> Json:
    extra = anything(choices)

    def added(parent: Json) -> Json:
        if isinstance(parent, list):
            return [extra, *parent]
        return {**parent, choices.pick(_ADDED_KEYS): extra}

    return _at(tree, path[:-1], added)


def _splice(choices: Choices, tree: Json, path: Path) -> Json:
    token = f"{TOKEN}{choices.below(len(TOKEN_TEXTS))}"
    return _at(tree, path, lambda _: token)


def _duplicate(choices: Choices, tree: Json, path: Path) -> Json:
    """Give a key a second value, before the first one or after it, where it wins."""
    if not isinstance(path[-1], str):
        return _replace(choices, tree, path)
    twin = {f"{path[-1]}{TWICE}": _wrong(choices, path[-1])}
    first = choices.one_in(2)
    return _at(tree, path[:-1], lambda parent: twin | parent if first else parent | twin)


Mutation: TypeAlias = Callable[[Choices, Json, Path], Json]
VALUE_MUTATIONS: tuple[Mutation, ...] = (_replace, _drop, _add)
MUTATIONS: tuple[Mutation, ...] = (_replace, _replace, _drop, _add, _splice, _duplicate)


def mutated(choices: Choices, tree: JsonObject, mutations: Sequence[Mutation]) -> JsonObject:
    paths = _paths(tree)
    if not paths:
        return tree
    if choices.one_in(2):  # where a field is picky, more often than chance would have it
        paths = [path for path in paths if path[-1] in _BAD_VALUES] or paths
    path = paths[choices.wide() % len(paths)]
    mutated: JsonObject = choices.pick(mutations)(choices, tree, path)
    return mutated


def damaged(choices: Choices, line: bytes) -> bytes:
    return choices.pick(_LINE_DAMAGES)(choices, line)


_LINE_DAMAGES: tuple[Callable[[Choices, bytes], bytes], ...] = (
    cut,
    trimmable,
    lambda choices, line: insert(choices, line, choices.pick(BAD_BYTES)),
    lambda choices, line: insert(choices, line, choices.pick((b"\x00", b"\r", b",", b'"', b"\\"))),
    lambda choices, line: line + line,
    lambda choices, line: choices.pick(LOG_LINES) + b" " + line,
)
