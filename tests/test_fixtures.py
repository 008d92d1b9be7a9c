"""Fixtures: written by their script, valid, kept by the package, and run by others."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import write_fixtures

import acp_client
from acp_client import Frame, InvalidValueError, Store
from acp_client._recordings.playback import Feeder
from acp_client.testing import Fixture, fixtures, run_program
from acp_client.testing.__main__ import main

ROOT = Path(__file__).parents[1]
PACKAGE = Path(acp_client.__file__).parent
SCHEMA = json.loads((PACKAGE / "testing" / "fixture.schema.json").read_text(encoding="utf-8"))
REDUCER = ROOT / "examples" / "reducer.mjs"
NODE = shutil.which("node")


def reduced(fixture: Fixture) -> list[Any]:
    """Return the documents that the package makes of a fixture."""
    store = Store(protocol="v2", observer=True)
    feeder = Feeder(store)
    for number, (sent, data) in enumerate(fixture.lines, 1):
        feeder.take(Frame(number, sent, data.encode()))
    feeder.end()
    return [acp_client.to_document(store.snapshot(one)) for one in store.sessions]


@pytest.mark.parametrize("fixture", fixtures(), ids=str)
def test_the_package_keeps_its_fixtures(fixture: Fixture) -> None:
    """A store leads to the documents that the second implementation gives."""
    assert reduced(fixture) == fixture.documents


@pytest.mark.parametrize("fixture", fixtures(), ids=str)
def test_changes_lead_to_the_documents(fixture: Fixture) -> None:
    """Applied one after the other, the changes of a fixture give its documents."""
    sessions: dict[str, Any] = {}
    for step in fixture.changes:
        before = sessions.get(step["sessionId"], {})
        sessions[step["sessionId"]] = acp_client.apply_changes(before, step["changes"])
    assert list(sessions.values()) == fixture.documents


def test_the_files_are_those_of_the_script() -> None:
    """No fixture was changed by hand, and none is missing."""
    files = write_fixtures.written()
    assert {path: path.read_text(encoding="utf-8") for path in files} == files
    assert set(write_fixtures.FOLDER.rglob("*.json")) == set(files)


def is_valid(value: Any, schema: dict[str, Any]) -> bool:
    """Check a value against what the schema of fixtures uses of JSON Schema."""
    kinds: dict[str, type] = {"object": dict, "array": list, "string": str, "boolean": bool}
    kinds["integer"] = int
    if "const" in schema or "enum" in schema:
        return value in schema.get("enum", [schema.get("const")])
    if not isinstance(value, kinds[schema["type"]]):
        return False
    if isinstance(value, list):
        return all(is_valid(item, schema["items"]) for item in value)
    if isinstance(value, dict):
        known = schema.get("properties", {})
        closed = schema.get("additionalProperties", True) or value.keys() <= known.keys()
        inside = all(is_valid(value[key], known[key]) for key in value.keys() & known.keys())
        return closed and inside and set(schema.get("required", ())) <= value.keys()
    return True


@pytest.mark.parametrize(
    "path", sorted(write_fixtures.FOLDER.rglob("*.json")), ids=lambda p: p.stem
)
def test_fixtures_are_valid(path: Path) -> None:
    """A file is what the schema says, in the folder of its group."""
    found = json.loads(path.read_text(encoding="utf-8"))
    assert is_valid(found, SCHEMA)
    assert found["group"] == path.parent.name
    assert not is_valid({**found, "more": 1}, SCHEMA)


def test_groups_are_chosen_by_name() -> None:
    """Some groups, or all of them; another name is misuse."""
    assert {fixture.group for fixture in fixtures("plans", "meta")} == {"plans", "meta"}
    assert len(fixtures()) > 60
    with pytest.raises(InvalidValueError):
        fixtures("nothing")


# --- The runner ---

ECHO = "import sys, json\nfor line in sys.stdin: print({}, flush=True)"


@pytest.mark.parametrize(
    ("program", "error"),
    [
        (ECHO.format("json.dumps({'documents': []})"), None),
        (ECHO.format("'oops'"), "the answer is not JSON"),
        ("", "the program ended without an answer"),
    ],
)
def test_a_program_that_fails(program: str, error: str | None) -> None:
    """A wrong answer, no JSON and no answer at all are failures that say what went wrong."""
    outcomes = list(run_program([sys.executable, "-c", program], "plans"))
    assert [outcome.passed for outcome in outcomes] == [False, False]
    assert {outcome.error for outcome in outcomes} == {error}


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """The runner prints failures and counts, and its status says whether there were any."""
    program = [sys.executable, "-c", ECHO.format("json.dumps([])")]
    assert main(["--group", "plans", *program]) == 1
    printed = capsys.readouterr().out
    assert "FAILED plans: A plan is replaced by its id" in printed
    assert printed.endswith("0 passed, 2 failed\n")
    assert main([]) == 2


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_the_reducer_in_javascript() -> None:
    """The example passes the first group, and is as short as it says."""
    assert NODE is not None
    assert all(one.passed for one in run_program([NODE, str(REDUCER)], "messages"))
    code = [
        line
        for line in REDUCER.read_text(encoding="utf-8").splitlines()
        if line.strip() and not line.startswith("//")
    ]
    assert len(code) <= 40


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_changes_are_applied_in_javascript() -> None:
    """The example for web views mirrors every fixture."""
    assert NODE is not None
    outcomes = list(run_program([NODE, str(ROOT / "examples" / "apply_changes.mjs")]))
    assert [str(one.fixture) for one in outcomes if not one.passed] == []


# --- The plugin ---

PLUGGED = """
import json
import acp_client
from acp_client.testing import Fixture

pytest_plugins = ["acp_client.testing"]


def test_my_reducer(acp_fixture: Fixture) -> None:
    assert acp_fixture.documents
    assert acp_fixture.group == "plans"
"""


@pytest.mark.long
def test_the_plugin(tmp_path: Path) -> None:
    """A test of anybody gets each fixture of the chosen groups."""
    (tmp_path / "test_mine.py").write_text(PLUGGED, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "acp_client.testing"]
    result = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--acp-group", "plans", "test_mine.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in result.stdout, result.stdout + result.stderr
