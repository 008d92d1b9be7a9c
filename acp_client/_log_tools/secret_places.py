"""Where secrets are by the structure of a message, whatever they look like.

Headers, variables of an environment, values under names that say so, the option behind `--token`,
what a login carries, and what a user entered into a form. `Places` follows the requests of both
sides, since only a request says what its answer is about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import attrs

from .leaves import Path, at, leaves
from .secret_patterns import names_a_secret

_PAIRS: Final = {
    "headers": "header",
    "httpHeaders": "header",
    "env": "environment",
    "environment": "environment",
}
"""Keys of lists of names with values, or of objects, and the rule for their values."""

_LOGINS: Final = frozenset({"authenticate", "auth/login", "auth/logout", "auth/status", "logout"})
_NOT_SECRET: Final = frozenset({"methodId", "type", "status", "state"})
"""Keys of a login that say how, and not who or with what."""


@attrs.frozen
class Place:
    """A leaf that is to be replaced as a whole; `learned` is looked for elsewhere, too."""

    path: Path
    rule: str
    learned: str | None = None


class Places:
    """Finds the secret places of one message after another."""

    def __init__(self) -> None:
        self._requests: dict[tuple[bool, str], str] = {}

    def of(self, message: Any, sent: bool) -> Iterator[Place]:
        """Return the places in what the client sent, or the agent."""
        if isinstance(message, list):
            for place, each in enumerate(message):
                for found in self.of(each, sent) if isinstance(each, dict) else ():
                    yield attrs.evolve(found, path=(place, *found.path))
        elif isinstance(message, dict):
            yield from self._of_call(message, self._method(message, sent))
            yield from _named(message)

    def _method(self, message: dict[str, Any], sent: bool) -> str:
        """Return the method of a call, or of the request that an answer is for."""
        method, key = message.get("method"), repr(message.get("id"))
        if not isinstance(method, str):
            return self._requests.pop((not sent, key), "")
        if "id" in message:
            self._requests[sent, key] = method
        return method

    def _of_call(self, message: dict[str, Any], method: str) -> Iterator[Place]:
        if method in _LOGINS or method == "auth/status_update":
            for part in ("params", "result"):
                yield from _entered(message, (part,), "login", learns=part == "result")
        if method == "elicitation/create" and "method" not in message:
            yield from _entered(message, ("result", "content"), "elicitation answer")


def _entered(
    message: dict[str, Any], path: Path, rule: str, *, learns: bool = False
) -> Iterator[Place]:
    for found, leaf in leaves(at(message, *path), path):
        if leaf is not None and found[-1] not in _NOT_SECRET:
            learned = leaf if learns and isinstance(leaf, str) else None
            yield Place(found, rule, _worth_learning(learned))


def _worth_learning(text: str | None) -> str | None:
    """Return the part of a value that is a secret wherever it stands, if there is one."""
    if text is None:
        return None
    words = text.split()  # "Bearer abc" is known by its last word
    return words[-1] if words and len(words) <= 2 and len(words[-1]) >= 8 else None


def _named(message: dict[str, Any]) -> Iterator[Place]:
    """Look at every object and every list, without recursion."""
    todo: list[tuple[Path, Any]] = [((), message)]
    while todo:
        path, item = todo.pop()
        if isinstance(item, dict):
            yield from _of_object(path, item)
            todo += [((*path, key), value) for key, value in item.items()]
        elif isinstance(item, list):
            yield from _of_list(path, item)
            todo += [((*path, place), value) for place, value in enumerate(item)]


def _of_object(path: Path, item: dict[str, Any]) -> Iterator[Place]:
    for key, value in item.items():
        if key in _PAIRS:
            yield from _of_pairs((*path, key), value, _PAIRS[key])
        elif names_a_secret(key):
            yield from _of_named((*path, key), value, "name")
    name, value = item.get("name"), item.get("value")
    if isinstance(name, str) and names_a_secret(name):
        yield from _of_named((*path, "value"), value, "name")


def _of_pairs(path: Path, pairs: Any, rule: str) -> Iterator[Place]:
    if isinstance(pairs, dict):
        for name, value in pairs.items():
            yield from _of_named((*path, name), value, rule, learns=names_a_secret(name))
    for place, pair in enumerate(pairs if isinstance(pairs, list) else ()):
        name, value = at(pair, "name"), at(pair, "value")
        learns = isinstance(name, str) and names_a_secret(name)
        yield from _of_named((*path, place, "value"), value, rule, learns=learns)


def _of_named(path: Path, value: Any, rule: str, *, learns: bool = True) -> Iterator[Place]:
    """Return a string, or the strings of a list; objects are looked at by their own names."""
    if isinstance(value, str):
        yield Place(path, rule, _worth_learning(value) if learns else None)
    for place, one in enumerate(value if isinstance(value, list) else ()):
        if isinstance(one, str):
            yield Place((*path, place), rule, _worth_learning(one) if learns else None)


def _of_list(path: Path, items: list[Any]) -> Iterator[Place]:
    """Find what follows an option that takes a secret, as in `["--token", "abc"]`."""
    for place in range(len(items) - 1):
        option, value = items[place], items[place + 1]
        is_option = isinstance(option, str) and option.startswith("-")
        if is_option and "=" not in option and names_a_secret(option) and isinstance(value, str):
            yield Place((*path, place + 1), "command line option", _worth_learning(value))
