"""`Limits`: how much of a peer's output a store keeps, with documented defaults."""

from __future__ import annotations

from typing import Any, Final

import attrs
from attrs.validators import ge, instance_of, optional


def _at_least(least: int) -> list[Any]:
    return [instance_of(int), ge(least)]


@attrs.frozen(kw_only=True)
class Limits:
    """How much is kept of what a peer sends.

    `line_length`: bytes of one line; a longer one is skipped to its end (32 MiB).
    `problems`: problems kept, the oldest go first (1,000); they are counted for ever.
    `notices`: notices kept per session, the oldest go first (100).
    `terminal_bytes`: output bytes kept per terminal, the oldest go first; `None` keeps all.

    Nesting is limited to 1,000 levels, always.
    """

    line_length: int = attrs.field(default=32 * 1024 * 1024, validator=_at_least(1))
    problems: int = attrs.field(default=1000, validator=_at_least(0))
    notices: int = attrs.field(default=100, validator=_at_least(0))
    terminal_bytes: int | None = attrs.field(default=None, validator=optional(_at_least(0)))


DEFAULT_LIMITS: Final = Limits()
