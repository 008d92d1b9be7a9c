"""The ratios of earlier commits, in a file beside this one: what is recorded, and what got worse.

Each line of the file is a JSON object: the commit, the day, the scale, the Python, and the value of
every ratio by the name of its row. Ratios compare two things on one machine, so those of other
machines can be compared with them, roughly: what is half as bad again has got worse.
"""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import attrs

from benchmarks.measuring import Result, Row, Scale

HISTORY: Final = Path(__file__).with_name("history.jsonl")
_WORSE: Final = 1.5


@attrs.frozen
class Worse:
    """A ratio that is half as bad again as it was when it was last recorded."""

    name: str
    recorded: float
    value: float

    def __str__(self) -> str:
        """Write it for a reader."""
        return f"{self.name}: {self.value:.2f}, recorded was {self.recorded:.2f}"


def record(results: Iterable[Result], scale: Scale, path: Path = HISTORY) -> None:
    """Append the ratios of this commit."""
    entry = {
        "commit": _commit(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "scale": scale.name,
        "python": platform.python_version(),
        "ratios": {row.name: round(row.value, 3) for row in _ratios(results)},
    }
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry, ensure_ascii=False) + "\n")


def worse(results: Iterable[Result], scale: Scale, path: Path = HISTORY) -> Iterator[Worse]:
    """Yield the ratios that are half as bad again as they were last recorded at this scale."""
    recorded = _last(scale, path)
    for row in _ratios(results):
        before = recorded.get(row.name)
        if before is not None and _is_worse(row, before):
            yield Worse(row.name, before, row.value)


def _is_worse(row: Row, before: float) -> bool:
    if row.budget is not None and row.budget.at_least:
        return row.value * _WORSE < before
    return row.value > before * _WORSE


def _ratios(results: Iterable[Result]) -> Iterator[Row]:
    return (row for row in results if isinstance(row, Row) and row.unit == "x")


def _last(scale: Scale, path: Path) -> Mapping[str, float]:
    """Return the newest value of each ratio at a scale."""
    found: dict[str, Any] = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        entry = json.loads(line)
        if entry["scale"] == scale.name:
            found |= entry["ratios"]
    return found


def _commit() -> str:
    """Return the commit of the checkout, with a `+` where files differ from it."""
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    ended = subprocess.run(
        command, capture_output=True, text=True, cwd=HISTORY.parent
    )  # whichever git there is
    return ended.stdout.strip() or "unknown"
