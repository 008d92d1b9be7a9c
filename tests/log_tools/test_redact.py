"""Recordings without their secrets: planted in many ways, and gone in all of them."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import strategies
from click.testing import CliRunner
from hypothesis import given
from log_traffic import RECORDINGS, documents, frames_of, read, sent
from traffic import BUNDLED, chunk_line, line, permission_line, update_line
from v1_traffic import agent_asks, chunk, client, patch, prompt

import acp_client
from acp_client import Frame, redact
from acp_client._cli.commands import commands

SECRET = "hunter2/correct horse"  # this is what is planted
TEXT = {"type": "text", "text": SECRET}


def base64(data: bytes | str) -> str:
    """Write bytes as base64."""
    return b64encode(data.encode() if isinstance(data, str) else data).decode()


def output(*parts: bytes) -> list[bytes]:
    """Write output chunks of a terminal."""
    return [
        update_line("terminal_output_chunk", terminalId="t", data=base64(part)) for part in parts
    ]


def deep(value: Any, levels: int) -> Any:
    """Nest a value in lists."""
    for _ in range(levels):
        value = [value]
    return value


def raw(text: str) -> bytes:
    """Write an update with some JSON text in it."""
    return update_line("_vendor", x=0).replace(b'"x": 0', text.encode())


ESCAPED = "".join(f"\\u{ord(character):04x}" for character in SECRET)

PLANTED: dict[str, list[Any]] = {
    "in a message": [chunk_line(f"It is {SECRET}.")],
    "in a prompt": [
        sent(line(id=1, method="session/prompt", params={"sessionId": "s1", "prompt": [TEXT]}))
    ],
    "cut into two chunks": [chunk_line(SECRET[:9]), chunk_line(SECRET[9:])],
    "cut into characters": [chunk_line(character) for character in f"a{SECRET}b"],
    "cut, with another session between": [
        chunk_line(SECRET[:3]),
        chunk_line("x", session="s2"),
        update_line("usage_update", used=1, size=2),
        chunk_line(SECRET[3:]),
    ],
    "cut between whole content and a chunk": [
        update_line("agent_message", messageId="m", content=[{"type": "text", "text": SECRET[:5]}]),
        chunk_line(SECRET[5:]),
    ],
    "cut into the blocks of one message": [
        update_line(
            "user_message",
            messageId="u",
            content=[{"type": "text", "text": SECRET[:5]}, {"type": "text", "text": SECRET[5:]}],
        )
    ],
    "cut into thoughts": [
        update_line("agent_thought_chunk", messageId="m", content={"type": "text", "text": part})
        for part in (SECRET[:4], SECRET[4:])
    ],
    "cut into tool call content": [
        update_line(
            "tool_call_content_chunk",
            toolCallId="c",
            content={"type": "content", "content": {"type": "text", "text": part}},
        )
        for part in (SECRET[:4], SECRET[4:])
    ],
    "cut into a summary": [
        update_line(
            "compaction_summary_chunk", compactionId="k", content={"type": "text", "text": part}
        )
        for part in (SECRET[:4], SECRET[4:])
    ],
    "in terminal output": output(f"$ echo {SECRET}\n".encode()),
    "cut into terminal output": output(
        *(SECRET[place : place + 2].encode() for place in range(0, 40, 2))
    ),
    "behind a cut character": output("é".encode()[:1], "é".encode()[1:] + SECRET.encode()),
    "between the colours of a terminal": output(
        b"\x1b[31mhunter2\x1b[0m/\x1b[1mcorrect", b" horse\x1b[0m"
    ),
    "in replaced terminal output": [
        update_line("terminal_update", terminalId="t", output={"data": base64(SECRET[:6])}),
        *output(SECRET[6:].encode()),
    ],
    "in tool input": [update_line("tool_call_update", toolCallId="c", rawInput={"a": [SECRET]})],
    "in JSON inside of a string": [
        update_line("tool_call_update", toolCallId="c", rawOutput=json.dumps({"k": SECRET}))
    ],
    "in a name": [update_line("tool_call_update", toolCallId="c", rawInput={SECRET: 1})],
    "in _meta": [update_line("agent_message", messageId="m", _meta={"x": {"y": SECRET}})],
    "in an id": [chunk_line("a", message_id=SECRET), chunk_line("b", message_id=SECRET)],
    "in a session id": [chunk_line("a", session=SECRET)],
    "in an error": [line(id=1, error={"code": -1, "message": "no", "data": {"why": SECRET}})],
    "in an unknown update": [update_line("_vendor", payload=SECRET)],
    "in an unknown method": [line(method=f"_x/{SECRET}", params={})],
    "in a diff": [
        update_line(
            "tool_call_update",
            toolCallId="c",
            content=[
                {"type": "diff", "changes": [], "patch": {"format": "git_patch", "text": SECRET}}
            ],
        )
    ],
    "in a permission request": [permission_line(1, title=f"Use {SECRET}?")],
    "in a resource": [
        update_line(
            "agent_message",
            messageId="m",
            content=[{"type": "resource", "resource": {"uri": "a", "blob": base64("x" + SECRET)}}],
        )
    ],
    "in a data URI": [chunk_line(f"![](data:text/plain;base64,{base64('xy' + SECRET)})")],
    "in base64 for URLs": [
        chunk_line(base64("\xff\xfe>>>???" + SECRET).replace("+", "-").replace("/", "_"))
    ],
    "percent-encoded": [chunk_line(f"https://x.test/?q={quote(SECRET, safe='')}")],
    "in hexadecimal": [chunk_line(SECRET.encode().hex())],
    "escaped": [raw(f'"x": "{ESCAPED}"')],
    "in a duplicate key": [raw(f'"x": "{SECRET}", "x": "harmless"')],
    "in a line that is not JSON": [f"panic: {SECRET}".encode()],
    "escaped in a line that is cut off": [f'{{"jsonrpc":"2.0","x":"{ESCAPED}'.encode()],
    "in bytes that are not UTF-8": [b"\xff\xfe" + SECRET.encode() + b"\xff"],
    "nested deeply": [update_line("_vendor", payload=deep(SECRET, 240))],
    "in a batch": [b"[" + chunk_line(SECRET).strip() + b"]"],
    "cut inside of a batch": [
        b"[" + chunk_line(SECRET[:5]).strip() + b"," + chunk_line(SECRET[5:]).strip() + b"]"
    ],
    "in version 1": [prompt(1, TEXT), chunk(SECRET[:7]), chunk(SECRET[7:])],
    "in a terminal of version 1": [
        patch("c", _meta={"terminal_output": {"terminal_id": "t", "data": part}})
        for part in (SECRET[:7], SECRET[7:])
    ],
    "in a file of version 1": [
        agent_asks(7, "fs/read_text_file", sessionId="s", path="/x"),
        client(id=7, result={"content": f"KEY={SECRET}"}),
    ],
}
"""Ways in which a secret gets into a recording."""


def everything_in(frames: list[Frame]) -> str:
    """Return all that a reader can see in frames: texts decoded, pieces joined."""
    shown: list[str] = []
    store = acp_client.Store()
    for frame in frames:
        shown += [frame.data.decode("utf-8", "replace")]
        shown += re.sub(r"\\+u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), shown[-1]).split("\0")
        store.receive(frame.data + b"\n")
        for found in re.findall(r"[A-Za-z0-9+/_-]{8,}", shown[-1]):
            standard = found.replace("-", "+").replace("_", "/")
            for start in range(4):
                part = standard[start:]
                decoded = b64decode(part[: len(part) // 4 * 4])
                shown.append(decoded.decode("utf-8", "replace"))
    for session_id in store.sessions:
        snapshot = store.snapshot(session_id)
        shown += [getattr(entry, "text", "") for entry in snapshot.entries]
        shown += [terminal.text for terminal in snapshot.terminals]
    return "\n".join(shown)


@pytest.mark.parametrize("lines", PLANTED.values(), ids=PLANTED.keys())
def test_a_planted_secret_is_not_in_the_output(lines: list[Any]) -> None:
    """However a secret got in, it is gone, and the report says so."""
    frames = frames_of(*lines)
    redaction = redact(frames, secrets=[SECRET])
    clean = list(redaction)
    shown = everything_in(clean)
    for gone in (SECRET, "hunter2", quote(SECRET, safe=""), SECRET.encode().hex()):
        assert gone not in shown
    assert len(clean) == len(frames)
    if lines is not PLANTED["in a duplicate key"] and lines is not PLANTED["in a name"]:
        assert redaction.replacements


@pytest.mark.parametrize("lines", PLANTED.values(), ids=PLANTED.keys())
def test_a_pattern_finds_what_a_text_finds(lines: list[Any]) -> None:
    """A regular expression reaches as far as a text, apart from other spellings of it."""
    clean = list(redact(frames_of(*lines), patterns=[re.compile(r"hunter2\W+correct\W+horse")]))
    assert SECRET not in everything_in(clean)


@pytest.mark.parametrize("lines", PLANTED.values(), ids=PLANTED.keys())
def test_the_state_differs_in_the_secret_alone(lines: list[Any]) -> None:
    """Documents before and after have one shape, and differ where the secret was."""
    frames = frames_of(*lines)
    before = json.loads(documents(frames))
    after = json.loads(documents(list(redact(frames, secrets=[SECRET]))))
    assert shape(before) == shape(after)


def shape(value: Any) -> Any:
    """Return a document with the length of each string instead of the string."""
    if isinstance(value, dict):
        return [(len(key), shape(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [shape(item) for item in value]
    return len(value) if isinstance(value, str) else value


@given(strategies.sessions(well_formed=False, max_frames=30))
def test_nothing_else_changes(frames: list[Any]) -> None:
    """Without a secret, the documents of any session stay as they are."""
    given_frames = frames_of(*frames)
    assert documents(list(redact(given_frames)), "v2") == documents(given_frames, "v2")


@pytest.mark.parametrize("path", RECORDINGS)
def test_recordings_keep_their_shape(path: Path) -> None:
    """A word that is taken out of a recording leaves all else as it is."""
    frames = read(path)
    after = json.loads(documents(list(redact(frames, patterns=[r"\btests?\b", r"the"]))))
    assert shape(after) == shape(json.loads(documents(frames)))


STRUCTURED: dict[str, list[Any]] = {
    "header": [
        sent(
            line(
                id=1,
                method="session/new",
                params={
                    "cwd": "/",
                    "mcpServers": [
                        {
                            "type": "http",
                            "headers": [{"name": "Accept", "value": SECRET}],
                        }
                    ],
                },
            )
        )
    ],
    "environment": [
        sent(
            line(
                id=1,
                method="session/new",
                params={"cwd": "/", "mcpServers": [{"env": [{"name": "A", "value": SECRET}]}]},
            )
        )
    ],
    "login": [
        sent(line(id=1, method="auth/login", params={"methodId": "m", "code": "x"})),
        line(id=1, result={"account": {"email": SECRET, "plan": 3}}),
    ],
    "elicitation answer": [
        line(id=1, method="elicitation/create", params={"mode": "form", "message": "?"}),
        sent(line(id=1, result={"action": "accept", "content": {"pin": 482910, "word": SECRET}})),
    ],
    "name": [update_line("tool_call_update", toolCallId="c", rawInput={"dbPassword": SECRET})],
    "command line option": [
        update_line("tool_call_update", toolCallId="c", rawInput=["x", "--api-key", SECRET])
    ],
}


@pytest.mark.parametrize("rule", STRUCTURED)
def test_places_are_known_by_structure(rule: str) -> None:
    """What stands in a secret place is replaced, whatever it is, and the rule is reported."""
    redaction = redact(frames_of(*STRUCTURED[rule]))
    data = b"".join(frame.data for frame in redaction)
    assert SECRET.encode() not in data
    assert b"482910" not in data
    assert redaction.counts.keys() == {rule}


def test_a_secret_of_a_known_place_is_looked_for_everywhere() -> None:
    """The token of a header is gone from the output of a terminal, too, even before it."""
    token = "zq81-fhk2-pp0x"
    header = {"headers": {"Authorization": f"Bearer {token}"}}
    frames = frames_of(
        *output(token[:4].encode(), token[4:].encode()),
        sent(line(id=1, method="session/new", params={"mcpServers": [header]})),
    )
    assert token not in everything_in(list(redact(frames)))


KNOWN = (
    "sk-" + "0123456789abcdefghij",
    "ghp_0123456789abcdefghijABCDEFGHIJ",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-1234567890-abcdefghij",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "Authorization: Bearer abcdefghijkl.mnop",
    "https://user:correcthorse@example.test/x",
    "DATABASE_PASSWORD=correcthorse",
    "curl --token correcthorse",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
)


@pytest.mark.parametrize("text", KNOWN)
def test_usual_secrets_need_no_pattern(text: str) -> None:
    """Tokens of known shapes are found in a message that is cut anywhere."""
    clean = list(redact(frames_of(chunk_line(text[:20]), chunk_line(text[20:]))))
    secret = re.split(r"[ =:]|@", text)[-1] if "@" not in text else "correcthorse"
    assert secret not in everything_in(clean)


def test_the_same_secret_has_the_same_mask() -> None:
    """Readers can still see that two places had the same secret, and a third another one."""
    frames = frames_of(*(chunk_line(f"{word}-long-enough-word") for word in ("aa", "bb", "aa")))
    texts = [
        json.loads(frame.data)["params"]["update"]["content"]["text"]
        for frame in redact(frames, patterns=[r"..-long-enough-word"])
    ]
    assert texts[0] == texts[2] != texts[1]


def test_the_report_names_lines_paths_and_rules() -> None:
    """A replacement says where it was made, and does not repeat the secret."""
    redaction = redact(frames_of(chunk_line("x"), chunk_line(SECRET)), secrets=[SECRET])
    assert len(list(redaction)) == 2
    assert [one.line for one in redaction.replacements] == [2] * len(redaction.replacements)
    assert redaction.replacements[0] == acp_client.Replacement(
        2, "$.params.update.content.text", "secret 1"
    )
    assert "hunter2" not in repr(redaction.replacements)


@pytest.mark.parametrize(
    "given_values", [{"patterns": ["("]}, {"secrets": [" "]}, {"patterns": [3]}]
)
def test_what_is_not_a_pattern_is_refused(given_values: Any) -> None:
    """A pattern that does not compile and an empty secret are misuse."""
    with pytest.raises(acp_client.InvalidValueError):
        redact([], **given_values)


def test_the_command_writes_and_reports(tmp_path: Path) -> None:
    """`acp-client redact` takes patterns and a list of secrets, and says what it replaced."""
    secrets = tmp_path / "secrets.txt"
    secrets.write_text("tidydates\n\n", encoding="utf-8")
    clean = tmp_path / "clean.ndjson"
    words = ["redact", str(BUNDLED / "coding-session.ndjson"), "-o", str(clean), "--report"]
    result = CliRunner().invoke(
        commands, [*words, "--pattern", "example-agent", "--secrets", str(secrets)]
    )
    assert result.exit_code == 0, result.output
    text = clean.read_text(encoding="utf-8")
    assert "tidydates" not in text
    assert "example-agent" not in text
    assert "line 2: $.result.info.name: pattern 1" in result.stderr
    assert CliRunner().invoke(commands, [*words, "--pattern", "("]).exit_code == 2
    assert "Examples:" in CliRunner().invoke(commands, ["redact", "--help"]).stdout
