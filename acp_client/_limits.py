"""`Limits`: how much of a peer's output a store keeps, with documented defaults."""

from __future__ import annotations

import sys
from typing import Final

from msgspec import Struct

from ._errors import InvalidValueError

_LEAST: Final = {
    "line_length": 1,
    "problems": 0,
    "notices": 0,
    "terminal_bytes": 0,
    "open_requests": 1,
}
_LARGEST: Final = sys.maxsize
"""The longest that anything in memory can be."""


class Limits(Struct, frozen=True, kw_only=True):
    """How much is kept of what a peer sends.

    `line_length`: bytes of one line; a longer one is skipped to its end (32 MiB).
    `problems`: problems kept, the oldest go first (1,000); all of them are counted.
    `notices`: notices kept per session, the oldest go first (100).
    `terminal_bytes`: output bytes kept per terminal, the oldest go first; `None` keeps all.
    `open_requests`: requests of the agent that wait for an answer; the next one is refused (1,000).

    Nesting is always limited to 256 levels. Raises `InvalidValueError` for a value that is not an
    integer of at least 0 (`line_length` and `open_requests`: of at least 1).
    """

    line_length: int = 32 * 1024 * 1024
    problems: int = 1000
    notices: int = 100
    terminal_bytes: int | None = None
    open_requests: int = 1000

    def __post_init__(self) -> None:
        """Raise `InvalidValueError` for a value that is not a limit."""
        for name, least in _LEAST.items():
            limit = getattr(self, name)
            if limit is None and name == "terminal_bytes":
                continue
            if type(limit) is not int or not least <= limit <= _LARGEST:
                raise InvalidValueError(
                    f"{name} must be an integer from {least} to {_LARGEST}: {limit!r}"
                )


DEFAULT_LIMITS: Final = Limits()
