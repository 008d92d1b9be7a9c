"""Seeded streams of an agent's lines, made on demand, so that a long session needs no memory.

All text is the words of one sentence in some order: here and there with a line break, a quotation
mark or a character beyond ASCII, as in what agents write. The same arguments always make the same
bytes. A stream is an iterator of lines without their line feeds; `joined` and `cut` make reads of
them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from itertools import count, islice
from random import Random
from typing import Any, Final

import msgspec

SESSION: Final = "sess_8f14e45f"
"""The session of every stream."""

_SENTENCE: Final = (
    "the parser reads each line once and keeps what it needs so that a later chunk of the same "
    "message can be joined to it without another look at the text before it"
)
_SEED: Final = 20
_POOL: Final = 997
"""How many texts there are: a prime, so that they do not fall into step with a stream."""

_HEAD: Final = (
    '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"' + SESSION + '","update":'
)
_TAIL: Final = "}}"


def joined(lines: Iterable[bytes]) -> bytes:
    """Join lines to the bytes of a stream."""
    return b"".join([line + b"\n" for line in lines])


def cut(data: bytes, size: int) -> list[bytes]:
    """Cut a stream into reads."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def batches(lines: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Join every `size` lines to one read, on demand."""
    remaining = iter(lines)
    while batch := list(islice(remaining, size)):
        yield joined(batch)


def line(update: Any) -> bytes:
    """Return the line of an update."""
    return _line(_json(update))


def _line(update: str) -> bytes:
    return f"{_HEAD}{update}{_TAIL}".encode()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# --- Texts ---


def texts(words: int, seed: int = _SEED) -> list[str]:
    """Return the pool of texts of about that many words each, with what text has besides words."""
    random = Random(seed)
    return [_text(random, index, words) for index in range(_POOL)]


def _text(random: Random, index: int, words: int) -> str:
    text = " " + " ".join(random.choices(_SENTENCE.split(), k=words))
    if index % 9 == 0:
        text = text.replace(" the ", ' "the" ') + ".\n"
    if index % 31 == 0:
        text = text.replace(" it", " it\u2019s") + " \u2713"
    return text


def _endless(values: list[str]) -> Iterator[str]:
    while True:
        yield from values


def _tokens(words: int) -> Iterator[str]:
    """Yield texts as JSON strings, without end."""
    return _endless([_json(text) for text in texts(words)])


def _outputs(words: int) -> Iterator[str]:
    """Yield terminal output as JSON strings, without end."""
    return _endless([_base64(text) for text in texts(words)])


def _base64(text: str) -> str:
    return _json(base64.b64encode(text.replace("\n", "\r\n").encode()).decode())


# --- The updates that there are many of ---


def _message_chunk(kind: str, message_id: str, token: str) -> bytes:
    content = f'{{"type":"text","text":{token}}}'
    return _line(f'{{"sessionUpdate":"{kind}","messageId":"{message_id}","content":{content}}}')


def _output_chunk(terminal_id: str, token: str) -> bytes:
    chunk = f'"terminalId":"{terminal_id}","data":{token}'
    return _line(f'{{"sessionUpdate":"terminal_output_chunk",{chunk}}}')


def _content_chunk(call_id: str, token: str) -> bytes:
    content = f'{{"type":"content","content":{{"type":"text","text":{token}}}}}'
    chunk = f'"toolCallId":"{call_id}","content":{content}'
    return _line(f'{{"sessionUpdate":"tool_call_content_chunk",{chunk}}}')


# --- The coding session that the budgets are about ---


def coding_session(updates: int) -> Iterator[bytes]:
    """Yield the session that budgets are about: prompts with their answers, about 200 B a line."""
    return islice(_coding_session(), updates)


