"""Locks that nothing leaves locked: no exception of a signal handler, and no fork.

`with lock` is all that it takes up to Python 3.13. Since 3.14 a signal handler may raise when the
lock has been acquired and the block has not begun; then no one would release it. So there,
whatever is raised, `let_go` looks whether the lock is held more often than before. `held` does that
for a block; where its microsecond counts, the same is written out.

In a forked process whoever held a lock is not there, so all are made again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

Lock: TypeAlias = Any
"""What `threading.RLock` makes; the type checker knows too little of it."""

_holders: WeakKeyDictionary[Any, Callable[[Any], None]] = WeakKeyDictionary()


_MAY_STAY_LOCKED: Final = sys.version_info >= (3, 14)


def holds(lock: Lock) -> int:
    """Tell how often this thread holds a lock, where `let_go` has to know."""
    if not _MAY_STAY_LOCKED:
        return 0
    count: int = lock._recursion_count()
    return count


def let_go(lock: Lock, before: int) -> None:
    """Let go of a lock that this thread holds more often than before."""
    if holds(lock) > before:
        lock.release()


@contextmanager
def held(lock: Lock) -> Iterator[None]:
    """Hold a lock for a block."""
    before = holds(lock)
    try:
        with lock:
            yield
    except BaseException:
        let_go(lock, before)
        raise


def after_fork(renew: Callable[[], None]) -> None:
    """Call a function in each forked process, where the system can fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)


def hold_locks(holder: T, renew: Callable[[T], None]) -> None:
    """Make the locks of an object: now, and in each process that is forked while it lives."""
    renew(holder)
    _holders[holder] = renew


def _renew_all() -> None:
    for holder, renew in list(_holders.items()):
        renew(holder)


after_fork(_renew_all)
