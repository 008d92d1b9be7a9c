"""The bundled recordings are what their script writes, and hold what they are there to show."""

import base64
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / "write_recordings.py"
BUNDLED = Path(__file__).resolve().parents[2] / "examples" / "recordings"
NAMES = sorted(path.name for path in BUNDLED.glob("*.ndjson"))
STANDARD_VARIANTS = {
    "user_message",
    "user_message_chunk",
    "agent_message",
    "agent_message_chunk",
    "agent_thought",
    "agent_thought_chunk",
    "state_update",
    "tool_call_update",
    "tool_call_content_chunk",
    "terminal_update",
    "terminal_output_chunk",
    "plan_update",
    "available_commands_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "notice",
    "compaction_update",
    "compaction_summary_chunk",
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Have the script write into a fresh directory."""
    directory = tmp_path_factory.mktemp("recordings")
    subprocess.run([sys.executable, str(SCRIPT), str(directory)], check=True)
    return directory


def messages(name: str, direction: str) -> list[dict[str, Any]]:
    """Read the messages of a bundled recording that went in one direction."""
    lines = map(json.loads, (BUNDLED / name).read_bytes().splitlines())
    return [line["message"] for line in lines if line["dir"] == direction]


def updates(name: str) -> Iterator[dict[str, Any]]:
    """Read the session updates of a bundled recording."""
    for message in messages(name, "recv"):
        if message.get("method") == "session/update":
            yield message["params"]["update"]


def test_the_script_writes_every_bundled_recording_and_no_other(written: Path) -> None:
    """The names of the files that the script writes are those of the bundled ones."""
    assert sorted(path.name for path in written.iterdir()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_script_writes_the_same_bytes_again(written: Path, name: str) -> None:
    """A recording written anew equals the bundled one byte by byte."""
    assert (written / name).read_bytes() == (BUNDLED / name).read_bytes()


def test_the_coding_session_has_every_standard_variant_and_a_vendor_one() -> None:
    """The demo shows all updates that the protocol knows, and one that it does not."""
    kinds = Counter(update["sessionUpdate"] for update in updates("coding-session.ndjson"))
    assert kinds.keys() == STANDARD_VARIANTS | {"_example.com/timing"}
    assert 300 <= kinds.total() <= 500


def test_the_coding_session_answers_every_request() -> None:
    """No request of either side stays open, so that the demo ends with nothing pending."""
    directions = {name: messages("coding-session.ndjson", name) for name in ("send", "recv")}
    asked = {
        name: [message["id"] for message in sent if "method" in message and "id" in message]
        for name, sent in directions.items()
    }
    answered = {
        name: [message["id"] for message in sent if "method" not in message]
        for name, sent in directions.items()
    }
    assert asked == {"send": sorted(answered["recv"]), "recv": sorted(answered["send"])}


def test_terminal_chunks_cut_characters_and_join_to_text() -> None:
    """Some chunk of terminal output is no text by itself, while the whole output is."""
    chunks = defaultdict(list)
    for update in updates("coding-session.ndjson"):
        if update["sessionUpdate"] == "terminal_output_chunk":
            chunks[update["terminalId"]].append(base64.b64decode(update["data"]))
    cut = [
        data
        for terminal in chunks.values()
        for data in terminal
        if "\N{REPLACEMENT CHARACTER}" in data.decode(errors="replace")
    ]
    assert cut
    assert all(b"".join(terminal).decode() for terminal in chunks.values())


def test_the_malformed_recording_has_lines_that_are_no_json() -> None:
    """Lines that no strict reader takes are kept as bytes, and their text beside them."""
    lines = map(json.loads, (BUNDLED / "malformed.ndjson").read_bytes().splitlines())
    junk = [line for line in lines if "rawBase64" in line]
    assert len(junk) == 4
    for line in junk:
        assert line["message"] is None
        assert base64.b64decode(line["rawBase64"]).decode(errors="replace") == line["raw"]
