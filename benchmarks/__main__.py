"""Run the benchmarks, print one table of ratios and, at its end, how many budgets hold.

With `--record` the ratios are appended to the history; with `--check` the exit status says whether
one of them is half as bad again as it was last recorded at the same scale.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any, Final

from benchmarks import history
from benchmarks.measuring import FULL, QUICK, Result, Row, Scale, Skipped
from benchmarks.suite import SUITE

_LIBRARIES: Final = ("msgspec", "attrs", "cattrs", "orjson")
_NAME_WIDTH: Final = 58
_HEADER: Final = f"{'':{_NAME_WIDTH}} {'median':>8}  {'spread':<15} {'budget':>8}       each"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what the command line asks for."""
    options = _parser().parse_args(arguments)
    scale = QUICK if options.quick else FULL
    start = time.perf_counter()
    results = []
    if not options.json:
        print(f"{_machine_line()}\n\n{_HEADER}")
    for result in _results(options.only or list(SUITE), scale):
        results.append(result)
        if not options.json:
            print(_line(result), flush=True)
    seconds = time.perf_counter() - start
    if options.json:
        print(json.dumps(_document(results, scale, seconds), indent=2))
    else:
        print(f"\n{_summary(results)} {seconds:.0f} s.")
    if options.check and (found := list(history.worse(results, scale))):
        sys.exit("\n".join(["half as bad again as recorded:", *map(str, found)]))
    if options.record:
        history.record(results, scale)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes: less than a minute")
    parser.add_argument("--json", action="store_true", help="print a JSON document instead")
    parser.add_argument("--record", action="store_true", help="append the ratios to the history")
    parser.add_argument(
        "--check", action="store_true", help="fail if a ratio is half as bad again as recorded"
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        choices=list(SUITE),
        help=f"one benchmark, may be repeated: {', '.join(SUITE)}",
    )
    return parser


def _results(names: Sequence[str], scale: Scale) -> Iterator[Result]:
    for name in names:
        yield from SUITE[name](scale)


# --- The table ---


def _line(result: Result) -> str:
    if isinstance(result, Skipped):
        return f"{result.name:{_NAME_WIDTH}}  skipped: {result.reason}"
    value = f"{_number(result.value)} {result.unit}"
    name = f"{result.name:{_NAME_WIDTH}}"
    return f"{name} {value:>8}  {_spread(result):<15} {_verdict(result):<14} {result.note}".rstrip()


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.{value < 100:d}f}"


def _spread(row: Row) -> str:
    low, high = min(row.values), max(row.values)
    return f"{_number(low)} … {_number(high)}" if len(row.values) > 1 else ""


def _verdict(row: Row) -> str:
    if row.budget is None:
        return ""
    limit = f"{'≥' if row.budget.at_least else '≤'} {row.budget.limit:g} {row.unit}"
    return f"{limit:>8} {'holds' if row.holds else 'FAILS'}"


def _summary(results: Sequence[Result]) -> str:
    verdicts = [row.holds for row in results if isinstance(row, Row) and row.holds is not None]
    return f"{sum(verdicts)} of {len(verdicts)} budgets hold."


# --- The circumstances ---


def _machine() -> dict[str, Any]:
    return {
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "load": _load(),
        "libraries": {name: version(name) for name in _LIBRARIES},
    }


def _load() -> float | None:
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def _machine_line() -> str:
    machine = _machine()
    libraries = ", ".join(f"{name} {number}" for name, number in machine["libraries"].items())
    return f"{machine['python']}, {libraries}\n{machine['machine']}, load {machine['load']}"


def _document(results: Sequence[Result], scale: Scale, seconds: float) -> dict[str, Any]:
    return {
        "scale": scale.name,
        "seconds": round(seconds, 1),
        **_machine(),
        "rows": [_row(result) for result in results],
    }


def _row(result: Result) -> dict[str, Any]:
    if isinstance(result, Skipped):
        return {"name": result.name, "skipped": result.reason}
    budget = result.budget
    return {
        "name": result.name,
        "value": result.value,
        "unit": result.unit,
        "values": list(result.values),
        "note": result.note,
        "budget": budget and {"limit": budget.limit, "at_least": budget.at_least},
        "holds": result.holds,
    }


if __name__ == "__main__":
    main()
