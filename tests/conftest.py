"""Hypothesis profiles, and the section of the test report that lists readings of our own.

`HYPOTHESIS_PROFILE` chooses the profile: `dev` (the default, quick), `ci` (the same examples in
every run) or `thorough`. Laws over whole sessions take the number of examples from it.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

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
