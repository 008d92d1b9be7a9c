"""Journals: appended to, cut off anywhere, opened by their end, and asked for any state."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import strategies
from click.testing import CliRunner
from hypothesis import given, settings
from log_traffic import RECORDINGS, documents, frames_of, read, reduced
from traffic import BUNDLED, chunk_line, update_line

import acp_client
from acp_client import Frame, Journal, bisect, first_difference, state_hash
from acp_client._cli.commands import commands
from acp_client._log_tools import journal as journal_module
from acp_client._log_tools.compact_v2 import CompactedV2

CODING = BUNDLED / "coding-session.ndjson"


def states(frames: Any, protocol: Any = None) -> dict[str, Any]:
    """Return the snapshots that frames lead to."""
    store = reduced(frames, protocol)
    return {session_id: store.snapshot(session_id) for session_id in store.sessions}


def hashes(found: Any) -> dict[str, str]:
    """Return the hash of each session."""
    return {session_id: state_hash(snapshot) for session_id, snapshot in found.items()}


def written(path: Path, frames: Any) -> Path:
    """Write a journal."""
    with Journal(path) as journal:
        for frame in frames:
            journal.append_frame(frame)
    return path


@pytest.mark.parametrize("least", [2000, 1 << 20])
@pytest.mark.parametrize("path", RECORDINGS)
def test_a_journal_leads_to_the_documents_of_its_recording(
    path: Path, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many states are written between, a journal is read as the recording was."""
    monkeypatch.setattr(journal_module, "_LEAST", least)
    frames = read(path)[:200]
    file = written(tmp_path / "j", frames)
    with Journal(file) as journal:
        assert journal.frames == len(frames)
        assert hashes(journal.at()) == hashes(states(frames))
    assert documents(read(file)) == documents(frames)


