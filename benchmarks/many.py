"""Near linear: what takes how long if a peer sends four times as many of something.

Each kind of thing is sent line by line, one line a read unless the kind is about something else, to
a store whose subscriber asks for all changes. What grows with the square of the number takes 16
times as long for four times as many; the budget of each kind is 6.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import attrs

from acp_client import Delivery, Limits, Store, wire
from benchmarks.measuring import Budget, Result, Row, Scale, compared, seconds_of
from benchmarks.streams import SESSION, cut, joined, line, texts

_NEAR_LINEAR: Final = Budget(6.0)
_TIMES: Final = 4
_TEXTS: Final = texts(7)

Lines = Callable[[int], Iterator[bytes]]


@attrs.frozen
class Kind:
    """Something that a peer can send many of: the lines for a number of them.

    `before` are lines that are there already, which do not count; `read` is how many lines a read
    has, or bytes.
    """

    lines: Lines
    protocol: Any = "v2"
    before: Lines = lambda number: iter(())
    read: int = 1
    bytes_read: int | None = None
    limits: Limits = attrs.field(factory=Limits)
    count: int = 500

    def run(self, number: int) -> Callable[[], float]:
        """Return a run that receives so many; it returns its seconds."""
        before = joined(self.before(number))
        reads = self._reads(list(self.lines(number)))
        return partial(_received, self, before, reads)

    def _reads(self, lines: Sequence[bytes]) -> list[bytes]:
        if self.bytes_read is not None:
            return cut(joined(lines), self.bytes_read)
        starts = range(0, len(lines), self.read)
        return [joined(lines[start : start + self.read]) for start in starts]


def _received(kind: Kind, before: bytes, reads: Sequence[bytes]) -> float:
    store = Store(protocol=kind.protocol, limits=kind.limits)
    store.subscribe(_read_changes)
    store.receive(before)
    store.data_to_send()
    return seconds_of(partial(_receive, store, reads))


def _receive(store: Store, reads: Sequence[bytes]) -> Store:
    for data in reads:
        store.receive(data)
        store.data_to_send()
    return store


def _read_changes(delivery: Delivery) -> None:
    for change in delivery.changes:
        getattr(change, "text", None)


# --- Lines ---


def _message(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}, separators=(",", ":")).encode()


def _update(variant: str, **fields: Any) -> bytes:
    return line({"sessionUpdate": variant, **fields})


def _updates(variant: str, fields: Callable[[int], dict[str, Any]]) -> Lines:
    return lambda number: (_update(variant, **fields(index)) for index in range(number))


def _text(index: int) -> dict[str, Any]:
    return {"type": "text", "text": _TEXTS[index % len(_TEXTS)]}


def _requests(method: str, params: Callable[[int], dict[str, Any]]) -> Lines:
    def lines(number: int) -> Iterator[bytes]:
        for index in range(number):
            yield _message(id=index, method=method, params={"sessionId": SESSION, **params(index)})

    return lines


def _answers(result: dict[str, Any]) -> Lines:
    return lambda number: (_message(id=index, result=result) for index in range(number))


def _permission(index: int) -> dict[str, Any]:
    option = {"optionId": "a", "name": "Allow", "kind": "allow_once"}
    return {"title": f"May I {index}?", "options": [option]}


def _elicitation(index: int) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    return {"mode": "form", "message": f"Who {index}?", "requestedSchema": schema}


def _plan(index: int) -> dict[str, Any]:
    entries = [{"content": "step", "priority": "high", "status": "pending"}]
    return {"plan": {"type": "items", "planId": f"plan_{index}", "entries": entries}}


def _output(index: int) -> dict[str, Any]:
    data = base64.b64encode(f"{_TEXTS[index % len(_TEXTS)]}\r\n".encode()).decode()
    return {"terminalId": "terminal", "data": data}


def _option(index: int) -> dict[str, Any]:
    values = [{"value": "a", "name": "A"}]
    return {
        "id": f"option_{index}",
        "configId": f"option_{index}",
        "name": "Option",
        "type": "select",
        "currentValue": "a",
        "options": values,
    }


def _withdrawn(number: int) -> Iterator[bytes]:
    for index in range(number):
        yield _message(method="$/cancel_request", params={"requestId": index})


def _short_runs(number: int) -> Iterator[bytes]:
    for index in range(number):
        for part in range(4):
            content = _text(index + part)
            kind = ("agent_message_chunk", "agent_thought_chunk")[part // 2]
            yield _update(kind, messageId=f"message_{index % 9}", content=content)


def _turns(number: int) -> Iterator[bytes]:
    for _ in range(number):
        yield _update("state_update", state="running")
        yield _update("state_update", state="idle", stopReason="end_turn")


def _sessions(variant: str, **fields: Any) -> Lines:
    def lines(number: int) -> Iterator[bytes]:
        for index in range(number):
            params = {"sessionId": f"s{index}", "update": {"sessionUpdate": variant, **fields}}
            yield _message(method="session/update", params=params)

    return lines


def _blank(number: int) -> Iterator[bytes]:
    return (b"" for _ in range(number))


def _one_line(number: int) -> Iterator[bytes]:
    yield _update("agent_message_chunk", messageId="message", content=_long(number * 400))


def _long(length: int) -> dict[str, Any]:
    return {"type": "text", "text": "x" * length}


def _items(field: str, variant: str, item: Any, **fields: Any) -> Lines:
    return lambda number: iter([_update(variant, **fields, **{field: [item] * (50 * number)})])


def _growing(variant: str, field: Callable[[str], dict[str, Any]]) -> Lines:
    """Yield updates of which each has all the text of the one before and more."""

    def lines(number: int) -> Iterator[bytes]:
        text = ""
        for index in range(number):
            text += _TEXTS[index % len(_TEXTS)]
            yield _update(variant, **field(text))

    return lines


_CHUNK: Final = _updates(
    "agent_message_chunk", lambda index: {"messageId": "message", "content": _text(index)}
)
_OUTPUT: Final = _updates("terminal_output_chunk", _output)

KINDS: Final[dict[str, Kind]] = {
    "chunks of one message": Kind(_CHUNK),
    "chunks, 4 KiB reads": Kind(_CHUNK, bytes_read=4096, count=4_000),
    "chunks, reads of 7 bytes": Kind(_CHUNK, bytes_read=7, count=100),
    "many short runs": Kind(_short_runs, read=40, count=1_000),
    "messages": Kind(
        _updates(
            "agent_message_chunk",
            lambda index: {"messageId": f"message_{index}", "content": _text(index)},
        )
    ),
    "v1: chunks without an id": Kind(
        _updates("agent_message_chunk", lambda index: {"content": _text(index)}), "v1"
    ),
    "tool calls": Kind(
        _updates("tool_call_update", lambda index: {"toolCallId": f"c{index}", "title": "Run"})
    ),
    "v1: tool calls": Kind(
        _updates("tool_call", lambda index: {"toolCallId": f"c{index}", "title": "Run"}), "v1"
    ),
    "updates of one tool call": Kind(
        _updates("tool_call_update", lambda index: {"toolCallId": "c", "title": f"Run {index}"})
    ),
    "content chunks of one tool call": Kind(
        _updates(
            "tool_call_content_chunk",
            lambda index: {
                "toolCallId": "c",
                "content": {"type": "content", "content": _text(index)},
            },
        )
    ),
    "`_meta` keys, one a read": Kind(
        _updates("tool_call_update", lambda index: {"toolCallId": "c", "_meta": {f"k{index}": 1}})
    ),
    "`_meta` keys in one read": Kind(
        _updates("tool_call_update", lambda index: {"toolCallId": "c", "_meta": {f"k{index}": 1}}),
        read=100_000,
        count=2_000,
    ),
    "terminals": Kind(
        _updates("terminal_update", lambda index: {"terminalId": f"t{index}", "command": "ls"})
    ),
    "output of one terminal": Kind(_OUTPUT),
    "output of a full terminal": Kind(_OUTPUT, limits=Limits(terminal_bytes=10_000)),
    "plans": Kind(_updates("plan_update", _plan)),
    "updates of the last plan": Kind(
        lambda number: (_update("plan_update", **_plan(number - 1)) for _ in range(number)),
        before=_updates("plan_update", _plan),
    ),
    "removals of plans": Kind(
        _updates("plan_removed", lambda index: {"planId": f"plan_{index}"}),
        before=_updates("plan_update", _plan),
    ),
    "entries of a plan": Kind(
        _items(
            "entries",
            "plan_update",
            {"content": "step", "priority": "high", "status": "pending"},
        )
    ),
    "compactions": Kind(
        _updates("compaction_update", lambda index: {"compactionId": f"k{index}", "status": "x"})
    ),
    "unknown updates": Kind(_updates("_vendor_progress", lambda index: {"step": index})),
    "malformed updates": Kind(_updates("tool_call_update", lambda index: {"title": index})),
    "notices": Kind(
        _updates("notice", lambda index: {"severity": "info", "title": f"notice {index}"})
    ),
    "turns": Kind(_turns),
    "updates of the usage": Kind(
        _updates("usage_update", lambda index: {"used": index, "size": 200_000})
    ),
    "updates of the commands": Kind(
        _updates(
            "available_commands_update",
            lambda index: {"availableCommands": [{"name": f"n{index}", "description": "d"}]},
        )
    ),
    "options one by one": Kind(
        _updates("config_option_update", lambda index: {"configOptions": [_option(index)]})
    ),
    "v1: options one by one": Kind(
        _updates("config_option_update", lambda index: {"configOption": _option(index)}), "v1"
    ),
    "v1: updates of the mode beside many options": Kind(
        _updates("current_mode_update", lambda index: {"currentModeId": f"m{index}"}),
        "v1",
        before=_items("configOptions", "config_option_update", _option(0)),
        count=100,
    ),
    "permission requests": Kind(_requests("session/request_permission", _permission)),
    "v1: permission requests": Kind(
        _requests(
            "session/request_permission",
            lambda index: {**_permission(index), "toolCall": {"toolCallId": f"c{index}"}},
        ),
        "v1",
    ),
    "withdrawals of permission requests": Kind(
        _withdrawn, before=_requests("session/request_permission", _permission), count=250
    ),
    "elicitations": Kind(_requests("elicitation/create", _elicitation)),
    "withdrawals of elicitations": Kind(
        _withdrawn, before=_requests("elicitation/create", _elicitation), count=250
    ),
    "requests that have no handler": Kind(_requests("_vendor/ask", lambda index: {})),
    "unasked answers": Kind(_answers({})),
    "v1: unasked answers, beside many sessions": Kind(
        _answers({"stopReason": "end_turn"}),
        "v1",
        before=_sessions("agent_message_chunk", content=_text(0)),
    ),
    "sessions": Kind(_sessions("agent_message_chunk", messageId="m", content=_text(0))),
    "blank lines": Kind(_blank, read=100_000, count=20_000),
    "lines that are no JSON": Kind(lambda number: iter([b"x"] * number)),
    "bytes of one line, 4 KiB reads": Kind(_one_line, bytes_read=4096, count=2_000),
    "blocks of one message": Kind(
        _items("content", "agent_message", _text(0), messageId="message"), count=50
    ),
    "locations of one tool call": Kind(
        _items("locations", "tool_call_update", {"path": "/x"}, toolCallId="c"), count=50
    ),
    "messages in one batch array": Kind(
        lambda number: iter([b"[" + b",".join(_CHUNK(10 * number)) + b"]"]), count=200
    ),
}


def near_linear(scale: Scale) -> Iterator[Result]:
    """Compare four times as many of each kind with some."""
    for name, kind in KINDS.items():
        yield _row(name, kind.run, max(kind.count // scale.fewer, 1))
    yield _row("prompts, answered and echoed", _prompts, max(500 // scale.fewer, 1))


def _prompts(number: int) -> Callable[[], float]:
    """Return a run in which the client sends prompts; it returns its seconds."""

    def conversation() -> Store:
        store = Store(protocol="v2")
        store.receive(_update("state_update", state="idle") + b"\n")
        for index in range(number):
            sent = store.prompt(SESSION, [wire.TextContent("What now?")])
            store.data_to_send()
            store.receive(_message(id=sent.request_id, result={"messageId": f"m{index}"}) + b"\n")
            echo = {"messageId": f"m{index}", "content": [_text(index)]}
            store.receive(_update("user_message", **echo) + b"\n")
        return store

    return partial(seconds_of, conversation)


def _row(name: str, run: Callable[[int], Callable[[], float]], number: int) -> Row:
    few, many = run(number), run(_TIMES * number)
    few()
    seconds = {"few": [few() for _ in range(3)], "many": [many() for _ in range(3)]}
    return Row(
        f"{_TIMES} n : n {name}",
        (min(seconds["many"]) / min(seconds["few"]),),
        _NEAR_LINEAR,
        note=f"n = {number:,}, {compared(seconds, 'many', 'few', number)}",
    )
