"""The benchmarks themselves: same streams every time, fair baselines, and none is broken."""

import json
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import attrs
import pytest

from acp_client import Store, to_document
from benchmarks import __main__ as command
from benchmarks import growth, history, streams
from benchmarks.baselines import (
    LOADS,
    NodeReducer,
    UnavailableError,
    reduce_by_hand,
)
from benchmarks.measuring import QUICK, Budget, Row, Skipped
from benchmarks.subjects import snapshot_of
from benchmarks.suite import SUITE

TINY = attrs.evolve(
    QUICK,
    name="tiny",
    rounds=1,
    updates=500,
    applied=100,
    odd=50,
    many=2000,
    few=100,
    many_entries=200,
    few_entries=100,
    sdk=20,
    imports=1,
    fewer=100,
)
ENDLESS = {
    "coding session": lambda: streams.coding_session(sys.maxsize),
    "first version": lambda: streams.first_version(sys.maxsize),
    "long message": streams.long_message,
    "many messages": streams.many_messages,
    "many tool calls": streams.many_tool_calls,
    "long terminal": streams.long_terminal,
    "unknown variants": streams.unknown_variants,
    "malformed": streams.malformed,
    "well-formed": streams.well_formed,
}
ENTRIES = {"long message": 1, "many messages": 60, "many tool calls": 6, "long terminal": 0}
UPDATES = 600

Lines = Callable[[], Iterator[bytes]]


@pytest.mark.parametrize("lines", ENDLESS.values(), ids=ENDLESS)
def test_streams_are_the_same_every_time(lines: Lines) -> None:
    """A stream has no randomness but that of its seed."""
    assert list(islice(lines(), UPDATES)) == list(islice(lines(), UPDATES))


def test_the_coding_session_has_the_length_of_line_that_budgets_are_about() -> None:
    """The lines of the coding session are about 200 bytes long."""
    data = streams.joined(streams.coding_session(5000))
    assert 180 < len(data) / 5000 < 240


@pytest.mark.parametrize("name", [name for name in ENDLESS if name != "first version"])
def test_only_malformed_streams_have_problems(name: str) -> None:
    """Each malformed line has one problem, and no other line has any."""
    store = Store()
    store.receive(streams.joined(islice(ENDLESS[name](), 100)))
    assert sum(store.problem_counts.values()) == (100 if name == "malformed" else 0)


@pytest.mark.parametrize(("name", "entries"), ENTRIES.items(), ids=ENTRIES)
def test_streams_grow_in_their_direction(name: str, entries: int) -> None:
    """A stream has as many entries as its name says."""
    snapshot = snapshot_of([streams.joined(islice(ENDLESS[name](), UPDATES))])
    assert len(snapshot.entries) == entries


def test_cut_reads_are_the_stream() -> None:
    """Cutting loses nothing, in reads of the size that was asked for."""
    data = streams.joined(streams.coding_session(20))
    reads = streams.cut(data, 100)
    assert b"".join(reads) == data
    assert {len(read) for read in reads[:-1]} == {100}


def _stream_of_everything() -> bytes:
    parts = [lines for name, lines in ENDLESS.items() if name not in ("malformed", "first version")]
    return streams.joined(line for lines in parts for line in islice(lines(), 300))


def _document(data: bytes) -> Any:
    return json.loads(json.dumps(to_document(snapshot_of([data]))))


@pytest.mark.parametrize("parser", LOADS)
def test_hand_written_reducer_ends_with_the_same_session(parser: str) -> None:
    """The baseline in Python does all that the store does for well-formed updates."""
    data = _stream_of_everything()
    document = _document(data)
    sessions = reduce_by_hand(streams.cut(data, 1000), LOADS[parser])
    session = sessions.sessions[streams.SESSION]
    assert list(session["entries"].values()) == document["entries"]
    assert session["state"] == document["state"]
    assert session["usage"] == document["usage"]
    outputs = [bytes(terminal["output"]) for terminal in session["terminals"].values()]
    assert outputs == [terminal.output for terminal in snapshot_of([data]).terminals]


def test_node_reducer_ends_with_the_same_session(tmp_path: Path) -> None:
    """So does the baseline in JavaScript, where Node is installed."""
    data = _stream_of_everything()
    path = tmp_path / "session.ndjson"
    path.write_bytes(data)
    document = _document(data)
    try:
        with NodeReducer(path, 1000) as node:
            (session,) = node.document()
            assert node.seconds() > 0
    except UnavailableError as missing:
        pytest.skip(str(missing))
    assert session == {key: document[key] for key in ("entries", "terminals", "state", "usage")}


