"""What is measured: the package, used as its users do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import acp_client
from acp_client import Delivery, Event, Snapshot, Store, apply, wire
from benchmarks.baselines import UnavailableError, decode_typed, typed_decoder
from benchmarks.streams import SESSION


def received(reads: Iterable[bytes]) -> Store:
    """Return a store that has received reads."""
    store = Store()
    for read in reads:
        store.receive(read)
    return store


def snapshot_of(reads: Iterable[bytes]) -> Snapshot:
    """Reduce reads to the snapshot at their end."""
    return received(reads).snapshot(SESSION)


def received_with_subscribers(reads: Iterable[bytes], subscribers: int) -> Store:
    """Reduce reads with subscribers that do nothing."""
    store: Any = Store()
    for _ in range(subscribers):
        store.subscribe(_do_nothing, session=SESSION)
    for read in reads:
        store.receive(read)
    return store  # type: ignore[no-any-return]  # the store from above


def received_with_changes(reads: Iterable[bytes]) -> Store:
    """Reduce reads with a subscriber that asks for the changes of each."""
    store = Store()
    store.subscribe(_read_changes, session=SESSION)
    for read in reads:
        store.receive(read)
    return store


def _read_changes(delivery: Delivery) -> None:
    for _ in delivery.changes:
        pass


def _do_nothing(*_: object) -> None:
    """Take what a subscriber receives."""


def need_subscriptions() -> None:
    """Raise `UnavailableError` where the store has no subscriptions."""
    if not hasattr(Store, "subscribe"):
        raise UnavailableError("Store.subscribe is missing")


def changes_function() -> Callable[[Snapshot, Snapshot], Any]:
    """Return `acp_client.changes`; raise `UnavailableError` where it is missing."""
    function: Callable[[Snapshot, Snapshot], Any] | None = getattr(acp_client, "changes", None)
    if function is None:
        raise UnavailableError("acp_client.changes is missing")
    return function


def events_of(lines: Iterable[bytes]) -> list[Event]:
    """Decode lines to the events that are in them."""
    return [message.params.update for message in decode_typed(lines)]


def applied(events: Iterable[Event]) -> list[Snapshot]:
    """Apply event by event; keep every snapshot."""
    snapshot = Snapshot(SESSION)
    snapshots = []
    for event in events:
        snapshot = apply(snapshot, event)
        snapshots.append(snapshot)
    return snapshots


def decoded_texts(lines: Iterable[bytes]) -> list[str | bytes]:
    """Decode lines and keep their texts and outputs, and nothing else, in a list."""
    decode = typed_decoder.decode
    return [text for line in lines for text in _texts(decode(line).params.update)]


def _texts(update: Any) -> list[str | bytes]:
    if isinstance(update, wire.TerminalOutputChunk):
        return [update.data]
    content = getattr(update, "content", None) or ()
    blocks = content if isinstance(content, tuple) else (content,)
    inner = [block.content if isinstance(block, wire.Content) else block for block in blocks]
    return [block.text for block in inner if isinstance(block, wire.TextContent)]
