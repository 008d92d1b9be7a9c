"""`Limits`: how much of a peer's output a store keeps, with documented defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import attrs

from ._errors import InvalidValueError


def _at_least(least: int, *, or_none: bool = False) -> Callable[[Any, Any, Any], None]:
    def check(_: Any, limit: Any, value: Any) -> None:
        if value is None and or_none:
            return
        if type(value) is not int or value < least:
            raise InvalidValueError(
                f"{limit.name} must be a whole number from {least} on: {value!r}"
            )

    return check


@attrs.frozen(kw_only=True)
class Limits:
    """How much is kept of what a peer sends.

    `line_length`: bytes of one line; a longer one is skipped to its end (32 MiB).
    `problems`: problems kept, the oldest go first (1,000); they are counted for ever.
    `notices`: notices kept per session, the oldest go first (100).
    `terminal_bytes`: output bytes kept per terminal, the oldest go first; `None` keeps all.

    Nesting is limited to 1,000 levels, always. Raises `InvalidValueError` for what is no limit.
    """

    line_length: int = attrs.field(default=32 * 1024 * 1024, validator=_at_least(1))
    problems: int = attrs.field(default=1000, validator=_at_least(0))
    notices: int = attrs.field(default=100, validator=_at_least(0))
    terminal_bytes: int | None = attrs.field(default=None, validator=_at_least(0, or_none=True))


DEFAULT_LIMITS: Final = Limits()
