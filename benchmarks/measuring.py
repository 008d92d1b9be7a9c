"""How a number comes to be: interleaved runs, their ratios, and rows of the table.

The rules:

- Subject and baseline run in turn (A B A B …) in one process. The collector has run before each,
  and what a run returns is kept until its clock is read.
- The clock is the processor time of the process, so that what else the machine does counts less.
- The first round warms up and does not count. A ratio is that of two neighbouring runs; a row shows
  the median of the ratios and how far they spread.
- A row without a budget is there to be looked at.
"""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, TypeAlias

import attrs

Run: TypeAlias = Callable[[], object]
Clock: TypeAlias = Callable[[], float]
Seconds: TypeAlias = Mapping[str, Sequence[float]]


@attrs.frozen
class Budget:
    """The limit of a row's value: at most that much, or at least."""

    limit: float
    at_least: bool = False

    def holds(self, value: float) -> bool:
        """Return whether a value is within the budget."""
        return value >= self.limit if self.at_least else value <= self.limit


@attrs.frozen
class Row:
    """One number of the table: mostly a ratio.

    `values` are those of single runs. What counts is their median, or `overall` if it is given:
    the ratio of sums, for runs that are parts of one.
    """

    name: str
    values: tuple[float, ...]
    budget: Budget | None = None
    unit: str = "x"
    note: str = ""
    overall: float | None = None

    @property
    def value(self) -> float:
        """What counts."""
        return statistics.median(self.values) if self.overall is None else self.overall

    @property
    def holds(self) -> bool | None:
        """Whether the budget holds; `None` where there is none."""
        return None if self.budget is None else self.budget.holds(self.value)


@attrs.frozen
class Skipped:
    """A row that cannot be measured here, and why."""

    name: str
    reason: str


Result: TypeAlias = Row | Skipped


@attrs.frozen(kw_only=True)
class Scale:
    """How much is measured."""

    name: str
    rounds: int
    """Interleaved runs that count."""
    updates: int
    """Updates of the coding session."""
    applied: int
    """Updates that are applied one by one."""
    odd: int
    """Updates of streams with unknown variants or mistakes."""
    many: int
    """Updates of sessions that grow large."""
    few: int
    """Updates of the small sessions that they are compared with."""
    many_entries: int
    few_entries: int
    sdk: int
    """Updates that the Python SDK can bear."""
    imports: int
    """Imports in fresh processes."""
    patience: float
    """Seconds after which a session stops growing."""
    fewer: int = 1
    """How many times fewer of each kind of thing are sent."""


FULL: Final = Scale(
    name="full",
    rounds=11,
    updates=100_000,
    applied=20_000,
    odd=10_000,
    many=1_000_000,
    few=10_000,
    many_entries=100_000,
    few_entries=100,
    sdk=600,
    imports=21,
    patience=24.0,
)
QUICK: Final = attrs.evolve(
    FULL,
    name="quick",
    rounds=5,
    updates=30_000,
    applied=6_000,
    odd=3_000,
    many=200_000,
    many_entries=20_000,
    sdk=200,
    imports=7,
    patience=4.0,
    fewer=4,
)


def measure(
    benchmark: Any, run: Callable[..., object], *arguments: object, iterations: int = 1
) -> None:
    """Measure with the fixture of pytest-benchmark."""
    benchmark.pedantic(run, args=arguments, rounds=15, iterations=iterations, warmup_rounds=2)


clock: Final = time.process_time
TICK: Final = time.get_clock_info("process_time").resolution


def seconds_of(run: Run, now: Clock = clock) -> float:
    """Run once; return the seconds that it took. The collector has run before."""
    gc.collect()
    start = now()
    result = run()
    seconds = now() - start
    del result
    return max(seconds, TICK)


def interleaved(runs: Mapping[str, Run], rounds: int) -> dict[str, list[float]]:
    """Run all in turn, round by round; return the seconds of each."""
    clocks = {name: partial(seconds_of, run) for name, run in runs.items()}
    return interleaved_clocks(clocks, rounds)


def interleaved_clocks(clocks: Mapping[str, Clock], rounds: int) -> dict[str, list[float]]:
    """Call clocks in turn, round by round; each returns the seconds of a run of its own."""
    for clock in clocks.values():
        clock()
    seconds: dict[str, list[float]] = {name: [] for name in clocks}
    for _ in range(rounds):
        for name, clock in clocks.items():
            seconds[name].append(clock())
    return seconds


def ratios(seconds: Seconds, subject: str, baseline: str) -> tuple[float, ...]:
    """Return how many times as long the subject took, round by round."""
    return tuple(a / b for a, b in zip(seconds[subject], seconds[baseline], strict=True))


def each(seconds: Sequence[float], count: int) -> str:
    """Return what one of `count` took, by the median."""
    return duration(statistics.median(seconds) / count)


def duration(seconds: float) -> str:
    """Write a duration for a reader."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def compared(seconds: Seconds, subject: str, baseline: str, count: int) -> str:
    """Return what one of `count` took, for the subject and for the baseline."""
    return f"{each(seconds[subject], count)} : {each(seconds[baseline], count)}"


@attrs.define
class Traced:
    """What a traced piece of code allocated: bytes that are kept, and the most at any time."""

    kept: int = 0
    peak: int = 0


def traced(run: Callable[[], Any]) -> tuple[Any, Traced]:
    """Run with `tracemalloc`; return the result and what it needs, garbage left out."""
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = run()
        gc.collect()
        kept, peak = tracemalloc.get_traced_memory()
        return result, Traced(kept - before, peak - before)
    finally:
        tracemalloc.stop()


@contextmanager
def collector_pauses() -> Iterator[list[float]]:
    """Note the seconds of each pause of the garbage collector."""
    pauses: list[float] = []
    begun = 0.0

    def on_collection(phase: str, info: Mapping[str, int]) -> None:
        nonlocal begun
        if phase == "start":
            begun = clock()
        else:
            pauses.append(clock() - begun)

    gc.collect()
    gc.callbacks.append(on_collection)
    try:
        yield pauses
    finally:
        gc.callbacks.remove(on_collection)
