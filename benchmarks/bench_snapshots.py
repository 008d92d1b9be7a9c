"""What is done with snapshots, for comparing two commits with pytest-benchmark."""

from __future__ import annotations

from typing import Final

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from acp_client import Snapshot, apply_all, dumps, loads, to_document
from benchmarks.baselines import UnavailableError
from benchmarks.measuring import measure
from benchmarks.snapshots import before_and_after
from benchmarks.streams import SESSION, coding_session, joined
from benchmarks.subjects import applied, changes_function, events_of, snapshot_of

UPDATES: Final = 10_000


def test_apply(benchmark: BenchmarkFixture) -> None:
    """One `apply` per update, every snapshot kept."""
    measure(benchmark, applied, events_of(coding_session(UPDATES)))


def test_apply_all(benchmark: BenchmarkFixture) -> None:
    """All events at once."""
    measure(benchmark, apply_all, Snapshot(SESSION), events_of(coding_session(UPDATES)))


@pytest.mark.parametrize("entries", [100, 100_000])
def test_changes(benchmark: BenchmarkFixture, entries: int) -> None:
    """`changes` of one small batch, by the length of the session."""
    try:
        changes = changes_function()
    except UnavailableError as missing:
        pytest.skip(str(missing))
    old, new = before_and_after(entries)
    measure(benchmark, changes, old, new, iterations=100)


def test_to_document(benchmark: BenchmarkFixture) -> None:
    """The document of a session."""
    measure(benchmark, to_document, snapshot_of([joined(coding_session(UPDATES))]))


def test_dumps(benchmark: BenchmarkFixture) -> None:
    """Storing a session."""
    measure(benchmark, dumps, snapshot_of([joined(coding_session(UPDATES))]))


def test_loads(benchmark: BenchmarkFixture) -> None:
    """Restoring a session."""
    measure(benchmark, loads, dumps(snapshot_of([joined(coding_session(UPDATES))])))
