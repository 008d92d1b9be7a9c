"""The parts that `_items` and `_keyed` share: tuple width, claims, and sequence methods.

Both structures keep their values in tuples of `WIDTH` items, and the last few in a separate tail.
The garbage collector does not track tuples of strings and Structs, so its pauses do not grow with a
session.

Successive versions share an object that only grows. One thread at a time may extend it, and claims
it first. No thread waits for a claim: one that does not get it works on a copy. So there is no lock
that an exception or a fork in the middle of the work could leave locked.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import index as index_of
from typing import TYPE_CHECKING, Any, Final, Generic, Self, TypeVar

from msgspec import Struct

from ._errors import InvalidValueError
from ._value import short_items

T = TypeVar("T")

BITS: Final = 5
WIDTH: Final = 1 << BITS
MASK: Final = WIDTH - 1

_claims: dict[int, object] = {}


def claimed(shared: object, claim: object) -> bool:
    """Claim an object; return whether that succeeded. The claimant calls `unclaim` in the end."""
    return _claims.setdefault(id(shared), claim) is claim  # one step, in every build of Python


def unclaim(shared: object) -> None:
    """Release a claim."""
    _claims.pop(id(shared), None)


if TYPE_CHECKING:
    from collections.abc import Sequence

    class Version(Sequence[T]):
        """A version as type checkers see it: a sequence."""
else:

    class Version(Struct, Generic[T], gc=False, eq=False):
        """A version of a sequence, which never changes.

        It is a Struct because those are cheap to make (benchmark "one apply per update"), and a
        virtual `Sequence`, since a Struct cannot have the metaclass of one.
        """

        __hash__ = None

        def __ne__(self, other: object) -> bool:  # a Struct's own would compare identity
            return not self == other

        def __copy__(self) -> Self:
            return self

        def __deepcopy__(self, memo: dict[int, Any]) -> Self:
            return self

        def __reversed__(self) -> Iterator[T]:
            return (self[place] for place in range(len(self) - 1, -1, -1))

        def __contains__(self, value: object) -> bool:
            return any(found is value or found == value for found in self)

        def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
            """Return the first place of a value. Raises `ValueError` if it does not occur."""
            for place in range(*slice(start, stop).indices(len(self))):
                if self[place] is value or self[place] == value:
                    return place
            raise ValueError(f"not in the {type(self).__name__}")

        def count(self, value: object) -> int:
            """Return how often a value occurs."""
            return sum(1 for found in self if found is value or found == value)

        __repr__ = short_items


def checked_place(index: int, length: int) -> int:
    """Return the place of an index, which may be negative.

    Raises `IndexError` for a place that does not exist, and `InvalidValueError` for a value that is
    not a place.
    """
    try:
        given = index_of(index)
    except TypeError:
        name = type(index).__name__
        raise InvalidValueError(f"expected a place, not {name}; ids are looked up by get") from None
    place = given + length if given < 0 else given
    if not 0 <= place < length:
        raise IndexError(index)
    return place
