"""What a proxy of a chain forwards, without what was put around it.

A proxy talks to its client in plain messages, and to its successor in messages that are wrapped in
`proxy/successor`. A recording of both halves holds the conversation twice: then the plain half is
it, and the wrapped half, with its responses, is passed over. A recording of wrapped messages alone
is the conversation with the successor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import attrs
import msgspec

from .._json import NotJson
from .directions import call_sent, unwrapped
from .frames import Frame, Tally
from .json_slices import Members, members
from .messages import message

_MARK: Final = b"proxy/successor"
_NOTHING: Final = msgspec.Raw(b"")


def without_wrapping(frames: Iterator[Frame], tally: Tally) -> Iterator[Frame]:
    """Return the frames with forwarded messages taken out of their wrapping."""
    is_plain = False
    forwarded: set[tuple[bytes, bool]] = set()
    for frame in frames:
        inner = _inner(frame.data) if _MARK in frame.data else None
        if inner is not None and not is_plain:
            yield attrs.evolve(frame, data=_message(inner))
        elif inner is not None:
            tally.pass_over()
            if "id" in inner:
                forwarded.add((bytes(inner["id"]), frame.sent))
        elif forwarded and _request_answered_by(frame) in forwarded:
            tally.pass_over()
            forwarded.discard(_request_answered_by(frame))
        else:
            is_plain = is_plain or _is_call(frame.data)
            yield frame


def _inner(data: bytes) -> Members | None:
    try:
        found = members(data)
    except NotJson:
        return None
    inner = unwrapped(found)
    return None if inner is found else inner


def _message(inner: Members) -> bytes:
    keys = ("id", "method", "params")
    return message(**{key: bytes(inner[key]) for key in keys if key in inner})


def _is_call(data: bytes) -> bool:
    """Return whether a message is a call of the conversation; `initialize` is a proxy's own too."""
    return call_sent(data) is not None and b'"initialize"' not in data


def _request_answered_by(frame: Frame) -> tuple[bytes, bool]:
    """Return the id of the request that a response answers, and whether the client sent that."""
    try:
        found = members(frame.data)
    except NotJson:
        return b"", False
    return b"" if "method" in found else bytes(found.get("id", _NOTHING)), not frame.sent
