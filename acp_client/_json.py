"""JSON that msgspec does not accept, and `Json`, an immutable JSON value.

Agents send JSON that a strict parser refuses and a browser accepts: lone surrogate escapes,
invalid UTF-8, numbers beyond every float. `parse` accepts all of it. It uses msgspec, which reads
nearly every message, or else the standard library, after decoding invalid UTF-8 to U+FFFD and
trimming whitespace. Text that nests deeper than `MAX_DEPTH` is refused before either parser sees
it, so that no peer exhausts the stack of a thread.

Raw payloads (unknown variants, tool input and output, `_meta`) are kept as `Json`: compact UTF-8
text rather than dicts and lists. The holder of a snapshot cannot change the text, the garbage
collector does not track it, and it is compared without recursion and written back unchanged. Two
texts of one value are equal if `encode` made them; `Json` makes its texts in no other way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, NoReturn

import msgspec

from ._errors import checked
from ._text import compiled, escape

MAX_DEPTH: Final = 256
"""Levels of nesting, the outermost container being the first, beyond which text is refused."""

LARGEST_INTEGER: Final = int(1.7976931348623157e308)
"""The largest integer that a float can hold; a browser reads a larger one as infinity."""

_BLANKS = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
_BLANKS += "\u2028\u2029\u202f\u205f\u3000\ufeff"

_INFINITY = float("inf")
_SURROGATE = "[\ud800-\udfff]"
# An unterminated string takes the rest of the text: else each quote would be tried as a beginning.
_CONTAINERS = r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|([\[{])|([\]}])'


class NotJson(ValueError):  # noqa: N818  # says what the text is; never leaves the package
    """The text is not JSON, or not the kind of value that was expected."""


class TooDeep(ValueError):  # noqa: N818  # says what the text is; never leaves the package
    """The text nests deeper than `MAX_DEPTH` levels."""


def parse(data: bytes, *, deepest: int | None = MAX_DEPTH) -> Any:
    """Parse one JSON text of any sender; whitespace around it is trimmed.

    Numbers that no float can hold become `HugeNumber`. Raises `NotJson`, or `TooDeep` for more
    than `deepest` levels (`None`: for more than the stack has room for).
    """
    if deepest is not None and nests_deeper(data, deepest):
        _refuse_depth(trim(data.decode("utf-8", "replace")), deepest)
    try:
        return _decode(data)
    except (msgspec.DecodeError, RecursionError):
        return loads(trim(data.decode("utf-8", "replace")))


def trim(text: str) -> str:
    """Strip what a browser's `trim` strips, a byte order mark included."""
    return text.strip(_BLANKS)


def loads(text: str) -> Any:
    """Parse with the standard library. Raises `NotJson`, or `TooDeep` at the end of the stack."""
    import json  # imported late: well-formed messages do not need it

    try:
        return json.loads(
            text, parse_int=_integer, parse_float=_float, parse_constant=_refuse_constant
        )
    except ValueError as error:
        raise NotJson(str(error)) from None
    except RecursionError:
        raise TooDeep("nests deeper than the stack has room for") from None


def _refuse_constant(name: str) -> NoReturn:
    raise NotJson(f"{name} is not JSON")


def _refuse_depth(text: str, deepest: int) -> NoReturn:
    """Raise `TooDeep` for a text that is JSON up to one level too many, else `NotJson`."""
    open_at: list[int] = []
    for found in compiled(_CONTAINERS, re.DOTALL).finditer(text):
        if found[1]:
            open_at.append(found.start())
        elif found[2] and open_at:
            open_at.pop()
        if len(open_at) > deepest:
            closed = "".join("]" if text[start] == "[" else "}" for start in reversed(open_at))
            loads(text[: found.end()] + closed)
            break
    raise TooDeep(f"nests deeper than {deepest} levels")


def nests_deeper(data: bytes, deepest: int = MAX_DEPTH) -> bool:
    """Return whether containers seem to nest too deep in a text, which may not be JSON."""
    if len(data) <= deepest or data.count(b"[") + data.count(b"{") <= deepest:
        return False
    depth = 0
    for found in compiled(_CONTAINERS.encode(), re.DOTALL).finditer(data):
        if found[1]:
            depth += 1
            if depth > deepest:
                return True
        elif found[2]:
            depth -= 1
    return False


class HugeNumber(float):
    """A number beyond every float: an infinity that knows the digits it was written with."""

    __slots__ = ("text",)

    text: str


def _float(digits: str) -> float:
    value = float(digits)
    if value not in (_INFINITY, -_INFINITY):
        return value
    huge = HugeNumber(value)
    huge.text = digits
    return huge


def _integer(digits: str) -> int | float:
    try:
        return int(digits)
    except ValueError:  # beyond the interpreter's limit of digits, so beyond every float
        return _float(digits)


