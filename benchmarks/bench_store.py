"""Bytes to snapshots, for comparing two commits with pytest-benchmark."""

from __future__ import annotations

from itertools import islice
from typing import Final

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from acp_client import Store, decode
from benchmarks.baselines import UnavailableError, decode_typed
from benchmarks.growth import SHAPES, Growing
from benchmarks.measuring import measure
from benchmarks.streams import SESSION, coding_session, cut, joined, malformed, unknown_variants
from benchmarks.subjects import need_subscriptions, received_with_subscribers, snapshot_of

UPDATES: Final = 20_000


def test_typed_decode(benchmark: BenchmarkFixture) -> None:
    """The typed decoder alone, as a measure of the machine."""
    measure(benchmark, decode_typed, list(coding_session(UPDATES)))


@pytest.mark.parametrize("size", [512, 4096, 65536, 1 << 30])
def test_receive(benchmark: BenchmarkFixture, size: int) -> None:
    """The coding session, by size of read."""
    measure(benchmark, snapshot_of, cut(joined(coding_session(UPDATES)), size))


@pytest.mark.parametrize("subscribers", [1, 8])
def test_receive_with_subscribers(benchmark: BenchmarkFixture, subscribers: int) -> None:
    """The coding session in reads of 4 KiB, with subscribers."""
    try:
        need_subscriptions()
    except UnavailableError as missing:
        pytest.skip(str(missing))
    reads = cut(joined(coding_session(UPDATES)), 4096)
    measure(benchmark, received_with_subscribers, reads, subscribers)


@pytest.mark.parametrize("name", SHAPES)
def test_grow(benchmark: BenchmarkFixture, name: str) -> None:
    """A session that grows in one direction, its newest text read after every batch."""

    def grow() -> None:
        Growing(SHAPES[name]).grow(UPDATES // 4, patience=60)

    measure(benchmark, grow)


ODD: Final = {"unknown": unknown_variants, "malformed": malformed}


@pytest.mark.parametrize("name", ODD)
def test_receive_odd(benchmark: BenchmarkFixture, name: str) -> None:
    """Streams of unknown variants and of mistakes."""
    measure(benchmark, snapshot_of, [joined(islice(ODD[name](), UPDATES // 10))])


@pytest.mark.parametrize("name", ODD)
def test_decode_odd(benchmark: BenchmarkFixture, name: str) -> None:
    """One line at a time of the same streams."""
    lines = list(islice(ODD[name](), UPDATES // 10))
    measure(benchmark, lambda: [decode(line) for line in lines])


def test_receive_byte_by_byte(benchmark: BenchmarkFixture) -> None:
    """A few lines, one byte at a time."""
    data = joined(coding_session(50))

    def receive() -> object:
        store = Store()
        for start in range(len(data)):
            store.receive(data[start : start + 1])
        return store.snapshot(SESSION)

    measure(benchmark, receive)
