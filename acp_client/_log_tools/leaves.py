"""The leaves of a JSON value, each with its path, and a value with some of them replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

Path = tuple[str | int, ...]


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Return the strings, numbers and names of a value with their paths, in order.

    It works without recursion, since a peer may nest as it likes.
    """
    todo: list[tuple[Path, Any]] = [(path, value)]
    while todo:
        here, item = todo.pop()
        if isinstance(item, dict):
            todo += [((*here, key), item[key]) for key in reversed(item)]
        elif isinstance(item, list):
            todo += [((*here, place), item[place]) for place in reversed(range(len(item)))]
        else:
            yield here, item


def changed(value: Any, leaf: Callable[[Path, Any], Any], name: Callable[[str], str]) -> Any:
    """Return a value with each leaf and each name as the functions say."""
    return _Changing(leaf, name).value((), value)


class _Changing:
    def __init__(self, leaf: Callable[[Path, Any], Any], name: Callable[[str], str]) -> None:
        self._leaf = leaf
        self._name = name

    def value(self, path: Path, value: Any) -> Any:
        if isinstance(value, dict):
            return {self._name(key): self.value((*path, key), value[key]) for key in value}
        if isinstance(value, list):
            return [self.value((*path, place), item) for place, item in enumerate(value)]
        return self._leaf(path, value)


def at(value: Any, *path: str | int) -> Any:
    """Return what is at a path, or `None` where there is nothing."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def text_at(value: Any, *path: str | int) -> str:
    """Return the string that is at a path, empty where there is none."""
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def written(path: Path) -> str:
    """Write a path as `$.params.update[0]`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "$" + "".join(steps)
