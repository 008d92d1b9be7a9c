"""The command line: what its commands print, and how they end."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import naive
import pytest
from click.testing import CliRunner, Result
from recordings.test_replayed import expected as document_beside
from traffic import BUNDLED, SHARED, chunk_line, update_line

import acp_client
from acp_client import __main__
from acp_client._cli import commands as _cli
from acp_client._cli import replay as _cli_replay
from acp_client._cli import sources as _cli_input
from acp_client._cli.commands import commands
from acp_client._cli.sources import Failure, Progress, Source, opened
from acp_client._recordings.frames import Frame
from acp_client._recordings.playback import Feeder

PACKAGE_ROOT = Path(acp_client.__file__).parents[1]
RAW = BUNDLED / "raw.ndjson"
SESSIONS = BUNDLED / "two-sessions.ndjson"
CODING = BUNDLED / "coding-session.ndjson"


def run(*arguments: Any, data: bytes | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(commands, [str(word) for word in arguments], input=data)


def printed(*arguments: Any, data: bytes | None = None) -> str:
    """Give what a command prints that ends well."""
    result = run(*arguments, data=data)
    assert result.exit_code == 0, result.output
    return result.stdout


def started(*arguments: Any, **more: Any) -> subprocess.Popen[bytes]:
    """Start a command as a process of its own."""
    command = more.pop("command", [sys.executable, "-m", "acp_client", *map(str, arguments)])
    environment = os.environ | {"PYTHONPATH": str(PACKAGE_ROOT), "PYTHONUTF8": "1"}
    environment |= more.pop("env", {})
    pipes: Any = {"stdin": subprocess.DEVNULL} | dict.fromkeys(
        ["stdout", "stderr"], subprocess.PIPE
    )
    process: subprocess.Popen[Any] = subprocess.Popen(command, env=environment, **(pipes | more))
    return process


def in_shell(words: str, folder: Path) -> tuple[int, bytes]:
    """Run a command as a shell does, with redirections, in a folder; give status and errors."""
    shell = ["sh", "-c", f'exec "$0" -m acp_client {words}', sys.executable]
    with started(command=shell, cwd=folder) as process:
        try:
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()  # what reads its own output would not end
    return process.returncode, errors


# --- replay --json ---


def documents_of(path: Path) -> Any:
    """Give the snapshot document of a recording as a second implementation has it."""
    return naive.replay(naive.read_recording(path), rules=naive.LANDED)


def without_wording(document: Any) -> Any:
    """Leave out what implementations may word as they like, and the connection, which one has."""
    document.pop("connection", None)
    for problem in document["problems"]:
        del problem["message"], problem["path"]
    return document


@pytest.mark.parametrize("path", sorted(BUNDLED.glob("*.ndjson")), ids=lambda path: path.stem)
def test_documents_are_those_of_a_second_implementation(path: Path) -> None:
    """`--json` prints one JSON value: sessions in order, and problems."""
    document = json.loads(printed("replay", path, "--json"))
    assert list(document) == ["sessions", "problems", "connection"]
    assert without_wording(document) == without_wording(documents_of(path))


V2 = SHARED / "recordings" / "v2"


@pytest.mark.shared
@pytest.mark.parametrize(
    "path", sorted(V2.glob("*.snapshot.json")), ids=lambda path: path.name.partition(".")[0]
)
def test_documents_are_those_beside_the_recordings(path: Path) -> None:
    """The official SDK's traffic gives the documents that were written for it."""
    recording = path.with_name(path.name.replace(".snapshot.json", ".ndjson"))
    document = json.loads(printed("replay", recording, "--json"))
    document.pop("connection", None)
    assert without_wording(document) == without_wording(document_beside(recording))


OTHERS = [
    *sorted((SHARED / "recordings").glob("v1/*")),
    *sorted((SHARED / "recordings").glob("v2/*.agent.ndjson")),
    *sorted((Path(__file__).parents[1] / "recordings" / "formats").iterdir()),
]


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.name)
@pytest.mark.parametrize("command", [["replay"], ["replay", "--json"], ["stats"]])
def test_every_format_can_be_read(path: Path, command: list[str]) -> None:
    """Recordings of other tools, and of an agent alone, are replayed and counted."""
    assert printed(*command, path)


@pytest.mark.parametrize("until", [0, 1, 7, 20, 1000])
def test_a_recording_can_be_stopped_behind_a_line(tmp_path: Path, until: int) -> None:
    """`--at N` gives what the first N lines give."""
    part = tmp_path / "part.ndjson"
    part.write_bytes(b"".join(SESSIONS.read_bytes().splitlines(keepends=True)[:until]))
    assert printed("replay", SESSIONS, "--json", "--at", until) == printed("replay", part, "--json")