def _coding_session() -> Iterator[bytes]:
    tokens, outputs, prompts = _tokens(7), _outputs(9), _endless(texts(14))
    for turn in count(1):
        yield line(
            {
                "sessionUpdate": "user_message",
                "messageId": f"user_{turn}",
                "content": [{"type": "text", "text": next(prompts)}],
            }
        )
        yield line({"sessionUpdate": "state_update", "state": "running"})
        for _ in range(60):
            yield _message_chunk("agent_thought_chunk", f"thought_{turn}", next(tokens))
        for _ in range(120):
            yield _message_chunk("agent_message_chunk", f"message_{turn}", next(tokens))
        for call in range(1, 4):
            yield from _tool_call(f"{turn}_{call}", tokens, outputs)
        yield line({"sessionUpdate": "usage_update", "used": 1000 + turn, "size": 200_000})
        yield line({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"})


def _tool_call(name: str, tokens: Iterator[str], outputs: Iterator[str]) -> Iterator[bytes]:
    call_id, terminal_id = f"call_{name}", f"terminal_{name}"
    update = {"sessionUpdate": "tool_call_update", "toolCallId": call_id}
    yield line(
        update
        | {"title": "Run the tests", "kind": "execute", "status": "pending"}
        | {"rawInput": {"command": "pytest", "args": ["-q", "tests"]}}
    )
    shown = [{"type": "terminal", "terminalId": terminal_id}]
    yield line(update | {"status": "in_progress", "content": shown})
    for _ in range(15):
        yield _output_chunk(terminal_id, next(outputs))
    yield _content_chunk(call_id, next(tokens))
    yield line(update | {"status": "completed"})


# --- Sessions that grow in one direction ---


def long_message() -> Iterator[bytes]:
    """Yield chunks of one message, without end."""
    return (_message_chunk("agent_message_chunk", "message_1", token) for token in _tokens(7))


def many_messages(chunks: int = 10) -> Iterator[bytes]:
    """Yield messages of some chunks each, without end."""
    tokens = _tokens(7)
    for number in count(1):
        for token in islice(tokens, chunks):
            yield _message_chunk("agent_message_chunk", f"message_{number}", token)


def many_tool_calls(chunks: int = 98) -> Iterator[bytes]:
    """Yield tool calls that begin, bring some content chunks and end, without end."""
    tokens = _tokens(7)
    for number in count(1):
        update = {"sessionUpdate": "tool_call_update", "toolCallId": f"call_{number}"}
        yield line(update | {"title": "Search", "kind": "search", "status": "in_progress"})
        for token in islice(tokens, chunks):
            yield _content_chunk(f"call_{number}", token)
        yield line(update | {"status": "completed"})


def long_terminal() -> Iterator[bytes]:
    """Yield output of one terminal, without end: a million chunks are about 100 MiB."""
    colour, plain = "\x1b[32m", "\x1b[0m"
    tokens = [_base64(f"{colour}PASS{plain}{text}") for text in texts(19)]
    return (_output_chunk("terminal_1", token) for token in _endless(tokens))


# --- What is not plain ---


def unknown_variants() -> Iterator[bytes]:
    """Yield updates of a variant that no schema knows, without end."""
    return (
        _line(
            f'{{"sessionUpdate":"_vendor_progress","stepId":"step_{number}",'
            f'"detail":{{"type":"text","text":{token}}},"percent":{number % 100}}}'
        )
        for number, token in enumerate(_tokens(7))
    )


def well_formed() -> Iterator[bytes]:
    """Yield what `malformed` would be without its mistakes, without end."""
    return _with_mistakes(_MENDED)


def malformed() -> Iterator[bytes]:
    """Yield updates with one mistake each that the schema forgives, without end."""
    return _with_mistakes(_MISTAKES)


_MENDED: Final[tuple[dict[str, Any], ...]] = (
    {"locations": [{"path": "/project/parser.py", "line": 12}, {"path": "/project/lexer.py"}]},
    {"status": "in_progress", "locations": [{"path": "/project/parser.py", "line": 12}]},
    {"content": [{"type": "content", "content": {"type": "text", "text": "Found it."}}]},
    {"kind": "search", "rawInput": {"pattern": "def parse"}},
)
_MISTAKES: Final[tuple[dict[str, Any], ...]] = (
    {"locations": [{"path": "/project/parser.py", "line": "12"}, {"path": "/project/lexer.py"}]},
    {"status": 2, "locations": [{"path": "/project/parser.py", "line": 12}]},
    {"content": [{"type": "content", "content": {"type": "text", "text": None}}]},
    {"kind": ["search"], "rawInput": {"pattern": "def parse"}},
)
"""A field that is defaulted, another, an item that is skipped, and a field again."""


def _with_mistakes(fields: tuple[dict[str, Any], ...]) -> Iterator[bytes]:
    for number, title in enumerate(_endless(texts(5))):
        update = {"sessionUpdate": "tool_call_update", "toolCallId": f"call_{number // 8}"}
        yield line(update | {"title": title} | fields[number % len(fields)])


# --- The first version of the protocol ---


def first_version(updates: int) -> Iterator[bytes]:
    """Yield a coding session as parameters of the v1 schema, which the Python SDK knows."""
    return islice(_first_version(), updates)


def _first_version() -> Iterator[bytes]:
    for data in _coding_session():
        for update in _in_first_version(msgspec.json.decode(data)["params"]["update"]):
            yield _json({"sessionId": SESSION, "update": update}).encode()


def first_version_lines(updates: int, *, named: bool) -> Iterator[bytes]:
    """Yield a coding session as lines of an agent of v1; `named` puts ids on its chunks."""
    return islice(_first_version_lines(named), updates)


def _first_version_lines(named: bool) -> Iterator[bytes]:
    for data in _coding_session():
        update = msgspec.json.decode(data)["params"]["update"]
        message_id = update.get("messageId")
        for old in _in_first_version(update):
            is_chunk = old["sessionUpdate"].endswith("_chunk")
            yield line(old | {"messageId": message_id} if named and is_chunk else old)


def _in_first_version(update: dict[str, Any]) -> Iterator[dict[str, Any]]:
    kind = update["sessionUpdate"]
    if kind in ("agent_message_chunk", "agent_thought_chunk"):
        yield {"sessionUpdate": kind, "content": update["content"]}
    elif kind == "user_message":
        for block in update["content"]:
            yield {"sessionUpdate": "user_message_chunk", "content": block}
    elif kind == "tool_call_update":
        yield update | {"sessionUpdate": "tool_call"} if "title" in update else update
