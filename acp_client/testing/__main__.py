"""`python -m acp_client.testing COMMAND...`: hold a program to the fixtures.

`--group NAME` before the command chooses a group. The exit status is 1 if a fixture failed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from .._text import escape
from . import Outcome, run_program


def main(arguments: Sequence[str]) -> int:
    """Run a command line; return the exit status."""
    words, groups = list(arguments), []
    while words[:1] == ["--group"] and len(words) > 1:
        groups.append(words[1])
        words = words[2:]
    if not words or words[0].startswith("-"):
        sys.stderr.write("usage: python -m acp_client.testing [--group NAME] COMMAND...\n")
        return 2
    outcomes = [_told(outcome) for outcome in run_program(words, *groups)]
    failed = sum(not outcome.passed for outcome in outcomes)
    sys.stdout.write(f"{len(outcomes) - failed} passed, {failed} failed\n")
    return 1 if failed else 0


def _told(outcome: Outcome) -> Outcome:
    """Print a failure as it comes."""
    if not outcome.passed:
        wanted = json.dumps(outcome.fixture.documents)
        found = outcome.error or json.dumps(outcome.documents)
        text = f"FAILED {outcome.fixture}\n  expected {wanted}\n  got      {found}\n"
        sys.stdout.write(escape(text))
    return outcome


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