def test_a_session_can_be_chosen() -> None:
    """`--session` leaves the others out, and all problems in."""
    (chosen,) = json.loads(printed("replay", SESSIONS, "--json", "--session", "sess_docs"))[
        "sessions"
    ]
    assert chosen["sessionId"] == "sess_docs"
    assert "sess_code" not in printed("replay", SESSIONS, "--session", "sess_docs")


@pytest.mark.parametrize("more", [[], ["--json"], ["--speed", "1000"]])
def test_a_session_that_is_not_there_is_one_line(more: list[str]) -> None:
    """An unknown id ends with the ids that there are."""
    result = run("replay", SESSIONS, "--session", "x", *more)
    assert result.exit_code == 1
    assert result.stderr == (
        "acp-client: no session 'x' in the recording; it has: sess_code, sess_docs\n"
    )


@pytest.mark.parametrize("arguments", [[], ["-"]])
@pytest.mark.parametrize("packed", [False, True])
def test_the_standard_input_is_read(arguments: list[str], packed: bool) -> None:
    """Without a file, or for `-`, the recording comes from the standard input, gzip or not."""
    data = gzip.compress(RAW.read_bytes()) if packed else RAW.read_bytes()
    assert printed("replay", "--json", *arguments, data=data) == printed("replay", "--json", RAW)


def test_a_format_can_be_forced() -> None:
    """`--format` reads a file as what it does not look like."""
    result = run("replay", RAW, "--json", "--format", "zed")
    assert result.exit_code == 1
    assert (
        result.output == "acp-client: not a recording of the format zed: no message found in it\n"
    )
    read_anyway = json.loads(printed("replay", "--json", "--format", "ndjson", data=b"words\n"))
    assert [problem["kind"] for problem in read_anyway["problems"]] == ["not_json"]


def test_a_protocol_can_be_forced() -> None:
    """`--protocol` decides what an agent's messages mean."""
    call = update_line("tool_call", toolCallId="c", title="Do it", kind="other", status="pending")
    entries = {
        protocol: json.loads(printed("replay", "--json", "--protocol", protocol, data=call))[
            "sessions"
        ][0]["entries"][0]["type"]
        for protocol in ("v1", "v2")
    }
    assert entries == {"v1": "tool_call", "v2": "unknown"}


# --- Transcripts ---


def test_the_demo_tells_the_whole_session() -> None:
    """The transcript of the bundled session has everything that happened in it."""
    text = printed("replay", CODING)
    for words in (
        "── Day-first dates in parse_date ─",
        "You\n  Three tests of the date parser fail",
        "Thought\n  Three tests fail, all on dates",
        "✓ Read tidydates/parser.py · read · completed\n",
        "✗ Run pytest -v · execute · failed\n  $ pytest -v · /home/user/tidydates · exit 1\n",
        "  │ 3 failed, 5 passed in 0.11s\n",
        "  modified /home/user/tidydates/tidydates/parser.py\n",
        "  │ +import unicodedata\n",
        "⊘ Install pyperf · execute · cancelled\n",
        "You · refused: The session is stopping (-32000)\n",
        "  ✓ Reproduce the failures · high priority\n",
        "State     idle · cancelled\n",
        "\n361 messages · 1 session · no problems\n",
    ):
        assert words in text


