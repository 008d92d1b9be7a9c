"""Bytes to snapshot: against decoders, against reducers written by hand, and by size of read."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

from acp_client import Store, wire
from acp_client._v1.updates import update_decoder
from benchmarks.baselines import (
    LOADS,
    NodeReducer,
    SdkAccumulator,
    UnavailableError,
    decode_typed,
    decode_untyped,
    reduce_by_hand,
    typed_decoder,
)
from benchmarks.measuring import (
    Budget,
    Clock,
    Result,
    Row,
    Scale,
    Seconds,
    Skipped,
    compared,
    interleaved,
    interleaved_clocks,
    ratios,
    seconds_of,
)
from benchmarks.streams import (
    coding_session,
    cut,
    first_version,
    first_version_lines,
    joined,
    many_tool_calls,
)
from benchmarks.subjects import (
    applied,
    events_of,
    need_subscriptions,
    received_with_changes,
    received_with_subscribers,
    snapshot_of,
)

READ_SIZE: Final = 64 * 1024
_DECODE_LINES: Final = "typed decode_lines"
_DECODERS: Final = {
    "typed decode": None,
    _DECODE_LINES: Budget(1.2),
    "untyped decode": None,
}
_CONTENT_CHUNKS: Final = Budget(1.3)
_TYPED_V1: Final = "typed decode of v1"
_ONE_LINE: Final = {"one line a read": Budget(6.0), "one line a read, changes read": Budget(14.0)}

_STORE: Final = "store"
_NODE: Final = "Node, JSON.parse and objects"
_WALL: Final = "store by the wall clock, which is Node's"
_FASTER: Final = {
    "orjson and dicts": Budget(1.5, at_least=True),
    _NODE: Budget(1.0, at_least=True),
    "stdlib json and dicts": None,
}


def against_decoders(scale: Scale) -> Iterator[Result]:
    """Compare with decoding the same lines, with the results kept."""
    lines = list(coding_session(scale.updates))
    data = joined(lines)
    runs: dict[str, Callable[[], object]] = {
        _STORE: partial(snapshot_of, cut(data, READ_SIZE)),
        "typed decode": partial(decode_typed, lines),
        _DECODE_LINES: partial(typed_decoder.decode_lines, data),
        "untyped decode": partial(decode_untyped, lines),
    }
    seconds = interleaved(runs, scale.rounds)
    for baseline, budget in _DECODERS.items():
        yield _row(f"bytes to snapshot : {baseline}", seconds, baseline, budget, len(lines))


def first_version_of_the_protocol(scale: Scale) -> Iterator[Result]:
    """Compare v1, with and without ids on its chunks, with decoding the same lines."""
    decode = update_decoder()
    for words, named in (("ids on chunks", True), ("no ids", False)):
        lines = list(first_version_lines(scale.updates // 2, named=named))
        runs: dict[str, Callable[[], object]] = {
            _STORE: partial(_received_in_v1, cut(joined(lines), READ_SIZE)),
            _TYPED_V1: lambda lines=lines: [decode(line) for line in lines],  # type: ignore[misc]  # the default binds it
        }
        seconds = interleaved(runs, scale.rounds)
        name = f"v1, {words} : {_TYPED_V1}"
        yield _row(name, seconds, _TYPED_V1, Budget(2.5), len(lines))


def _received_in_v1(reads: list[bytes]) -> Store:
    store = Store(protocol="v1")
    for read in reads:
        store.receive(read)
    return store


def content_chunks(scale: Scale) -> Iterator[Result]:
    """Compare runs of content chunks of tool calls with decoding the same lines."""
    data = joined(islice(many_tool_calls(), scale.updates // 2))
    runs: dict[str, Callable[[], object]] = {
        _STORE: partial(snapshot_of, cut(data, READ_SIZE)),
        _DECODE_LINES: partial(typed_decoder.decode_lines, data),
    }
    seconds = interleaved(runs, scale.rounds)
    name = f"runs of tool_call_content_chunk : {_DECODE_LINES}"
    yield _row(name, seconds, _DECODE_LINES, _CONTENT_CHUNKS, scale.updates // 2)


def one_line_a_read(scale: Scale) -> Iterator[Result]:
    """Compare reads of one line, as editors get them, with reads of 64 KiB."""
    lines = list(coding_session(scale.updates // 10))
    reads = [line + b"\n" for line in lines]
    subjects = dict(zip(_ONE_LINE, (snapshot_of, received_with_changes), strict=True))
    runs: dict[str, Callable[[], object]] = {
        _STORE: partial(snapshot_of, cut(joined(lines), READ_SIZE)),
        **{name: partial(subject, reads) for name, subject in subjects.items()},
    }
    seconds = interleaved(runs, scale.rounds)
    for name, budget in _ONE_LINE.items():
        note = compared(seconds, name, _STORE, len(lines))
        yield Row(f"{name} : 64 KiB reads", ratios(seconds, name, _STORE), budget, note=note)


def against_hand_written(scale: Scale) -> Iterator[Result]:
    """Compare with reducers that a programmer would write by hand."""
    data = joined(coding_session(scale.updates))
    reads = cut(data, READ_SIZE)
    run = partial(snapshot_of, reads)
    clocks: dict[str, Clock] = {
        _STORE: partial(seconds_of, run),
        "orjson and dicts": _by_hand(reads, "orjson"),
        "stdlib json and dicts": _by_hand(reads, "json"),
    }
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path = Path(folder) / "session.ndjson"
        path.write_bytes(data)
        try:
            node = stack.enter_context(NodeReducer(path, READ_SIZE))
            clocks[_NODE] = node.seconds
            clocks[_WALL] = partial(seconds_of, run, time.perf_counter)
        except UnavailableError as missing:
            yield Skipped(f"{_NODE} : bytes to snapshot", str(missing))
        seconds = interleaved_clocks(clocks, scale.rounds)
    for subject, budget in _FASTER.items():
        if subject in seconds:
            store = _WALL if subject == _NODE else _STORE
            yield Row(
                f"{subject} : bytes to snapshot",
                ratios(seconds, subject, store),
                budget,
                note=compared(seconds, subject, store, scale.updates),
            )


def _by_hand(reads: list[bytes], parser: str) -> Clock:
    return partial(seconds_of, partial(reduce_by_hand, reads, LOADS[parser]))


def by_read_size(scale: Scale) -> Iterator[Result]:
    """Compare reads of other sizes with reads of 64 KiB."""
    data = joined(coding_session(scale.updates))
    runs = {
        _STORE: partial(snapshot_of, cut(data, READ_SIZE)),
        "reads of 512 B": partial(snapshot_of, cut(data, 512)),
        "reads of 4 KiB": partial(snapshot_of, cut(data, 4096)),
        "one read": partial(snapshot_of, [data]),
    }
    seconds = interleaved(runs, scale.rounds)
    for subject in list(runs)[1:]:
        yield Row(
            f"{subject} : reads of 64 KiB",
            ratios(seconds, subject, _STORE),
            note=compared(seconds, subject, _STORE, scale.updates),
        )


def with_subscribers(scale: Scale) -> Iterator[Result]:
    """Compare with subscribers and without."""
    name = "{} subscribed : none"
    try:
        need_subscriptions()
    except UnavailableError as missing:
        yield Skipped(name.format("1 or 8"), str(missing))
        return
    reads = cut(joined(coding_session(scale.updates)), READ_SIZE)
    runs = {str(count): partial(received_with_subscribers, reads, count) for count in (0, 1, 8)}
    seconds = interleaved(runs, scale.rounds)
    for count in ("1", "8"):
        yield Row(
            name.format(count),
            ratios(seconds, count, "0"),
            note=compared(seconds, count, "0", scale.updates),
        )


def at_a_million(scale: Scale) -> Iterator[Result]:
    """Compare with the typed decoder over a long session, part by part, all results kept."""
    lines = coding_session(scale.many)
    store = Store(protocol="v2")
    decoded: list[wire.UpdateMessage] = []
    seconds: dict[str, list[float]] = {_STORE: [], "typed decode": []}
    while part := list(islice(lines, scale.many // 10)):
        reads = cut(joined(part), READ_SIZE)
        seconds[_STORE].append(seconds_of(partial(_receive, store, reads)))
        seconds["typed decode"].append(seconds_of(partial(_decode_onto, decoded, part)))
    yield Row(
        f"bytes to snapshot : typed decode, {scale.many:,} updates",
        ratios(seconds, _STORE, "typed decode"),
        note=compared(seconds, _STORE, "typed decode", scale.many // 10),
        overall=sum(seconds[_STORE]) / sum(seconds["typed decode"]),
    )


def _receive(store: Store, reads: list[bytes]) -> None:
    for read in reads:
        store.receive(read)


def _decode_onto(decoded: list[wire.UpdateMessage], lines: list[bytes]) -> None:
    decode = typed_decoder.decode
    decoded.extend([decode(line) for line in lines])


def against_sdk(scale: Scale) -> Iterator[Result]:
    """Compare a snapshot after each update with that of the Python SDK, in its own protocol."""
    name = f"Python SDK : one apply per update, {scale.sdk:,} updates"
    try:
        sdk = SdkAccumulator()
    except UnavailableError as missing:
        yield Skipped(name, str(missing))
        return
    lines = list(coding_session(scale.sdk))
    notifications = list(first_version(scale.sdk))
    runs: dict[str, Callable[[], object]] = {
        "sdk": partial(sdk.accumulate, notifications),
        _STORE: lambda: applied(events_of(lines)),
    }
    seconds = interleaved(runs, min(3, scale.rounds))
    yield Row(
        name,
        ratios(seconds, "sdk", _STORE),
        note=compared(seconds, "sdk", _STORE, scale.sdk),
    )


def _row(name: str, seconds: Seconds, baseline: str, budget: Budget | None, count: int) -> Row:
    note = compared(seconds, _STORE, baseline, count)
    return Row(name, ratios(seconds, _STORE, baseline), budget, note=note)
