"""Locks that are released despite exceptions of signal handlers and despite forks.

`with lock` is sufficient up to Python 3.13. Since 3.14 a signal handler may raise after the lock
was acquired and before the block has begun, and the lock would stay locked. So `let_go` checks,
after any exception, whether the lock is held more often than before. `held` does that for a block;
the hot path spells it out to save the call.

In a forked process the thread that held a lock does not exist, so all locks are replaced.
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
"""The class of the locks; type checkers do not know all of its methods."""

_holders: WeakKeyDictionary[Any, Callable[[Any], None]] = WeakKeyDictionary()


_MAY_STAY_LOCKED: Final = sys.version_info >= (3, 14)


def holds(lock: Lock) -> int:
    """Return how often this thread holds a lock, as far as `let_go` needs it."""
    if not _MAY_STAY_LOCKED:
        return 0
    count: int = lock._recursion_count()
    return count


def let_go(lock: Lock, before: int) -> None:
    """Release a lock that this thread holds more often than before."""
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
