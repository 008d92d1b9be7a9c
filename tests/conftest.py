"""What all tests share: the long ones are named, Hypothesis has profiles, Ctrl-C works.

`make test` runs what is not `long`: what a developer waits for. `make check` runs everything.
A test is long if it is marked so, or if its file is one of `LONG_FILES`.

Captured traffic that may not be part of the repository is looked for beside it, in `../shared`. The
tests that need it are marked `shared` and are deselected where it is missing. What holds the
package to the protocol needs nothing but the repository: the schemas are in `tests/schemas`.

`HYPOTHESIS_PROFILE` chooses the profile: `dev` (the default, quick), `ci` (the same examples in
every run) or `thorough`. Laws over whole sessions take the number of examples from it.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent

LONG_FILES = frozenset(
    {
        "test_benchmarks.py",
        "test_closing.py",
        "test_examples.py",
        "test_faults.py",
        "test_fuzz.py",
        "test_interrupts.py",
        "test_memory.py",
        "test_neovim.py",
        "test_neovim_drawing.py",
        "test_scripted_agent.py",
        "test_soak.py",
        "test_strategies.py",
        "test_threads.py",
    }
)
"""Files with interrupts, threads, memory, benchmarks, examples and the generators themselves."""

HAS_SHARED_TRAFFIC = (HERE.parents[1] / "shared" / "recordings").is_dir()

# A shell that starts a job in the background lets it ignore Ctrl-C, and every child inherits that.
signal.signal(signal.SIGINT, signal.default_int_handler)

SLOW_MACHINE = [HealthCheck.too_slow]

settings.register_profile(
    "dev", max_examples=100, deadline=None, suppress_health_check=SLOW_MACHINE
)
settings.register_profile(
    "ci",
    max_examples=150,
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=SLOW_MACHINE,
)
settings.register_profile(
    "thorough", max_examples=5_000, deadline=None, suppress_health_check=SLOW_MACHINE
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

OWN_READINGS = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """Make the list that tests add their lines to."""
    config.stash[OWN_READINGS] = []


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests of the long files; deselect those whose traffic is missing."""
    for item in items:
        if item.path.name in LONG_FILES:
            item.add_marker(pytest.mark.long)
    if not HAS_SHARED_TRAFFIC:
        missing = [item for item in items if item.get_closest_marker("shared")]
        config.hook.pytest_deselected(items=missing)
        items[:] = [item for item in items if item not in missing]


@pytest.fixture
def own_readings(request: pytest.FixtureRequest) -> list[str]:
    """Give the list of messages that are read in our own way, for the report at the end."""
    return request.config.stash[OWN_READINGS]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print which messages of the corpus are read in our own way, and why."""
    if config.stash[OWN_READINGS]:
        terminalreporter.section("messages read in our own way, and why")
        for reading in config.stash[OWN_READINGS]:
            terminalreporter.write_line(reading)
