"""Memory of a session, by `tracemalloc` and by resident size, and the collector's pauses."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any, Final, TypeAlias

from benchmarks.baselines import LOADS, reduce_by_hand
from benchmarks.measuring import (
    TICK,
    Budget,
    Result,
    Row,
    Scale,
    Skipped,
    clock,
    collector_pauses,
    duration,
    traced,
)
from benchmarks.resident import STATM
from benchmarks.streams import (
    batches,
    coding_session,
    long_message,
    long_terminal,
    many_messages,
    many_tool_calls,
)
from benchmarks.subjects import decoded_texts, received, snapshot_of

_RETAINED: Final = Budget(1.5)
_READ_LINES: Final = 300
"""Lines of a read: about 64 KiB."""

_SESSIONS: Final[dict[str, Callable[[], Iterator[bytes]]]] = {
    "coding session": lambda: coding_session(sys.maxsize),
    "one long message": long_message,
    "many messages": many_messages,
    "many tool calls": many_tool_calls,
    "a long terminal": long_terminal,
}


def retained(scale: Scale) -> Iterator[Result]:
    """Compare the final snapshot with a plain list of the decoded texts."""
    for name, lines in _SESSIONS.items():
        updates = scale.updates if name == "coding session" else scale.updates // 5
        yield from _retained(name, partial(_first, lines, updates), updates)


def _first(lines: Callable[[], Iterator[bytes]], updates: int) -> Iterator[bytes]:
    return islice(lines(), updates)


def _retained(name: str, lines: Callable[[], Iterator[bytes]], updates: int) -> Iterator[Result]:
    _, texts = traced(lambda: decoded_texts(lines()))
    _, snapshot = traced(lambda: snapshot_of(batches(lines(), _READ_LINES)))
    yield Row(
        f"{name}, memory kept : list of its texts",
        (snapshot.kept / texts.kept,),
        _RETAINED if name == "coding session" else None,
        note=f"{snapshot.kept / updates:.0f} B : {texts.kept / updates:.0f} B an update",
    )
    if name == "coding session":
        yield Row(
            f"{name}, peak while receiving : list of its texts",
            (snapshot.peak / texts.peak,),
            note=f"{_mebibytes(snapshot.peak)} : {_mebibytes(texts.peak)}",
        )


def _mebibytes(size: float) -> str:
    return f"{size / 2**20:.1f} MiB"


def resident(scale: Scale) -> Iterator[Result]:
    """Compare resident sizes of processes that hold the snapshot, or a list of the texts."""
    name = f"resident, {scale.many:,} updates"
    if not STATM.exists():
        yield Skipped(name, f"there is no {STATM}")
        return
    snapshot, texts = (_in_process(kind, scale.many) for kind in ("snapshot", "texts"))
    for what, key, budget in (("kept", "kept", _RETAINED), ("peak", "peak", None)):
        yield Row(
            f"{name}, {what} : list of its texts",
            (snapshot[key] / texts[key],),
            budget,
            note=f"{_mebibytes(snapshot[key])} : {_mebibytes(texts[key])}",
        )


def _in_process(kind: str, updates: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.resident", kind, str(updates)]
    folder = Path(__file__).parents[1]
    ended = subprocess.run(command, check=True, capture_output=True, cwd=folder)
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def pauses(scale: Scale) -> Iterator[Result]:
    """Compare the collector's pauses in a long session with others.

    The collector may not come to a full collection in a session, but in time it does in any
    process: so one is asked for at the end, when what can be untracked has been.
    """
    long = _pauses(received, scale.many)
    short = _pauses(received, scale.few)
    by_hand = _pauses(_by_hand, scale.many)
    rows = (("longest collector pause", 0), ("full collection at the end", 1))
    for (what, index), (against, other) in product(rows, _others(scale, short, by_hand)):
        yield Row(
            f"{what}, {scale.many:,} updates : {against}",
            (long[index] / other[index],),
            note=f"{duration(long[index])} : {duration(other[index])}",
        )


_Pauses: TypeAlias = tuple[float, float]
"""The seconds of the longest pause, and of a full collection at the end."""


def _others(scale: Scale, short: _Pauses, by_hand: _Pauses) -> list[tuple[str, _Pauses]]:
    return [(f"{scale.few:,}", short), ("orjson and dicts", by_hand)]


def _by_hand(reads: Iterator[bytes]) -> object:
    return reduce_by_hand(reads, LOADS["orjson"])


def _pauses(reduce: Callable[[Iterator[bytes]], object], updates: int) -> _Pauses:
    with collector_pauses() as found:
        kept = reduce(batches(coding_session(updates), _READ_LINES))
    full = min(_collection() for _ in range(3))
    del kept
    return max([*found, TICK]), full


def _collection() -> float:
    start = clock()
    gc.collect()
    return max(clock() - start, TICK)
