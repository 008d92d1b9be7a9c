"""One `apply` per update with every snapshot kept, `changes`, and snapshots as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Final

from acp_client import Snapshot, apply_all, dumps, loads
from benchmarks.baselines import UnavailableError, decode_typed
from benchmarks.measuring import (
    Budget,
    Result,
    Row,
    Scale,
    Skipped,
    compared,
    interleaved,
    ratios,
    traced,
)
from benchmarks.streams import SESSION, coding_session, cut, joined, line, many_messages
from benchmarks.subjects import applied, changes_function, events_of, snapshot_of
from benchmarks.throughput import READ_SIZE

_CALLS: Final = 200
"""Calls of `changes` in one run."""


def apply_each(scale: Scale) -> Iterator[Result]:
    """Compare one `apply` per update, with every snapshot kept, with the typed decoder."""
    lines = list(coding_session(scale.applied))
    events = events_of(lines)
    runs: dict[str, Callable[[], object]] = {
        "apply": partial(applied, events),
        "typed decode": partial(decode_typed, lines),
    }
    seconds = interleaved(runs, scale.rounds)
    yield Row(
        "one apply per update : typed decode",
        ratios(seconds, "apply", "typed decode"),
        Budget(6),
        note=compared(seconds, "apply", "typed decode", len(lines)),
    )
    snapshots, memory = traced(lambda: applied(events))
    each = memory.kept / len(snapshots)
    yield Row("one kept snapshot", (each,), Budget(700), "B")


def changes_by_size(scale: Scale) -> Iterator[Result]:
    """Compare `changes` of one small batch in a long and in a short session."""
    name = f"changes of a batch, {scale.many_entries:,} : {scale.few_entries:,} entries"
    try:
        changes = changes_function()
    except UnavailableError as missing:
        yield Skipped(name, str(missing))
        return
    sizes = {"many": scale.many_entries, "few": scale.few_entries}
    pairs = {size: before_and_after(entries) for size, entries in sizes.items()}
    runs = {size: partial(_repeatedly, changes, *pair) for size, pair in pairs.items()}
    seconds = interleaved(runs, scale.rounds)
    yield Row(
        name,
        ratios(seconds, "many", "few"),
        Budget(1.5),
        note=compared(seconds, "many", "few", _CALLS),
    )


def _repeatedly(changes: Callable[..., Any], old: Snapshot, new: Snapshot) -> None:
    for _ in range(_CALLS):
        changes(old, new)


def before_and_after(entries: int) -> tuple[Snapshot, Snapshot]:
    """Return a session of so many messages, and the same after a small batch."""
    lines = islice(many_messages(chunks=1), entries)
    before = apply_all(Snapshot(SESSION), events_of(lines))
    text = {"type": "text", "text": "more"}
    chunk = {"sessionUpdate": "agent_message_chunk", "content": text}
    batch = [
        chunk | {"messageId": f"message_{entries}"},
        chunk | {"messageId": f"message_{entries // 2}"},
        chunk | {"messageId": "message_new"},
        {"sessionUpdate": "tool_call_update", "toolCallId": "call_new", "title": "New"},
        {"sessionUpdate": "usage_update", "used": 1, "size": 2},
    ]
    return before, apply_all(before, events_of(map(line, batch)))


def as_json(scale: Scale) -> Iterator[Result]:
    """Compare storing and restoring a session with reducing it again."""
    reads = cut(joined(coding_session(scale.updates // 5)), READ_SIZE)
    snapshot = snapshot_of(reads)
    data = dumps(snapshot)
    runs: dict[str, Callable[[], object]] = {
        "dumps": partial(dumps, snapshot),
        "loads": partial(loads, data),
        "receive": partial(snapshot_of, reads),
    }
    seconds = interleaved(runs, scale.rounds)
    for subject in ("dumps", "loads"):
        yield Row(
            f"{subject} : bytes to snapshot",
            ratios(seconds, subject, "receive"),
            note=compared(seconds, subject, "receive", scale.updates // 5),
        )
