"""Emacs Lisp objects to JSON texts: a printed list of association lists, with shared structure.

Emacs prints messages that its JSON parser made: an object is an association list or a property
list, an array is a vector, `t` is true, `:false` and `:null` are themselves. `nil` may have been
false, null or an empty object; it is read as null, which the protocol takes for absent wherever it
allows that. `#1=` names the object behind it, and `#1#` stands for that object again.

The elements of the outermost list are read one after another, so that a file may be longer than
memory; only named objects are kept. Nothing is evaluated, nothing recurses, and what the names
stand for is limited, because a few bytes of names could stand for any amount of text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import attrs

from .._json import NotJson, encode
from .frames import Tally, Value
from .json_texts import read_block

_MOST_REPEATED: Final = 64 * 1024 * 1024
"""Bytes that names may stand for in one recording."""

_LONGEST_NUMBER: Final = 400

_RUN: Final = re.compile(
    rb'(?:[^"()\[\];\\]++|"(?:[^"\\]++|\\.)*+"|\\.|;[^\n]*+\n)*+(?:([(\[]++)|([)\]]++))', re.DOTALL
)
"""The next brackets, as many as follow each other."""

_TOKEN: Final = re.compile(
    rb"""(?P<blank>\s+|;[^\n]*|['`,])
    |"(?P<text>(?:[^"\\]|\\.)*)"
    |\#(?P<name>\d+)=
    |\#(?P<again>\d+)\#
    |(?P<open>\#?[(\[])
    |(?P<close>[\])])
    |(?P<atom>(?:[^\s"()\[\];'`,\\]|\\.)+)""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER: Final = re.compile(rb"[-+]?\d+\.?|[-+]?\d*\.\d+(?:e[-+]?\d+)?|[-+]?\d+e[-+]?\d+")
_ESCAPE: Final = re.compile(
    rb"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,6})(?:\\ )?|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))",
    re.DOTALL,
)
_SINGLE: Final = {
    b"a": b"\a",
    b"b": b"\b",
    b"d": b"\x7f",
    b"e": b"\x1b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"s": b" ",
    b"t": b"\t",
    b"v": b"\v",
    b" ": b"",
    b"\n": b"",
}
_CONSTANTS: Final[dict[str, Any]] = {
    "nil": None,
    "t": True,
    ":false": False,
    ":json-false": False,
    ":null": None,
    ":json-null": None,
}


def objects(read: Callable[[int], bytes], tally: Tally) -> Iterator[Value]:
    """Return the JSON texts of the objects in a printed list, numbered from 1.

    An object that cannot be read is passed over; a list without its end is torn.
    """
    names = _Names()
    for number, text in enumerate(_elements(read, tally), 1):
        try:
            yield number, encode(_Parser(text, names).parse())
        except NotJson:
            tally.pass_over()


def _elements(read: Callable[[int], bytes], tally: Tally) -> Iterator[bytes]:
    """Cut out the elements of the outermost list, or the lists of a file that has no such list."""
    buffer, position, depth, outermost = b"", 0, 0, 0
    start: int | None = None  # of the element that is open
    while True:
        run = _RUN.match(buffer, position)
        if run is None:
            done = position if start is None else start
            more = read_block(read, len(buffer) - done)
            if not more:
                break
            buffer, position = buffer[done:] + more, position - done
            start = None if start is None else 0
            continue
        opened, closed = len(run[1] or b""), len(run[2] or b"")
        if depth == 0 and opened:
            outermost = _depth_of_elements(buffer[run.start(1) :]) if start is None else outermost
        if start is None and depth + opened > outermost:
            start = run.start(1) + outermost - depth
        depth = max(0, depth + opened - closed)
        position = run.end()
        if start is not None and closed and depth <= outermost:
            yield buffer[start : position - (outermost - depth)]
            start = None
    tally.torn |= depth > 0


def _depth_of_elements(head: bytes) -> int:
    """Return 1 for a list of association lists, 0 for association lists one after another."""
    return 0 if re.match(rb"\(\s*\(\s*[^\s()\[\]]+\s+\.\s", head) else 1


@attrs.frozen
class _Node:
    """An object that was read: as a value, and as a pair of a key and its value if it can be one.

    `(a (b . 1))` is the pair of `a` and `{"b": 1}` in an association list, and a list elsewhere.
    """

    value: Any
    pair: tuple[str, Any] | None = None
    symbol: str = ""


@attrs.define
class _Names:
    """The named objects of a recording, each with the bytes that it stands for."""

    nodes: dict[bytes, tuple[_Node, int]] = attrs.field(factory=dict)
    repeated: int = 0

    def again(self, name: bytes) -> _Node:
        """Return the object of a name. Raises `NotJson` for an unknown one, and for too many."""
        if name not in self.nodes:
            raise NotJson("an unknown name, or an object that contains itself")
        node, size = self.nodes[name]
        if self.repeated + size > _MOST_REPEATED:
            raise NotJson("names that stand for too much")
        self.repeated += size
        return node


_Waiting = list[tuple[bytes, int]]
"""Names whose object has not been read to its end, and where it begins."""


@attrs.define
class _Open:
    """A list or vector whose end has not been reached."""

    bracket: bytes = b""
    waiting: _Waiting = attrs.field(factory=list)
    nodes: list[_Node] = attrs.field(factory=list)


class _Parser:
    """Parses one object, with an explicit stack."""

    def __init__(self, text: bytes, names: _Names) -> None:
        self._text = text
        self._names = names
        self._stack = [_Open()]
        self._waiting: _Waiting = []
        self._position = 0

    def parse(self) -> Any:
        """Return the value of the object."""
        while self._position < len(self._text):
            token = _TOKEN.match(self._text, self._position)
            if token is None:
                raise NotJson("not an Emacs Lisp object")
            self._position = token.end()
            if token.lastgroup != "blank":
                self._take(token)
        return self._stack[0].nodes[0].value

    def _take(self, token: re.Match[bytes]) -> None:
        if token["name"]:
            self._waiting.append((token["name"], token.start() + self._names.repeated))
        elif token["open"]:
            self._stack.append(_Open(token["open"], self._waiting))
            self._waiting = []
        elif token["close"]:
            closed = self._stack.pop()
            if not self._stack:
                raise NotJson("brackets do not match")
            self._keep(_closed(closed), closed.waiting)
        else:
            node = self._names.again(token["again"]) if token["again"] else _atom(token)
            self._keep(node, self._waiting)

    def _keep(self, node: _Node, waiting: _Waiting) -> None:
        end = self._position + self._names.repeated
        self._names.nodes |= {name: (node, end - begin) for name, begin in waiting}
        self._waiting = []
        self._stack[-1].nodes.append(node)


def _closed(closed: _Open) -> _Node:
    if closed.bracket == b"(":
        return _list(closed.nodes)
    if closed.bracket == b"#(":  # a string with its text properties
        return closed.nodes[0] if closed.nodes else _Node("")
    return _Node([node.value for node in closed.nodes])


def _list(nodes: list[_Node]) -> _Node:
    if len(nodes) == 3 and nodes[1].symbol == ".":
        return _Node([nodes[0].value, nodes[2].value], _pair(nodes[0], nodes[2].value))
    is_pair = bool(nodes) and nodes[0].symbol
    return _Node(_value(nodes), _pair(nodes[0], _value(nodes[1:])) if is_pair else None)


def _pair(key: _Node, value: Any) -> tuple[str, Any] | None:
    name = key.symbol or key.value
    return (name.removeprefix(":"), value) if isinstance(name, str) else None


def _value(nodes: list[_Node]) -> Any:
    """Return what a list is: an object if its elements are pairs, or keywords and values."""
    if not nodes:
        return None
    if all(node.symbol.startswith(":") for node in nodes[::2]) and len(nodes) % 2 == 0:
        return _object(
            [_pair(key, node.value) for key, node in zip(*[iter(nodes)] * 2, strict=True)]
        )
    if all(node.pair for node in nodes):
        return _object([node.pair for node in nodes])
    return [node.value for node in nodes]


def _object(pairs: list[tuple[str, Any] | None]) -> dict[str, Any]:
    """Make an object; the first of duplicate keys wins, as it does in Emacs."""
    found: dict[str, Any] = {}
    for key, value in filter(None, pairs):
        found.setdefault(key, value)
    return found


def _atom(token: re.Match[bytes]) -> _Node:
    if token["text"] is not None:
        return _Node(_ESCAPE.sub(_unescaped, token["text"]).decode("utf-8", "replace"))
    text = token["atom"]
    if _NUMBER.fullmatch(text):
        return _Node(_number(text))
    symbol = re.sub(rb"\\(.)", rb"\1", text, flags=re.DOTALL).decode("utf-8", "replace")
    return _Node(_CONSTANTS.get(symbol, symbol.removeprefix(":")), symbol=symbol)


def _number(text: bytes) -> int | float:
    if len(text) > _LONGEST_NUMBER:
        raise NotJson("a number that is too long")
    return float(text) if set(text) & set(b".eE") else int(text)


def _unescaped(escape: re.Match[bytes]) -> bytes:
    octal, *hexadecimal, single = escape.groups()
    if octal:
        return bytes((int(octal, 8) & 255,))
    for digits in filter(None, hexadecimal):
        code = int(digits, 16)
        is_character = code < 0x110000 and not 0xD800 <= code < 0xE000
        return (chr(code) if is_character else "\ufffd").encode()
    return _SINGLE.get(single, single)
