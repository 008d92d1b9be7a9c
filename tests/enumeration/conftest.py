"""How many sequences were tried is printed at the end of a run."""

from __future__ import annotations

from collections import Counter

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Add up the numbers that the tests recorded, by conversation and protocol."""
    counts: Counter[str] = Counter()
    for report in terminalreporter.getreports("passed"):
        for name, number in report.user_properties:
            if name.startswith("sequences"):
                counts[name] += number
    for name, number in sorted(counts.items()):
        terminalreporter.write_line(f"{name}: {number:,}")
