"""`Reader`: the newest state of a session for a renderer that is slower than the agent.

A renderer that draws one frame at a time does not need each of a thousand chunks. A reader holds at
most one step, from the snapshot that it last returned to the newest one. However late the step is
taken, it leads to the newest snapshot, and it is one pair of snapshots, whatever came between.

The store offers each batch to its readers while it holds its lock, so a reader is behind the store
by at most the current batch. Waiting threads and event loops are woken at that time, too; only the
renderer's own `wake` is called like a subscriber, in turn and outside the lock.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Self

from ._delivery import Delivery, Origin
from ._errors import InvalidValueError, checked
from ._locks import held, hold_locks
from ._snapshot import Snapshot

if TYPE_CHECKING:
    import asyncio


class Reader:
    """Holds at most one step of a session; `Store.reader` makes it.

    All methods may be called from any thread. A thread that draws:

        while reader.wait():
            reader.wait(1 / 60, urgent=True)  # let more come, unless the user waits for it
            draw(reader.take())

    The same on an event loop, with `wait_async` or simply `async for delivery in reader`. What
    `take` returns first is what was there already, see `Delivery`.
    """

    def __init__(
        self,
        present: Snapshot,
        wake: Callable[[Reader], object] | None,
        forget: Callable[[Reader], None],
    ) -> None:
        self.session_id = present.session_id
        self._wake = wake
        self._forget = forget
        self._sleepers: list[Callable[[], object]] = []
        self._given: Snapshot | None = None
        self._newest = present
        self._origins: set[Origin] = {"local"}
        self._is_urgent = bool(present.permissions)
        self._is_closed = False
        hold_locks(self, Reader._renew_locks)

    def _renew_locks(self) -> None:
        # Not a condition: an interrupted one may leave its lock held, or release it twice.
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "pending" if self.pending else "waiting"
        return f"<Reader of {self.session_id!r:.100}, {state}>"

    @property
    def pending(self) -> bool:
        """Whether there is a step to take."""
        return bool(self._origins)

    @property
    def urgent(self) -> bool:
        """Whether the step to take has something that the user waits for.

        That is a permission request, the end of foreground work, a failed prompt, or a notice of an
        error.
        """
        return self._is_urgent

    @property
    def closed(self) -> bool:
        """Whether nothing more will come."""
        return self._is_closed

    def take(self) -> Delivery | None:
        """Return the step to the newest snapshot, or `None` if nothing has changed.

        A step may have no changes, if a later batch has undone an earlier one.
        """
        fresh: set[Origin] = set()
        with held(self._lock):
            # No calls from here to the end: a signal handler may take the step as well.
            origins, self._origins = self._origins, fresh
            if not origins:
                return None
            given, newest = self._given, self._newest
            self._given, self._is_urgent = newest, False
        origin: Origin = origins.pop() if len(origins) == 1 else "live"
        if given is None:
            return Delivery.first(newest, origin)
        return Delivery(self.session_id, given, newest, origin)

    def wait(self, timeout: float | None = None, *, urgent: bool = False) -> bool:
        """Wait until there is a step to take, or an urgent one; return whether there is.

        `timeout` is in seconds. A closed reader does not wait. Raises `InvalidValueError` for a
        timeout that is not a number.
        """
        end = time.monotonic() + _seconds(timeout)
        while True:
            with held(self._lock):
                if self._is_over(urgent):
                    return self._is_ready(urgent)
                sleeper = _held_lock()
                self._sleepers.append(sleeper.release)
            try:
                if not sleeper.acquire(timeout=_until(end)):
                    return self._is_ready(urgent)
            finally:
                self._dismiss(sleeper.release)

    async def wait_async(self, timeout: float | None = None, *, urgent: bool = False) -> bool:
        """Wait like `wait`, on the running asyncio event loop."""
        import asyncio  # imported late: it is slow to load, and few programs need it

        loop = asyncio.get_running_loop()
        end = loop.time() + _seconds(timeout)
        while True:
            with held(self._lock):
                if self._is_over(urgent):
                    return self._is_ready(urgent)
                sleeper = loop.create_future()
                wake = _waker(loop, sleeper)
                self._sleepers.append(wake)
            try:
                await asyncio.wait_for(sleeper, end - loop.time())
            except TimeoutError:
                return self._is_ready(urgent)
            finally:
                self._dismiss(wake)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Delivery:
        while await self.wait_async():
            delivery = self.take()
            if delivery is not None:  # another task may have taken the step
                return delivery
        raise StopAsyncIteration

    def close(self) -> None:
        """Stop following the session. A waiting step can still be taken."""
        self._forget(self)
        with held(self._lock):
            self._is_closed = True
            self._rouse()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    # --- The store's side ---

    def _offer(self, step: Delivery) -> bool:
        """Record a step; return whether the renderer must be woken."""
        with held(self._lock):
            self._newest = step.new
            if not step.is_visible:
                return False
            was_urgent, self._is_urgent = self._is_urgent, self._is_urgent or step.is_urgent
            is_news = not self._origins or self._is_urgent is not was_urgent
            self._origins.add(step.origin)
            if is_news:
                self._rouse()
            return is_news and self._wake is not None

    def _call(self, delivery: Delivery | None = None) -> None:
        """Call the renderer's `wake`."""
        if self._wake is not None and not self._is_closed:
            self._wake(self)

    def _is_ready(self, urgent: bool) -> bool:
        return self._is_urgent if urgent else self.pending

    def _is_over(self, urgent: bool) -> bool:
        return self._is_closed or self._is_ready(urgent)

    def _rouse(self) -> None:
        """Wake all who wait; the lock is held."""
        sleepers, self._sleepers = self._sleepers, []
        for wake in sleepers:
            wake()

    def _dismiss(self, wake: Callable[[], object]) -> None:
        with held(self._lock), suppress(ValueError):  # it is removed once it was called
            self._sleepers.remove(wake)


_LONGEST: Final = threading.TIMEOUT_MAX / 2
"""The longest timeout, in seconds; it can still be added to a clock."""


def _seconds(timeout: float | None) -> float:
    """Return a timeout that can be waited for."""
    if timeout is None:
        return _LONGEST
    if checked(timeout, int | float, "seconds") != timeout:
        raise InvalidValueError("expected seconds, not NaN")
    return max(0, min(timeout, _LONGEST))


def _until(end: float) -> float:
    return max(0, end - time.monotonic())


def _held_lock() -> threading.Lock:
    """Return a locked lock, which a waiting thread acquires when it is released."""
    lock = threading.Lock()
    lock.acquire()
    return lock


def _waker(loop: asyncio.AbstractEventLoop, sleeper: asyncio.Future[Any]) -> Callable[[], object]:
    """Return a function that wakes a coroutine on a loop, from any thread."""

    def finish() -> None:
        if not sleeper.done():
            sleeper.set_result(None)

    def wake() -> None:
        with suppress(RuntimeError):  # the loop is closed: nothing waits any more
            loop.call_soon_threadsafe(finish)

    return wake