def test_a_recording_played_slowly_tells_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--speed` prints what happens in its own time, with pauses of two seconds at most."""
    pauses: list[float] = []
    clock = [0.0]

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(time, "sleep", sleep)
    text = printed("replay", CODING, "--speed", "2")
    assert "Agent\n  I'll reproduce the failures first" in text
    assert "\n361 messages · 1 session · no problems\n" in text
    assert max(pauses) == 2.0
    recorded = [json.loads(row)["ts"] for row in CODING.read_bytes().splitlines()]
    gaps = [(after - before) / 2000 for before, after in pairwise(recorded)]
    assert sum(pauses) == pytest.approx(sum(min(gap, 2.0) for gap in gaps))


def test_a_recording_without_times_is_not_slowed() -> None:
    """Where there are no times `--speed` says so, and prints all the same."""
    result = run("replay", RAW, "--speed", "0.1")
    assert result.stderr == "acp-client: the recording tells no times, so it was not slowed\n"
    assert "✓ Edit tidydates/cli.py" in result.stdout


def test_problems_are_listed_and_counted() -> None:
    """What was wrong in a recording is told at the end, and changes no status."""
    rows = printed("replay", BUNDLED / "malformed.ndjson").splitlines()
    assert rows[-2].startswith("54 messages · 1 session · 41 problems: 3 not_json")
    assert "… 31 more problems, --full shows them" in rows


def test_a_refused_request_is_shown() -> None:
    """The transcript and the statistics name what the agent refused, without any session too."""
    sent = b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}\n'
    answer = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Log in first"}}\n'
    refused = "session/new: Log in first (-32000)"
    assert f"refused {refused}\n" in printed("replay", data=sent + answer)
    assert re.search(rf"Refused +{re.escape(refused)}\n", printed("stats", data=sent + answer))
    errors = json.loads(printed("stats", "--json", data=sent + answer))["errors"]
    assert [error["method"] for error in errors] == ["session/new"]


def test_an_empty_recording_is_one() -> None:
    """Nothing was said in it."""
    assert printed("replay", data=b"") == "\n0 messages · 0 sessions · no problems\n"
    assert json.loads(printed("replay", "--json", data=b"")) == {
        "sessions": [],
        "problems": [],
        "connection": {"phase": "new", "errors": [], "sessions": []},
    }


def test_a_torn_recording_says_so() -> None:
    """A recording that ends in the middle is shown as far as it goes."""
    text = printed("replay", data=RAW.read_bytes()[:-10])
    assert "23 messages · 1 session · the recording ends in the middle · 1 problem: 1" in text


# --- stats ---


def counts(path: Path) -> Any:
    """Give the counts of a recording as JSON."""
    return json.loads(printed("stats", path, "--json"))


def test_a_recording_is_counted() -> None:
    """Messages by kind, updates by variant, sessions, problems, bytes, time and rate are told."""
    told = counts(CODING)
    rate = told.pop("reducing")
    assert rate["messagesPerSecond"] == pytest.approx(361 / rate["seconds"])
    assert rate["bytesPerSecond"] == pytest.approx(told["messageBytes"] / rate["seconds"])
    updates = told.pop("updates")
    assert sum(updates.values()) == 340
    assert next(iter(updates)) == "agent_message_chunk"
    rows = [json.loads(row) for row in CODING.read_bytes().splitlines()]
    stamps = [row["ts"] for row in rows]
    assert told == {
        "format": "envelope",
        "layout": "lines",
        "reason": 'line 1 is an object with "dir" and "message"',
        "protocol": "v2",
        "bytes": CODING.stat().st_size,
        "messageBytes": told["messageBytes"],
        "messages": {
            "received": {"request": 3, "response": 7, "notification": 340, "other": 0},
            "sent": {"request": 7, "response": 3, "notification": 1, "other": 0},
        },
        "passedOver": 0,
        "torn": False,
        "sessions": [{"sessionId": "sess_tidydates", "entries": 25, "updates": 340}],
        "errors": [
            {"method": "session/prompt", "code": -32000, "message": "The session is stopping"}
        ],
        "problems": dict.fromkeys(acp_client._errors.PROBLEM_KINDS, 0),
        "seconds": (max(stamps) - min(stamps)) / 1000,
    }


def test_odd_messages_are_counted_too() -> None:
    """Batches are taken apart, and what is no message is something else."""
    update = json.loads(chunk_line("x"))
    rows: list[bytes] = [
        chunk_line("x"),
        json.dumps([update, update, 5]).encode() + b"\n",
        json.dumps(update | {"id": 5}).encode() + b"\n",
        json.dumps(update | {"params": {"sessionId": 3, "update": update}}).encode() + b"\n",
        b'{"jsonrpc":"2.0","id":1,"result":{"x":"\\ud800"}}\n',
        b'{"jsonrpc":"2.0","method":"x","params":{"update":{"sessionUpdate":"y"}}}\n',
        b'{"jsonrpc":"2.0"}\n[]\nno json\n' + b"[" * 2000 + b"\n",
    ]
    told = json.loads(printed("stats", "--json", data=b"".join(rows)))
    assert told["messages"]["received"] == {
        "request": 1,
        "response": 1,
        "notification": 5,
        "other": 5,
    }
    assert told["updates"] == {"agent_message_chunk": 4}
    assert told["seconds"] is None


def test_counts_are_readable() -> None:
    """The report is a table of a few rows."""
    text = printed("stats", CODING)
    for row in (
        r"Recording   envelope · v2 · 100\.2 kB · 361 messages\n",
        r"Duration    1 min 05 s · from 2026-03-12 09:30:00 UTC\n",
        r"Received    3 requests · 7 responses · 340 notifications\n",
        r"Sent        7 requests · 3 responses · 1 notification\n",
        r"Updates     131  agent_message_chunk\n             88  terminal_output_chunk\n",
        r"Sessions    sess_tidydates · 25 entries · 340 updates\n",
        r"Problems    none\n",
        r"Reduced     in [\d,.]+ ms · [\d,]+ messages a second · [\d.]+ .?B/s\n",
    ):
        assert re.search(row, text)


def test_counts_of_nothing_are_readable() -> None:
    """An empty recording has a report."""
    assert printed("stats", data=b"") == (
        "Recording   ndjson · v2 · 0 B · 0 messages\n"
        "            lines: nothing in it says otherwise\n"
        "Duration    not recorded\n"
        "Received    nothing\n"
        "Sent        nothing\n"
        "Updates     none\n"
        "Sessions    none\n"
        "Problems    none\n"
        "Reduced     nothing\n"
    )


def test_counts_tell_what_is_wrong() -> None:
    """Problems by kind, values that were passed over and an end that is torn are told."""
    envelope = b'{"dir":"recv","ts":1000,"message":%s}\n'
    data = b'{"header":1}\n' + envelope % chunk_line("x").strip() + envelope % b'"\\u001b"'
    text = printed("stats", data=data + b'{"dir":"recv","message":{')
    assert re.search(r"Recording   .* · 3 messages · 1 value passed over · ends in\n", text)
    assert "\nReceived    1 notification · 2 other\n" in text
    assert "\nDuration    0.0 s\n" in text
    assert "\nProblems    1  invalid_message\n            1  truncated\n" in text
    assert "\nSessions    s1 · 1 entry · 1 update\n" in text


@pytest.mark.parametrize(
    ("stamps", "row"),
    [
        ([0, 1500], "1.5 s"),
        ([0, 3_723_000], "1 h 02 min"),
        ([5e19, 5e19], "0.0 s"),
        ([1.7e12], "0.0 s · from 2023-11-14 22:13:20 UTC"),
    ],
)
def test_durations_are_readable(stamps: list[float], row: str) -> None:
    """How long a recording took, and from when if that is a date."""
    message = json.loads(chunk_line("x"))
    rows = [{"dir": "recv", "ts": stamp, "message": message} for stamp in stamps]
    text = printed("stats", data="\n".join(map(json.dumps, rows)).encode())
    assert f"\nDuration    {row}\n" in text


# --- convert ---


@pytest.mark.parametrize("name", ["out.ndjson", "out.ndjson.gz"])
def test_a_recording_is_converted(tmp_path: Path, name: str) -> None:
    """What was converted replays as what it was converted from."""
    source = Path(__file__).parents[1] / "recordings" / "formats" / "crucible.jsonl"
    target = tmp_path / name
    result = run("convert", source, "-o", target)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert re.fullmatch(
        r"acp-client: \d+ messages written to .*; \d+ values? passed over\n", result.stderr
    )
    assert counts(target)["format"] == "envelope"
    assert printed("replay", target, "--json") == printed("replay", source, "--json")


def test_a_conversion_says_why_a_recording_fits(tmp_path: Path) -> None:
    """`--verbose` names the format, the layout, and the first value that fits."""
    source = Path(__file__).parents[1] / "recordings" / "formats" / "markdown.md"
    result = run("convert", source, "-o", tmp_path / "out.ndjson", "--verbose")
    assert result.stderr.splitlines()[0] == (
        f"acp-client: {source} is ndjson (fenced blocks of Markdown): "
        "the fenced line 12 is a JSON-RPC message"
    )


def test_a_replay_stops_at_a_time() -> None:
    """`--at +S` counts from the first message; what comes later is not there."""
    source = Path(__file__).parents[1] / "recordings" / "formats" / "crucible.jsonl"
    whole = json.loads(printed("replay", source, "--json"))
    part = json.loads(printed("replay", source, "--json", "--at", "+5"))
    assert [len(session["entries"]) for session in part["sessions"]] == [2]
    assert len(whole["sessions"][0]["entries"]) > 2
    assert json.loads(printed("replay", source, "--json", "--at", "+1000000000.5")) == whole


def test_a_conversion_can_be_written_to_the_standard_output() -> None:
    """`-o -` writes lines, the last of them as it was cut off."""
    result = run("convert", "-", "-o", "-", data=RAW.read_bytes()[:-10])
    assert result.stdout.count("\n") == 23
    assert json.loads(result.stdout.splitlines()[0])["dir"] == "recv"
    assert result.stderr == (
        "acp-client: 23 messages written to -; the recording ends in the middle\n"
    )


def test_a_recording_is_not_overwritten_by_itself(tmp_path: Path) -> None:
    """The file that is read cannot be the one that is written, by whatever name."""
    recording = tmp_path / "a.ndjson"
    recording.write_bytes(RAW.read_bytes())
    (tmp_path / "b.ndjson").symlink_to(recording)
    result = run("convert", recording, "-o", tmp_path / "b.ndjson")
    assert result.exit_code == 1
    assert "is read and cannot be written at the same time" in result.stderr
    assert recording.read_bytes() == RAW.read_bytes()


REDIRECTED = [
    ("convert -o F", "0<F", "F"),
    ("convert -o soft", "0<F", "soft"),
    ("convert -o hard", "0<F", "hard"),
    ("convert -o F", "0<hard", "F"),
    ("convert -o /dev/stdin", "0<F", "/dev/stdin"),
    ("convert F -o /dev/fd/3", "3>>F", "/dev/fd/3"),
    ("convert F -o /dev/stdout", "1>>F", "the output"),
    ("convert F -o -", "1>>F", "the output"),
    ("convert soft -o -", "1>>hard", "the output"),
    ("convert -o -", "0<F 1<>F", "the output"),
    ("replay F", "1>>F", "the output"),
    ("replay --json", "0<F 1>>F", "the output"),
    ("replay --follow F", "1>>F", "the output"),
    ("stats F", "1>>F", "the output"),
]
"""Commands that would write to the recording F, how they are redirected, and what is refused."""


@pytest.mark.skipif(os.name != "posix", reason="redirections of a POSIX shell")
@pytest.mark.parametrize(("words", "redirections", "refused"), REDIRECTED)
def test_no_redirection_destroys_what_is_read(
    tmp_path: Path, words: str, redirections: str, refused: str
) -> None:
    """The shell may have opened the file that is read, as what is read or as what is written."""
    recording = tmp_path / "F"
    recording.write_bytes(RAW.read_bytes())
    (tmp_path / "soft").symlink_to(recording)
    (tmp_path / "hard").hardlink_to(recording)
    status, errors = in_shell(f"{words} {redirections}", tmp_path)
    assert errors.decode() == (
        f"acp-client: {refused}: is read and cannot be written at the same time\n"
    )
    assert status == 1
    assert recording.read_bytes() == RAW.read_bytes()


@pytest.mark.skipif(os.name != "posix", reason="redirections of a POSIX shell")
@pytest.mark.parametrize(
    "words",
    [
        "convert -o G 0<F",
        "convert -o - 0<F 1>G",
        "convert F -o G 1>G",
        "convert -o /dev/null 0</dev/null 1>/dev/null",
    ],
)
def test_other_redirections_are_as_good_as_names(tmp_path: Path, words: str) -> None:
    """Another file is written, and a device may be read and written at once."""
    (tmp_path / "F").write_bytes(RAW.read_bytes())
    status, errors = in_shell(words, tmp_path)
    assert status == 0, errors
    assert b"messages written to " in errors
    assert (tmp_path / "F").read_bytes() == RAW.read_bytes()


# --- How it ends ---


def failures(folder: Path) -> Iterator[tuple[list[str], str]]:
    """Give commands that fail, and what they say."""
    prose = folder / "prose.txt"
    prose.write_text("Dear diary,\n")
    yield ["replay", str(folder / "no\x1bne")], r"no\\x1bne: No such file or directory"
    yield ["stats", str(folder)], r".*: Is a directory"
    yield ["replay", "--json", str(prose)], r".*prose.txt: not a recording: .*"
    yield ["convert", str(RAW), "-o", str(folder / "no" / "ne")], r".*: No such file or directory"


@pytest.mark.parametrize("number", range(4))
def test_what_cannot_be_read_is_one_line(tmp_path: Path, number: int) -> None:
    """A file that is not there, or is none, or is no recording, ends with a line and status 1."""
    arguments, message = list(failures(tmp_path))[number]
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert re.fullmatch(f"acp-client: (.*/)?{message}\n", result.stderr)


class Broken(io.RawIOBase):
    """A file that cannot be read."""

    def read(self, size: int = -1) -> bytes:
        raise OSError(5, "Input/output error")


def test_a_file_that_cannot_be_read_on_is_told() -> None:
    """An error in the middle of a file names the file."""
    with pytest.raises(Failure, match="bad: Input/output error"):
        Source("bad", Broken()).read1(10)  # type: ignore[arg-type]  # no more is needed


@pytest.mark.parametrize(
    ("raised", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (BrokenPipeError(), 141, "the output was closed before the end"),
        (OSError(28, "No space left on device"), 1, "the output: No space left on device"),
    ],
)
def test_interruptions_are_one_line(
    monkeypatch: pytest.MonkeyPatch, raised: BaseException, status: int, message: str
) -> None:
    """Ctrl-C, a closed pipe and a full disk end with a line and a status, wherever they come."""

    def fail(*_: Any) -> None:
        raise raised

    monkeypatch.setattr(_cli, "show_transcript", fail)
    result = run("replay", RAW)
    assert result.exit_code == status
    assert result.stderr == f"acp-client: {message}\n"


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["replay", "--at", "x", str(RAW)], 2, "'x' is not a line"),
        (["nonsense"], 2, "No such command 'nonsense'"),
        (["replay", "/no/such/file"], 1, "acp-client: /no/such/file: No such file"),
        (["--version"], 0, ""),
        (["replay", "--json", str(RAW)], 0, ""),
    ],
)
def test_the_status_is_returned(
    capfd: pytest.CaptureFixture[str], arguments: list[str], status: int, message: str
) -> None:
    """`run` returns the status for the process, and prints what there is to say."""
    assert _cli.run(arguments) == status
    assert message in capfd.readouterr().err


def test_an_interruption_before_a_command_has_a_status_too(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C while the arguments are read is no traceback."""

    def fail(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "make_context", fail)
    assert _cli.run([]) == 130
    assert "Traceback" not in capfd.readouterr().err


class FullDisk(io.TextIOWrapper):
    """A standard output that takes nothing."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)

    def flush(self) -> None:
        raise OSError(28, "No space left on device")


def test_what_is_left_for_a_closed_output_is_dropped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After an error of the output nothing is left that the interpreter would complain of."""
    with (tmp_path / "out").open("wb") as file, monkeypatch.context() as patched:
        replaced: list[int] = []
        patched.setattr(sys, "stdout", FullDisk(file))
        patched.setattr(os, "dup2", lambda _, target: replaced.append(target))
        assert _cli.run(["--version"]) == 1
        assert replaced == [file.fileno()]


def test_without_an_output_there_is_nothing_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process whose standard output is closed from the start just fails."""
    monkeypatch.setattr(sys, "stdout", None)
    assert _cli.run(["--version"]) == 1


def test_a_closed_standard_input_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a standard input there is nothing to read."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(Failure, match="the standard input is closed"), opened("-"):
        pass


def test_the_extra_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without the libraries of the command line it says what to install."""
    monkeypatch.setattr(__main__, "find_spec", lambda name: None)
    assert __main__.main() == 2
    assert capsys.readouterr().err == (
        "acp-client: the command line needs click and rich: pip install 'acp-client-state[cli]'\n"
    )


def test_with_the_extra_the_command_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The entry point takes the arguments of the process."""
    monkeypatch.setattr(sys, "argv", ["acp-client", "--version"])
    assert __main__.main() == 0
    assert acp_client.__version__ in capsys.readouterr().out


# --- Terminals ---


class Terminal(io.StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_long_inputs_show_progress_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Progress is one line that is replaced, and gone at the end."""
    recording = tmp_path / "a"
    recording.write_bytes(bytes(4_000_000))
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    stream = Terminal()
    with opened(str(recording)) as source:
        line = Progress(source, stream)
        line.clear()
        for moment in (0.4, 0.6, 0.65, 0.8):
            clock[0] = moment
            source.read1(1_000_000)
            line.tell()
        line.clear()
    assert stream.getvalue() == (
        "\rreading: 50 % of 4.0 MB\x1b[K\rreading: 100 % of 4.0 MB\x1b[K\r\x1b[K"
    )


def test_progress_of_a_stream_tells_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a stream nobody knows how long it is."""
    monkeypatch.setattr(time, "monotonic", iter([0.0, 1.0]).__next__)
    stream = Terminal()
    source = Source("-", io.BytesIO(bytes(2_000_000)))
    line = Progress(source, stream)
    source.read1()
    line.tell()
    assert stream.getvalue() == "\rreading: 2.0 MB\x1b[K"


@pytest.mark.parametrize(("terminal", "shown"), [(io.StringIO, False), (Terminal, True)])
def test_progress_is_for_terminals(
    monkeypatch: pytest.MonkeyPatch, terminal: type[io.StringIO], shown: bool
) -> None:
    """In a pipe there is no progress, however long it takes."""
    stream = terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(time, "monotonic", iter([float(second) for second in range(9)]).__next__)
    source = Source("-", io.BytesIO(b"data"))
    with _cli_input.progress(source):
        source.read1()
    assert (stream.getvalue() != "") is shown


def test_a_terminal_is_told_that_it_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever forgot the file is told what the command waits for."""

    class Keyboard:
        buffer = io.BytesIO(b"typed")

        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Keyboard())
    with opened("-") as source:
        assert source.read1() == b"typed"
    assert capsys.readouterr().err == "acp-client: reading from the terminal; Ctrl-D ends\n"


# --- Following ---


@pytest.fixture
def growing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Path]:
    """Make files that change, step by step, whenever the command waits for more."""

    def make(*steps: Callable[[Path], object]) -> Path:
        path = tmp_path / "growing.ndjson"
        path.write_bytes(b"")
        remaining = iter(steps)

        def sleep(_: float) -> None:
            step = next(remaining, None)
            if step is None:
                raise KeyboardInterrupt
            step(path)

        monkeypatch.setattr(time, "sleep", sleep)
        return path

    return make


def adds(data: bytes) -> Callable[[Path], object]:
    """Append to a file."""

    def add(path: Path) -> None:
        with path.open("ab") as file:
            file.write(data)

    return add


def replaces(data: bytes) -> Callable[[Path], object]:
    """Put another file in the place of one."""

    def replace(path: Path) -> None:
        other = path.with_suffix(".new")
        other.write_bytes(data)
        other.replace(path)

    return replace


Growing = Callable[..., Path]


def test_a_followed_file_is_read_on_as_it_grows(growing: Growing) -> None:
    """What is added is printed, a line when it is whole, until Ctrl-C asks for the end."""
    line = chunk_line("and more.")
    path = growing(adds(chunk_line("Some ")), adds(line[:30]), adds(line[30:]))
    result = run("replay", "--follow", path)
    assert result.exit_code == 130
    assert result.stderr == "acp-client: interrupted\n"
    assert "Agent\n  Some and more.\n" in result.stdout
    assert result.stdout.endswith("\n2 messages · 1 session · no problems\n")


@pytest.mark.parametrize(
    "anew", [lambda path: path.write_bytes(b""), replaces(b"")], ids=["cut", "replaced"]
)
def test_a_followed_file_may_begin_again(growing: Growing, anew: Callable[[Path], object]) -> None:
    """A file that is cut short, or replaced, is a new recording."""
    path = growing(adds(chunk_line("Old.")), anew, adds(chunk_line("New.")))
    result = run("replay", "--follow", path)
    old, new = result.stdout.split(f"{path} begins again\n")
    assert "Agent\n  Old.\n" in old
    assert "Agent\n  New.\n" in new
    assert "Old." not in new
    assert new.endswith("\n1 message · 1 session · no problems\n")


def test_a_followed_file_may_be_away_for_a_while(growing: Growing) -> None:
    """While there is no file of the name, the open one is read on."""
    path = growing(adds(chunk_line("One.")), Path.unlink, replaces(chunk_line("Two.")))
    result = run("replay", "--follow", "--json", path)
    assert result.exit_code == 130
    (session,) = json.loads(result.stdout)["sessions"]
    assert session["entries"][0]["content"] == [{"type": "text", "text": "Two."}]


def test_the_standard_input_ends_also_when_followed() -> None:
    """A pipe that is followed ends with it."""
    result = run("replay", "--follow", data=chunk_line("One."))
    assert result.exit_code == 0
    assert "Agent\n  One.\n" in result.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_named_pipe_ends_also_when_followed(options: list[str], tmp_path: Path) -> None:
    """A pipe has an end, by whatever name it is read, and nothing begins again behind it."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[chunk_line("One.")])
    writer.start()
    result = run("replay", "--follow", *options, path)
    writer.join()
    assert result.exit_code == 0
    assert "One." in result.stdout
    assert "begins again" not in result.stdout


def test_ctrl_c_ends_what_is_neither_followed_nor_slowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a file is just read Ctrl-C prints nothing more."""

    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Feeder, "play", interrupted)
    result = run("replay", RAW)
    assert (result.exit_code, result.stdout) == (130, "")
    result = run("replay", RAW, "--speed", "1")
    assert result.exit_code == 130
    assert "0 messages" in result.stdout


def test_times_that_go_back_are_no_reason_to_wait() -> None:
    """Only gaps that are longer than none are waited for."""
    shown: list[str] = []
    pace = _cli_replay.Pace(1.0, lambda: shown.append("shown"))
    for moment in (5.0, 4.0, None, float("nan"), 4.0):
        pace.wait(Frame(1, False, b"", moment))
    assert shown == []


# --- As a process ---


def test_documents_need_no_rich() -> None:
    """`--json` starts without the library that prints for people."""
    program = (
        "import sys; from acp_client._cli.commands import run\n"
        f"assert run(['replay', '--json', {str(RAW)!r}]) == 0\n"
        f"assert run(['stats', '--json', {str(RAW)!r}]) == 0\n"
        "assert not [name for name in sys.modules if name.split('.')[0] == 'rich']"
    )
    environment = os.environ | {"PYTHONPATH": str(PACKAGE_ROOT)}
    subprocess.run(
        [sys.executable, "-c", program], env=environment, check=True, stdout=subprocess.DEVNULL
    )


def test_a_process_prints_the_documents() -> None:
    """`python -m acp_client` is the command."""
    process = started("replay", RAW, "--json")
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, b"")
    assert output.decode() == printed("replay", RAW, "--json")


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_closed_pipe_is_one_line(tmp_path: Path, more: list[str]) -> None:
    """A reader that goes away ends the command with a line, and with the status of SIGPIPE."""
    recording = tmp_path / "long.ndjson"
    words = b"".join(chunk_line("word " * 50, f"m{number}") for number in range(2000))
    recording.write_bytes(words)
    read, write = os.pipe()
    os.close(read)
    process = started("replay", recording, *more, stdout=write)
    os.close(write)
    _, errors = process.communicate(timeout=60)
    assert errors == b"acp-client: the output was closed before the end\n"
    assert process.returncode == 141


EARLY = [["--help"], ["--version"], ["replay", "--help"], ["stats", "--json", str(RAW)], []]
COMPLETION = {"_ACP_CLIENT_COMPLETE": "bash_source"}


@pytest.mark.parametrize("arguments", EARLY)
def test_a_closed_pipe_is_one_line_for_help_too(arguments: list[str]) -> None:
    """What is printed before a command runs ends like what a command prints."""
    read, write = os.pipe()
    os.close(read)
    process = started(*arguments, stdout=write, env={} if arguments else COMPLETION)
    os.close(write)
    _, errors = process.communicate(timeout=60)
    assert errors == b"acp-client: the output was closed before the end\n"
    assert process.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("arguments", EARLY)
def test_a_full_disk_is_one_line_for_help_too(arguments: list[str]) -> None:
    """An output that takes nothing is told, whatever was to be printed."""
    with open("/dev/full", "wb") as full:
        process = started(*arguments, stdout=full, env={} if arguments else COMPLETION)
    _, errors = process.communicate(timeout=60)
    assert errors == b"acp-client: the output: No space left on device\n"
    assert process.returncode == 1


def test_ctrl_c_is_one_line() -> None:
    """SIGINT ends a command that waits for its input with a line and status 130."""
    process = started("replay", stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(chunk_line("word " * 50) * 2000)  # no pipe holds so much: it is being read
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (130, b"", b"acp-client: interrupted\n")


def test_ctrl_c_ends_following(tmp_path: Path) -> None:
    """SIGINT ends a command that follows a file with how the sessions stand."""
    recording = tmp_path / "growing.ndjson"
    recording.write_bytes(chunk_line("One. "))
    process = started("replay", "--follow", recording)
    assert process.stdout is not None
    before = b""
    while b"One." not in before:
        before += process.stdout.read1()  # type: ignore[attr-defined]  # a BufferedReader
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert output.endswith("\n1 message · 1 session · no problems\n".encode())
    assert (process.returncode, errors) == (130, b"acp-client: interrupted\n")


def test_a_poor_encoding_is_no_traceback() -> None:
    """Where the output cannot take all characters there are others in their place."""
    environment = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "COLUMNS": "80"}
    process = started("replay", CODING, env=environment)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, b"")
    assert b"+ Read tidydates/parser.py - read - completed\n" in output
    assert b"1 M\\xe4rz 2025" in output


def test_completion_is_there() -> None:
    """The shell can ask for the options of a command."""
    environment = {"_ACP_CLIENT_COMPLETE": "bash_complete", "COMP_WORDS": "acp-client replay --"}
    process = started(env=environment | {"COMP_CWORD": "2"})
    output, _ = process.communicate(timeout=60)
    assert b"plain,--follow\n" in output
