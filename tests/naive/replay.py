"""A recording played back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .connection import LINE_LIMIT, Naive
from .recordings import Frame
from .rules import ALL


def replay(
    frames: Iterable[Frame], limit: int = LINE_LIMIT, rules: frozenset[str] = ALL
) -> dict[str, Any]:
    """Return the document of `(sent, data)` frames.

    A third element is the line number, else frames are counted from 1; a true fourth one says that
    the line was not terminated.
    """
    naive = Naive(limit, rules)
    for number, frame in enumerate(frames, 1):
        rest: Frame = (number, False)[len(frame) - 2 :]
        sent, data, line, unterminated = frame + rest
        if sent:
            naive.sent(data)
        else:
            naive.receive(data, line, unterminated)
    return naive.document()
