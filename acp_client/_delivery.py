"""`Delivery`: one step of a session for a renderer, with its changes and its origin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import force_setattr

from ._keyed import Keyed
from ._sequence_diff import common_length
from ._snapshot import Snapshot
from ._value import short_repr

if TYPE_CHECKING:
    from ._changes import Change

T = TypeVar("T")

Origin: TypeAlias = Literal["live", "replay", "local"]
"""The source of changes: the agent's present work, its replayed history, or the client."""


class Delivery(Struct, frozen=True, eq=False):
    """One step of one session, from `old` to `new`.

    `changes` are computed on first access, once for all subscribers. The first delivery of a
    session (`is_first`) has its present snapshot: a renderer has drawn nothing yet, so the only
    change is a `Reset`.

    `origin` is the source of the step. Joined steps are `replay` or `local` if all of them were,
    otherwise `live`. The first delivery is `local`. A read in which a replay ends is `replay` as a
    whole.
    """

    __repr__ = short_repr

    session_id: str
    old: Snapshot
    new: Snapshot
    origin: Origin
    is_first: bool = False
    _changes: tuple[Change, ...] | None = None

    @classmethod
    def first(cls, snapshot: Snapshot, origin: Origin = "local") -> Delivery:
        """Make the delivery for a renderer that has drawn nothing yet."""
        empty = Snapshot(snapshot.session_id)
        return cls(snapshot.session_id, empty, snapshot, origin, is_first=True)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes that lead a renderer from `old` to `new`."""
        if self._changes is None:  # without a lock: two threads at once compute equal changes
            force_setattr(self, "_changes", self._computed())
        return self._changes  # type: ignore[return-value]  # set by now

    def _computed(self) -> tuple[Change, ...]:
        # Imported late: a store may have no subscribers (benchmark "import").
        from ._changes import Reset
        from ._compare import changes

        return (Reset(self.new),) if self.is_first else changes(self.old, self.new)

    @property
    def is_visible(self) -> bool:
        """Whether there is anything to draw; entries themselves are not compared."""
        old, new = self.old, self.new
        grew = _grew(old.entries, new.entries) or _grew(old.terminals, new.terminals)
        return grew or bool(self.changes)

    @property
    def is_urgent(self) -> bool:
        """Whether the user waits for this: a permission is asked, or work has ended or failed."""
        old, new = self.old, self.new
        if old._fields is new._fields:
            return False
        return _is_asked(old, new) or _came_to_rest(old, new) or _failed(old, new)


def _grew(old: Keyed[Any], new: Keyed[Any]) -> bool:
    """Return whether the later version certainly differs: it is made only for a difference."""
    return new is not old and new._grew_from(old)


def _is_asked(old: Snapshot, new: Snapshot) -> bool:
    return bool(_new_ones(old.permissions, new.permissions))


def _came_to_rest(old: Snapshot, new: Snapshot) -> bool:
    return new.is_idle and not old.is_idle


_FAILED: Final = frozenset({"rejected", "uncertain"})


def _failed(old: Snapshot, new: Snapshot) -> bool:
    prompts = _new_ones(old.prompts, new.prompts)
    notices = _new_ones(old.notices, new.notices)
    return any(prompt.status in _FAILED for prompt in prompts) or any(
        notice.severity == "error" for notice in notices
    )


def _new_ones(old: tuple[T, ...], new: tuple[T, ...]) -> list[T]:
    """Return the items that are not the same objects as before."""
    if old is new:
        return []
    start = common_length(old, new)
    before = set(map(id, old[start:]))
    return [item for item in new[start:] if id(item) not in before]
