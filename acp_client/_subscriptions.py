"""The subscribers and readers of one store, and the calls that deliver changes to them.

The rules:

- *No gap.* Reading the present snapshot and subscribing is one operation under the store's lock.
  The first call delivers that snapshot, the next ones the batches after it.
- *One call for each batch, session and subscriber.* A batch without a visible change makes no call.
- *Outside the lock.* Batches are queued while the store's lock is held, and callbacks are called
  when it is not. So a callback may wait for a thread that reads or feeds the store.
- *In order, one at a time, never nested.* The thread that called the store makes the calls, unless
  another thread (or the same one, further down the stack) is already making calls: that one then
  makes them in turn. A callback that calls the store finds the snapshots changed when the store's
  method returns; the calls for those changes are made after the callback has returned. So callbacks
  must be faster than the batches arrive; a slower consumer, such as a screen, uses a `Reader`.
- *Subscribing within a callback* delivers the snapshot of that moment, in its turn in the queue.
- *Unsubscribing* takes effect at once: queued calls are not made. A call that another thread has
  begun is finished.
- *A callback that raises* does not stop the others. The exception goes to `report`. An exception
  that `report` raises, and one that is not an `Exception` (`KeyboardInterrupt`), leaves the store's
  method at once; the remaining calls stay in the queue for the next call of the store. What the
  callback drew is unknown, so its next call for that session delivers a `Reset`.
- *An interrupt may come between any two instructions.* So whatever can fail is done before a
  session is changed, and no instruction that can fail separates the change from its deliveries.

The library starts no thread.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count
from operator import attrgetter
from typing import Any, Final, Self, TypeAlias, TypeVar
from weakref import ref

from msgspec import Struct

from ._connection import Connection, ConnectionChanged, connection_change
from ._delivery import Delivery, Origin
from ._locks import held, hold_locks
from ._reader import Reader
from ._snapshot import Snapshot

Callback: TypeAlias = Callable[[Delivery], object]
Call: TypeAlias = tuple[Any, Any]
"""A queued call: an object with `call` and `cut_short`, and the argument."""
Selector: TypeAlias = Callable[[Snapshot], object]

_FindReader: TypeAlias = Callable[[], Reader | None]
"""Returns a reader, or `None` once it is gone; only a reader with `wake` is held strongly."""

K = TypeVar("K")
T = TypeVar("T")

_NUMBER: Final = attrgetter("_number")


class _Ending:
    """The end of a subscription: by `close`, or where its `with` block ends."""

    def __init__(self, forget: Callable[[Any], None]) -> None:
        self._forget = forget
        self._is_closed = False

    @property
    def closed(self) -> bool:
        """Whether no more calls will be made."""
        return self._is_closed

    def close(self) -> None:
        """Unsubscribe. The callback is not called again, not even for what is queued already."""
        self._is_closed = True
        self._forget(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Subscription(_Ending):
    """A subscription made by `Store.subscribe`: call `close`, or leave its `with` block, to end it.

    `session_id` is `None` for a subscription to all sessions.
    """

    def __init__(
        self,
        callback: Callback,
        session_id: str | None,
        select: Selector | None,
        forget: Callable[[Subscription], None],
        number: int,
    ) -> None:
        super().__init__(forget)
        self.session_id = session_id
        self._number = number
        self._callback = callback
        self._select = select
        self._begins_anew: set[str] = set()

    def __repr__(self) -> str:
        what = "all sessions" if self.session_id is None else f"{self.session_id!r:.100}"
        return f"<Subscription to {what}, {'closed' if self._is_closed else 'open'}>"

    def _call(self, delivery: Delivery) -> None:
        """Call the callback, unless `select` or a closed subscription prevents it."""
        if self._begins_anew and delivery.session_id in self._begins_anew:
            self._begins_anew.discard(delivery.session_id)
            delivery = Delivery.first(delivery.new, delivery.origin)
        if not self._is_closed and self._is_selected(delivery):
            self._callback(delivery)

    def _cut_short(self, delivery: Delivery) -> None:
        """Record that a call raised: what it drew is unknown."""
        self._begins_anew.add(delivery.session_id)

    def _is_selected(self, delivery: Delivery) -> bool:
        select = self._select
        if select is None or delivery.is_first:
            return True
        return select(delivery.old) is not select(delivery.new)


class ConnectionSubscription(_Ending):
    """A subscription made by `Store.subscribe_connection`: call `close`, or leave its block."""

    def __init__(
        self,
        callback: Callable[[ConnectionChanged], object],
        forget: Callable[[ConnectionSubscription], None],
    ) -> None:
        super().__init__(forget)
        self._callback = callback

    def _call(self, change: ConnectionChanged) -> None:
        """Call the callback."""
        if not self._is_closed:
            self._callback(change)

    def _cut_short(self, change: ConnectionChanged) -> None:
        """Do nothing: a change holds the whole connection."""


class OneCall:
    """A function that is called once, in its turn in the queue."""

    def __init__(self, function: Callable[[Any], object]) -> None:
        self._call = function

    def _cut_short(self, argument: Any) -> None:
        """Do nothing: what raised is not called again."""


class Prepared(Struct, frozen=True, eq=False):
    """The deliveries of a batch: calls of subscribers, and steps for readers."""

    calls: list[Call]
    offers: list[tuple[Reader, Delivery]]


class _Turn(Struct, frozen=True, eq=False):
    """The turn of a thread that makes the calls."""

    thread: int


class Subscriptions:
    """The subscribers and readers of one store, and the calls that wait to be made."""

    def __init__(self, report: Callable[[Exception], object]) -> None:
        self._report = report
        self._turn: _Turn | None = None  # of the thread that makes the calls
        self._numbers = count()
        # By session; what is in them is replaced, not changed: `prepare` may be walking through it
        # while a finalizer closes a subscription.
        self._subscribers: dict[str | None, tuple[Subscription, ...]] = {}
        self._readers: dict[str, tuple[_FindReader, ...]] = {}
        self._of_connection: tuple[ConnectionSubscription, ...] = ()
        self.waiting: deque[Call] = deque()
        self.offers: deque[tuple[Reader, Delivery]] = deque()
        hold_locks(self, Subscriptions._renew_locks)

    def _renew_locks(self) -> None:
        self._lock = threading.RLock()  # a finalizer may close a subscription anywhere
        if self._turn is not None and self._turn.thread != threading.get_ident():
            self._turn = None  # the thread that was making a call is not in this process
            if self.waiting:
                self._drop_call(*self.waiting[0])

    # --- Called by the store, which holds its lock ---

    def subscribe(
        self,
        callback: Callback,
        session_id: str | None,
        select: Selector | None,
        present: Iterable[Snapshot],
    ) -> Subscription:
        """Add a subscriber, whose first calls deliver the present snapshots."""
        number = next(self._numbers)
        subscription = Subscription(callback, session_id, select, self._forget_subscriber, number)
        with held(self._lock):
            _add(self._subscribers, session_id, subscription)
            self.waiting += [(subscription, Delivery.first(snapshot)) for snapshot in present]
        return subscription

    def subscribe_connection(
        self, callback: Callable[[ConnectionChanged], object], present: Connection
    ) -> ConnectionSubscription:
        """Add a subscriber to the connection, whose first call delivers the present one."""
        subscription = ConnectionSubscription(callback, self._forget_connection_subscriber)
        with held(self._lock):
            self._of_connection = (*self._of_connection, subscription)
            self.waiting.append((subscription, connection_change(Connection(), present)))
        return subscription

    def prepare_connection(self, prepared: Prepared, old: Connection, new: Connection) -> None:
        """Prepare the calls for a batch's change of the connection."""
        if old is not new and self._of_connection:
            change = connection_change(old, new)
            prepared.calls.extend((one, change) for one in self._of_connection)

    def read(self, present: Snapshot, wake: Callable[[Reader], object] | None) -> Reader:
        """Add a reader, whose first step has the present snapshot."""
        reader = Reader(present, wake, self._forget_reader)
        with held(self._lock):
            find: _FindReader = ref(reader) if wake is None else lambda: reader
            _add(self._readers, reader.session_id, find)
            if wake is not None:
                self.waiting.append((reader, None))
        return reader

    def prepare(
        self, prepared: Prepared, old: Snapshot | None, new: Snapshot, origin: Origin
    ) -> None:
        """Prepare the deliveries of a batch for a session; `old` is `None` for a new one."""
        if old is new or not (self._subscribers or self._readers):
            return
        session_id = new.session_id
        subscribers, readers = self._concerned(session_id), self._alive(session_id)
        if not (subscribers or readers):
            return
        if old is None:
            old, first = Snapshot(session_id), Delivery.first(new, origin)
            step = Delivery(session_id, old, new, origin)
        else:
            replays = origin == "live" and old.replaying
            first = step = Delivery(session_id, old, new, "replay" if replays else origin)
        for subscriber in subscribers:
            delivery = first if subscriber.session_id is None else step
            if delivery.is_visible:
                prepared.calls.append((subscriber, delivery))
        prepared.offers.extend((reader, step) for reader in readers)

    def readers(self) -> list[Reader]:
        """Return all readers that something refers to, in no order that means something."""
        finders = chain.from_iterable(self._readers.values())
        return [reader for find in finders if (reader := find()) is not None]

    def _alive(self, session_id: str) -> list[Reader]:
        """Return the readers of a session, and drop those that nothing refers to any more."""
        found = self._readers.get(session_id, ())
        readers = [reader for find in found if (reader := find()) is not None]
        if len(readers) < len(found):
            self._forget_readers(session_id, None)
        return readers

    def _forget_readers(self, session_id: str, gone: Reader | None) -> None:
        """Drop a reader, and those that nothing refers to any more."""
        with held(self._lock):
            found = self._readers.pop(session_id, ())
            kept = tuple(find for find in found if find() not in (None, gone))
            if kept:
                self._readers[session_id] = kept

    def _concerned(self, session_id: str) -> Sequence[Subscription]:
        """Return the subscribers of a session, in the order in which they subscribed."""
        of_all = self._subscribers.get(None, ())
        of_one = self._subscribers.get(session_id, ())
        return sorted((*of_all, *of_one), key=_NUMBER) if of_all and of_one else of_all or of_one

    def offer(self) -> None:
        """Offer the readers their prepared steps, now that the batch is published."""
        while self.offers:
            reader, step = self.offers[0]
            if reader._offer(step):
                self.waiting.append((reader, None))
            self.offers.popleft()  # only now: an interrupted offer is repeated

    # --- Called by the store, which has let go of its lock ---

    def deliver(self) -> None:
        """Make the queued calls, unless another thread or frame is already making them."""
        if not self.waiting:  # another thread makes the calls that this one has added
            return
        turn = _Turn(threading.get_ident())
        try:
            with held(self._lock):
                if self._turn is not None or not self.waiting:
                    return
                self._turn = turn
            while self._has_more():
                self._call(*self.waiting[0])
        except BaseException:
            if self._turn is turn:  # an interrupt may come even before the turn was ours
                self._turn = None
            raise

    def _has_more(self) -> bool:
        with held(self._lock):
            if not self.waiting:
                self._turn = None  # under the lock: a thread that adds a call from now on makes it
            return bool(self.waiting)

    def _call(self, target: Any, delivery: Delivery | None) -> None:
        """Make the first queued call, and remove it from the queue."""
        try:
            target._call(delivery)
        except Exception as error:  # noqa: BLE001  # a callback may raise anything; it is reported
            self._drop_call(target, delivery)
            self._report(error)
        except BaseException:
            self._drop_call(target, delivery)
            raise
        else:
            self.waiting.popleft()

    def _drop_call(self, target: Any, delivery: Delivery | None) -> None:
        """Remove the first call, which was not finished."""
        self.waiting.popleft()
        if delivery is not None:
            target._cut_short(delivery)

    def _forget_subscriber(self, subscription: Subscription) -> None:
        with held(self._lock):
            _remove(self._subscribers, subscription.session_id, subscription)

    def _forget_connection_subscriber(self, subscription: ConnectionSubscription) -> None:
        with held(self._lock):
            kept = tuple(one for one in self._of_connection if one is not subscription)
            self._of_connection = kept

    def _forget_reader(self, reader: Reader) -> None:
        self._forget_readers(reader.session_id, reader)


def _add(of_sessions: dict[K, tuple[T, ...]], session_id: K, one: T) -> None:
    of_sessions[session_id] = (*of_sessions.get(session_id, ()), one)


def _remove(of_sessions: dict[K, tuple[T, ...]], session_id: K, one: T) -> None:
    kept = tuple(each for each in of_sessions.get(session_id, ()) if each is not one)
    if kept:
        of_sessions[session_id] = kept
    else:
        of_sessions.pop(session_id, None)


def print_callback_error(error: Exception) -> None:
    """Print an exception as the interpreter prints an uncaught one."""
    sys.excepthook(type(error), error, error.__traceback__)