@pytest.mark.parametrize("name", SUITE)
def test_every_benchmark_runs(name: str) -> None:
    """Each benchmark gives rows of finite numbers, or says why it cannot."""
    results = list(SUITE[name](TINY))
    assert results
    for result in results:
        if isinstance(result, Skipped):
            assert result.reason
        else:
            assert all(math.isfinite(value) for value in result.values)


def test_growing_stops_when_patience_ends() -> None:
    """A session that grows too slowly is not grown to its end."""
    growing = growth.Growing(growth.SHAPES["one long message"])
    growing.grow(10_000, patience=0.0)
    assert growing.updates < 10_000


def test_benchmarks_for_two_commits_run() -> None:
    """The files for pytest-benchmark pass when each benchmark runs once."""
    folder = Path(growth.__file__).parent
    arguments = ["-m", "pytest", str(folder), "-q", "--benchmark-disable"]
    ended = subprocess.run(
        [sys.executable, *arguments], cwd=folder.parent, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stdout


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `--quick` quicker."""
    monkeypatch.setattr(command, "QUICK", TINY)


@pytest.mark.usefixtures("tiny")
def test_command_line_prints_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    """The table has a line for each row and ends with how many budgets hold."""
    command.main(["--quick", "--only", "apply", "--only", "unknown"])
    printed = capsys.readouterr().out.splitlines()
    assert [line.split(" : ")[0] for line in printed[4:8]] == [
        "one apply per update",
        printed[5],
        "an unknown variant, received",
        "an unknown variant, decoded",
    ]
    assert "of 4 budgets hold" in printed[-1]


@pytest.mark.usefixtures("tiny")
def test_command_line_prints_json(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON document has the rows with their budgets."""
    command.main(["--quick", "--json", "--only", "lenient"])
    document = json.loads(capsys.readouterr().out)
    assert document["scale"] == "tiny"
    assert [row["budget"] for row in document["rows"]] == [{"limit": 20, "at_least": False}] * 2


@pytest.mark.usefixtures("tiny")
def test_ratios_are_recorded_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was recorded is what later runs are checked against, at the same scale."""
    path = tmp_path / "history.jsonl"
    monkeypatch.setattr(history.record, "__defaults__", (path,))
    monkeypatch.setattr(history.worse, "__defaults__", (path,))
    command.main(["--quick", "--only", "text-length", "--check", "--record"])
    command.main(["--quick", "--only", "text-length", "--check"])
    (entry,) = map(json.loads, path.read_text().splitlines())
    assert entry["scale"] == "tiny"
    tenth = {name: value / 10 for name, value in entry["ratios"].items()}
    path.write_text(json.dumps(entry | {"ratios": tenth}))
    with pytest.raises(SystemExit, match="half as bad again"):
        command.main(["--quick", "--only", "text-length", "--check"])


@pytest.mark.parametrize(
    ("row", "is_worse"),
    [
        (Row("a", (3.0,)), False),
        (Row("a", (3.1,)), True),
        (Row("a", (1.4,), Budget(1.5, at_least=True)), False),
        (Row("a", (1.3,), Budget(1.5, at_least=True)), True),
        (Row("a", (9.0,), unit="B"), False),
        (Row("other", (9.0,)), False),
    ],
)
def test_what_is_half_as_bad_again_is_worse(row: Row, is_worse: bool, tmp_path: Path) -> None:
    """A ratio may be half as large again, or a third smaller where it should be large."""
    path = tmp_path / "history.jsonl"
    history.record([Row("a", (2.0,))], TINY, path)
    assert bool(list(history.worse([row], TINY, path))) is is_worse
    assert not list(history.worse([row], QUICK, path))


@pytest.mark.parametrize(
    ("budget", "value", "holds"),
    [
        (Budget(1.3), 1.3, True),
        (Budget(1.3), 1.31, False),
        (Budget(1.5, at_least=True), 1.5, True),
        (Budget(1.5, at_least=True), 1.49, False),
        (None, 9.0, None),
    ],
)
def test_budgets_are_limits_of_the_median(
    budget: Budget | None, value: float, holds: bool | None
) -> None:
    """A budget counts for the median of the runs, from above or from below."""
    assert Row("row", (0.0, value, 99.0), budget).holds is holds
