"""Locks in a forked process: whoever held one is not there, so all are made anew."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

_holders: WeakKeyDictionary[Any, Callable[[Any], None]] = WeakKeyDictionary()


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