@pytest.mark.parametrize("name", ["coding-session", "two-sessions", "resume-replay", "malformed"])
def test_the_state_at_any_line(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`at` is what the first lines lead to, wherever the states before it were written."""
    monkeypatch.setattr(journal_module, "_LEAST", 1500)
    frames = read(BUNDLED / f"{name}.ndjson")
    with Journal(written(tmp_path / "j", frames)) as journal:
        for line in range(0, len(frames) + 1, 7):
            assert hashes(journal.at(line=line)) == hashes(states(frames[:line]))


@settings(max_examples=30)
@given(strategies.sessions(well_formed=False, max_frames=30))
def test_a_log_goes_on_from_any_state(frames: list[Any]) -> None:
    """What a state leads to when more comes is what all frames lead to."""
    given_frames = frames_of(*frames)
    middle = len(given_frames) // 2
    compacted = CompactedV2({}).taken(given_frames[:middle])
    again = [*compacted.frames(), *given_frames[middle:]]
    assert documents(again, "v2") == documents(given_frames, "v2")


def test_the_state_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A time means all that was written until then."""
    monkeypatch.setattr(journal_module, "_LEAST", 1500)
    frames = read(CODING)
    moment = frames[200].time or 0.0
    until = [frame for frame in frames if frame.time is not None and frame.time <= moment]
    with Journal(written(tmp_path / "j", frames)) as journal:
        assert hashes(journal.at(time=moment)) == hashes(states(until))
        assert journal.at(time=0.0) == {}
        with pytest.raises(acp_client.InvalidValueError):
            journal.at(line=1, time=1.0)


@pytest.mark.long
def test_a_journal_that_was_cut_off_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever byte a crash stopped at, the whole lines before it are there, and more follow."""
    monkeypatch.setattr(journal_module, "_LEAST", 300)
    frames = frames_of(*(chunk_line(str(number)) for number in range(3)))
    data = written(tmp_path / "whole", frames).read_bytes()
    file = tmp_path / "cut"
    for size in range(len(data) + 1):
        file.write_bytes(data[:size])
        left = sum(line.startswith(b'{"dir"') for line in data[:size].split(b"\n")[:-1])
        with Journal(file) as journal:
            assert journal.frames == left
            journal.append(chunk_line("more"))
            more = frames_of(chunk_line("more"))
            assert hashes(journal.at()) == hashes(states([*frames[:left], *more]))


APPENDS = """
import sys, acp_client
line = bytes.fromhex(sys.argv[2])
with acp_client.Journal(sys.argv[1]) as journal:
    for number in range(10**6):
        journal.append(line)
        print(number, flush=True)
"""


@pytest.mark.long
def test_a_process_that_is_killed(tmp_path: Path) -> None:
    """What a process had appended before it was killed is in the journal."""
    process = subprocess.Popen(
        [sys.executable, "-c", APPENDS, str(tmp_path / "j"), chunk_line("x").hex()],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    last = 0
    for _ in range(500):
        last = int(process.stdout.readline())
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    with Journal(tmp_path / "j") as journal:
        assert journal.frames > last


@pytest.mark.long
def test_opening_costs_what_the_tail_costs(tmp_path: Path) -> None:
    """A journal of many lines is opened about as fast as one of few."""

    def seconds(count: int) -> float:
        lines = (chunk_line("x" * 20, f"m{number // 50}").strip() for number in range(count))
        path = written(tmp_path / str(count), (Frame(1, False, line) for line in lines))
        times = []
        for _ in range(3):
            started = time.perf_counter()
            Journal(path).close()
            times.append(time.perf_counter() - started)
        return min(times)

    assert seconds(60_000) <= 3 * seconds(15_000) + 0.05


def test_what_is_no_journal_is_left_alone(tmp_path: Path) -> None:
    """Another file is refused, and not changed."""
    file = tmp_path / "notes.txt"
    file.write_bytes(b"my notes\nare dear to me\n")
    with pytest.raises(acp_client.RecordingError):
        Journal(file)
    assert file.read_bytes() == b"my notes\nare dear to me\n"
    with Journal(tmp_path / "j") as journal, pytest.raises(acp_client.InvalidValueError):
        journal.append(b"{}\n{}")


# --- Hashes ---


def test_the_hash_is_the_same_everywhere() -> None:
    """Every machine and every Python computes this value; the order of keys does not count."""
    chunk = chunk_line("a\u00e9\ud83d")
    snapshot = states(frames_of(chunk, update_line("_x", b=1.5, a=[None])))["s1"]
    other = states(frames_of(chunk, update_line("_x", a=[None], b=1.5)))["s1"]
    assert state_hash(snapshot) == state_hash(other)
    assert state_hash({"s1": snapshot}) == state_hash(snapshot)
    assert state_hash(acp_client.Snapshot("s")) == (
        "337e368a18ebe4e32a1bde4172d7ac0311eff44af9d2cfe6b478ad9e58be0556"
    )
    assert state_hash(snapshot) != state_hash(acp_client.Snapshot("s1"))


# --- Bisecting ---


@pytest.mark.parametrize("count", [0, 1, 2, 31, 32, 33, 200, 1500])
def test_bisect_finds_the_first_line(count: int) -> None:
    """The first frame after which a predicate is true, for any place of it."""
    frames = frames_of(*(chunk_line(".") for _ in range(count)))
    for place in {1, 2, count // 2, count - 1, count} & set(range(1, count + 1)):

        def is_so_long(state: Any, least: int = place) -> bool:
            return "s1" in state and len(state["s1"].entries[0].text) >= least

        found = bisect(frames, is_so_long)
        assert found is not None
        assert found.line == place
    assert bisect(frames, lambda state: False) is None


@pytest.mark.parametrize("place", [0, 1, 40, 99])
def test_the_first_difference_of_two_recordings(place: int) -> None:
    """Two recordings are the same up to a frame, and differ from there."""
    lines = [chunk_line(str(number)) for number in range(100)]
    changed = [*lines[:place], chunk_line("else"), *lines[place + 1 :]]
    found = first_difference(frames_of(*lines), frames_of(*changed))
    assert found is not None
    assert [frame.line for frame in found if frame] == [place + 1] * 2
    assert first_difference(frames_of(*lines), frames_of(*lines)) is None
    shorter = first_difference(frames_of(*lines), frames_of(*lines[:-1]))
    assert shorter is not None
    assert shorter[1] is None


# --- Commands ---


def run(*words: Any) -> Any:
    """Run a command."""
    return CliRunner().invoke(commands, list(map(str, words)))


def test_the_commands(tmp_path: Path) -> None:
    """A journal is written, asked, and replayed up to a line or a time."""
    file = tmp_path / "j.ndjson"
    assert "361 frames" in run("journal", "append", file, CODING).stderr
    assert "722 frames" in run("journal", "append", file, CODING).stderr
    whole = run("journal", "hash", file, "--at", 361).stdout.split()
    assert whole == run("journal", "hash", CODING).stdout.split()
    assert (
        run("replay", CODING, "--json", "--at", 100).stdout
        == run("replay", file, "--json", "--at", 100).stdout
    )
    frames = read(CODING)
    seconds = run("replay", CODING, "--json", "--at", "2026-03-12T09:30:05Z").stdout
    count = sum(1 for frame in frames if frame.time and frame.time <= 1773307805.0)
    assert seconds == run("replay", CODING, "--json", "--at", count).stdout
    assert run("replay", CODING, "--at", "soon").exit_code == 2
    assert "Examples:" in run("journal", "append", "--help").stdout


def test_the_command_bisect(tmp_path: Path) -> None:
    """The first line at which a text is in the state, or at which two recordings differ."""
    other = tmp_path / "other"
    lines = CODING.read_bytes().splitlines(keepends=True)
    lines[99] = lines[99].replace(b'"text":"', b'"text":"!')
    other.write_bytes(b"".join(lines))
    found = run("bisect", CODING, other)
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith(("line 100", "line 10"))
    assert run("bisect", CODING, "--contains", "no such text").exit_code == 1
    assert run("bisect", CODING, "--contains", "tidydates").stdout.startswith("line ")
    assert run("bisect", CODING).exit_code == 2
