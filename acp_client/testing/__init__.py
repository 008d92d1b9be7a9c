"""Scenarios that any reducer of the protocol can be held to, in Python or not.

A fixture is a JSON file: the lines of a connection, the snapshot documents that they must lead to,
and the changes that lead there step by step (`fixture.schema.json` describes it). They lie beside
this module, in a folder for each group.

In Python, a test module loads the pytest plugin and holds a function to all fixtures:

    pytest_plugins = ["acp_client.testing"]

    def test_my_reducer(acp_fixture):
        assert my_reducer(acp_fixture.lines) == acp_fixture.documents

For other languages `python -m acp_client.testing COMMAND` starts a program once and sends it each
fixture as one line of JSON, without its documents; the program answers each with one line that
holds the documents.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import attrs

from .._errors import InvalidValueError

__all__ = ["Fixture", "Outcome", "fixtures", "run_program"]

VERSION: Final = 1
_FOLDER: Final = Path(__file__).parent / "fixtures"


@attrs.frozen
class Fixture:
    """A scenario.

    `lines` are pairs: whether the client wrote the line, and the line. `changes` are those of a
    session after a line, for what mirrors a store; applied from nothing they lead to `documents`.
    """

    group: str
    description: str
    protocol: str
    lines: tuple[tuple[bool, str], ...]
    documents: list[dict[str, Any]]
    changes: list[dict[str, Any]]

    def __str__(self) -> str:
        return f"{self.group}: {self.description}"

    def question(self) -> dict[str, Any]:
        """Return what a program in another language is asked: all but the documents."""
        lines = [{"sent": sent, "data": data} for sent, data in self.lines]
        return {
            "group": self.group,
            "description": self.description,
            "protocol": self.protocol,
            "lines": lines,
            "changes": self.changes,
        }


@attrs.frozen
class Outcome:
    """What became of a fixture: the documents that were returned, or what went wrong."""

    fixture: Fixture
    documents: Any
    error: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the documents are those that were expected."""
        return self.error is None and bool(self.documents == self.fixture.documents)


def fixtures(*groups: str) -> list[Fixture]:
    """Return all fixtures, or those of some groups.

    Raises `InvalidValueError` for a group that is not there.
    """
    known = sorted(path.name for path in _FOLDER.iterdir() if path.is_dir())
    unknown = sorted(set(groups) - set(known))
    if unknown:
        raise InvalidValueError(f"no group {unknown[0]!r}; there are {', '.join(known)}")
    paths = (path for group in groups or known for path in sorted((_FOLDER / group).glob("*.json")))
    return [_read(path) for path in paths]


def _read(path: Path) -> Fixture:
    found = json.loads(path.read_text(encoding="utf-8"))
    if found["version"] != VERSION:
        raise InvalidValueError(f"{path.name} has version {found['version']}")
    lines = tuple((line["sent"], line["data"]) for line in found["lines"])
    return Fixture(
        found["group"],
        found["description"],
        found["protocol"],
        lines,
        found["documents"],
        found["changes"],
    )


def run_program(command: Sequence[str], *groups: str) -> Iterator[Outcome]:
    """Start a program and ask it each fixture; return the outcomes as they come."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with (
        suppress(BrokenPipeError),  # what a program that has ended did not take
        subprocess.Popen(list(command), **pipes, text=True, encoding="utf-8") as process,  # type: ignore[call-overload]  # noqa: S603  # the caller's own program
    ):
        if process.stdin is None or process.stdout is None:
            raise InvalidValueError("the program has no standard input and output")
        for fixture in fixtures(*groups):
            with suppress(BrokenPipeError):  # it has ended, and there is no answer
                process.stdin.write(json.dumps(fixture.question()) + "\n")
                process.stdin.flush()
            yield _outcome(fixture, process.stdout.readline())


def _outcome(fixture: Fixture, answer: str) -> Outcome:
    if not answer:
        return Outcome(fixture, None, "the program ended without an answer")
    try:
        found = json.loads(answer)
    except ValueError:
        return Outcome(fixture, None, "the answer is not JSON")
    documents = found.get("documents") if isinstance(found, dict) else found
    return Outcome(fixture, documents)


# --- The pytest plugin ---


def pytest_addoption(parser: Any) -> None:
    """Add `--acp-group`."""
    parser.addoption(
        "--acp-group",
        action="append",
        default=[],
        help="a group of fixtures for `acp_fixture`; may be given more than once",
    )


def pytest_generate_tests(metafunc: Any) -> None:
    """Give each fixture of the protocol to a test that takes `acp_fixture`."""
    if "acp_fixture" in metafunc.fixturenames:
        chosen: Callable[..., Any] = metafunc.parametrize
        groups = metafunc.config.getoption("--acp-group", default=[])
        chosen("acp_fixture", fixtures(*groups), ids=str)