def text_bytes(text: bytes | bytearray | memoryview | str) -> bytes:
    """Return the bytes of a text. Raises `InvalidValueError` for anything but bytes or a string."""
    if type(text) is bytes:
        return text
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    return bytes(checked(text, bytes | bytearray | memoryview, "bytes or a string"))


def encode(value: Any) -> bytes:
    """Write a value that `parse` made as compact UTF-8 text, the same text for the same value."""
    try:
        return _encode(value)
    except (UnicodeEncodeError, RecursionError):
        return _encode_deep(value)


def _encode_special(value: Any) -> msgspec.Raw:
    """Embed a value that is text already; the hook of the encoder."""
    if isinstance(value, Json):
        return msgspec.Raw(value.text)
    if isinstance(value, HugeNumber):
        return msgspec.Raw(value.text.encode())
    raise TypeError(f"{type(value).__name__} is not a JSON value")


_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(enc_hook=_encode_special).encode


def _encode_deep(value: Any) -> bytes:
    """Write with an explicit stack, and lone surrogates as escapes."""
    pieces: list[str] = []
    todo: list[Any] = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, _Literal):
            pieces.append(item.text)
        elif isinstance(item, dict):
            todo.extend(reversed(_object_parts(item)))
        elif isinstance(item, list | tuple):
            todo.extend(reversed(_array_parts(item)))
        else:
            pieces.append(_scalar_text(item))
    return "".join(pieces).encode()


class _Literal:
    """Punctuation between the values that are still to be written."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


_COMMA, _OPEN_ARRAY, _CLOSE_ARRAY = _Literal(","), _Literal("["), _Literal("]")
_OPEN_OBJECT, _CLOSE_OBJECT, _COLON = _Literal("{"), _Literal("}"), _Literal(":")


def _array_parts(items: Any) -> list[Any]:
    parts: list[Any] = [_OPEN_ARRAY]
    for item in items:
        parts += (item, _COMMA)
    return [*(parts[:-1] if len(parts) > 1 else parts), _CLOSE_ARRAY]


def _object_parts(items: dict[str, Any]) -> list[Any]:
    parts: list[Any] = [_OPEN_OBJECT]
    for key, item in items.items():
        parts += (key, _COLON, item, _COMMA)
    return [*(parts[:-1] if len(parts) > 1 else parts), _CLOSE_OBJECT]


def _scalar_text(value: Any) -> str:
    if isinstance(value, str) and compiled(_SURROGATE).search(value):
        text: str = compiled(_SURROGATE).sub(_escaped, _encode_str(value))
        return text
    return _encode(value).decode()


def _escaped(surrogate: re.Match[str]) -> str:
    return f"\\u{ord(surrogate[0]):04x}"


def _encode_str(value: str) -> str:
    """Escape a string, leaving its surrogates as they are."""
    halves = compiled(_SURROGATE).split(value)
    surrogates = [*compiled(_SURROGATE).findall(value), ""]
    inner = (_encode(half).decode()[1:-1] for half in halves)
    return (
        '"' + "".join(part for pair in zip(inner, surrogates, strict=True) for part in pair) + '"'
    )


class Json:
    """An immutable JSON value of any shape, kept as its text.

    `Json({"a": 1}).value` is a new Python value on each access (the text is parsed each time, so
    keep the value for a second use); changing it does not change this object. `text` is compact
    UTF-8. Equality is equality of the texts: `1` and `1.0` differ, and so do objects whose keys
    come in another order.
    """

    __slots__ = ("text",)

    text: bytes

    def __init__(self, value: Any) -> None:
        # msgspec leaves unused space after its output; the copy has none
        _set_text(self, b"".join((encode(value), b"")))

    @classmethod
    def from_text(cls, text: bytes) -> Json:
        """Wrap text that `encode` made, unchecked."""
        made = cls.__new__(cls)
        _set_text(made, text)
        return made

    @property
    def value(self) -> Any:
        """The value as Python objects: dict, list, str, int, float, bool, None."""
        return parse(self.text, deepest=None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Json is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("Json is immutable")

    def __eq__(self, other: object) -> bool:
        return self.text == other.text if isinstance(other, Json) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        text = self.text[:300].decode("utf-8", "ignore")
        return f"Json({escape(text if len(text) <= 60 else text[:57] + '...')})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.text,))


# Sets the only field without a look-up: cheaper than `object.__setattr__` (benchmark "unknown").
_set_text: Final[Callable[[Json, bytes], None]] = Json.__dict__["text"].__set__


def _restore(text: bytes) -> Json:
    return Json.from_text(encode(parse(text, deepest=None)))


def with_members(text: bytes, more: Json) -> bytes | None:
    """Return the text of an object with more members after its own.

    Returns `None` if one of the keys may exist already, is escaped, or has the value `null`. Only
    the new members are parsed.
    """
    if b"\\" in text or b"\\" in more.text or text == b"{}":
        return None
    members = more.value
    if not members or any(value is None for value in members.values()):
        return None
    if any(encode(key) in text for key in members):
        return None
    return b"%b,%b" % (text[:-1], more.text[1:])
