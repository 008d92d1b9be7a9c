"""Hypothesis strategies for whole ACP v2 sessions, as lines of JSON.

Nothing here imports the package under test: a session is a list of frames, a frame is one line and
its direction, and whoever reads it brings a parser of their own.

How it works, and why it is fast. Drawing every field from Hypothesis costs more than the code under
test. Here Hypothesis draws only tapes: byte strings of a fixed length, one for each step of a
session. `Choices` reads a tape one byte a decision and plain functions build the JSON. Two rules
keep shrinking useful:

- decision 0 is the simplest, and a spent tape answers 0 for ever, so that lower bytes mean a
  smaller message and every build ends;
- a step takes nothing from another step's tape, so that a step can be deleted.

The protocol is a set of tables: one builder for each struct, made by `_record` from its required
and its optional fields. An optional field is absent, null or a value. Ids come from one small pool,
for messages, tool calls, terminals, plans and the rest alike, so that they often collide.

`sessions` keeps the books of a connection: which requests are open, which permissions were asked,
which messages a prompt must be echoed as. With `well_formed=True` every frame is valid by the
schema and every response answers an open request. Valid is not the same as easy: lone surrogates,
`1.0` for an integer, unknown variants and early updates are all valid. With `well_formed=False`
frames are damaged as well: by value (a node replaced, dropped, added), by text (a duplicate key, a
number beyond every range, deep nesting), by byte (a torn line, bytes that are no UTF-8), and
lines come between that were never messages.

Generated values may share parts with each other: read them, never write to them.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

from hypothesis import strategies as st

Json: TypeAlias = Any
JsonObject: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str | int, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a connection without its LF; `sent` is from the client to the agent."""

    sent: bool
    data: bytes


@dataclass(slots=True)
class Choices:
    """A tape of decisions; once it is spent every decision is the simplest one."""

    tape: bytes
    place: int = 0

    def below(self, bound: int) -> int:
        """Give a number from 0 up to, and without, `bound` (at most 256)."""
        if self.place >= len(self.tape):
            return 0
        self.place += 1
        return self.tape[self.place - 1] % bound

    def wide(self) -> int:
        """Give a number of sixteen bits."""
        return self.below(256) << 8 | self.below(256)

    def pick(self, options: Sequence[T]) -> T:
        """Give one of the options; the first is the simplest."""
        return options[self.below(len(options))]

    def one_in(self, count: int) -> bool:
        """Say yes once in `count` times; the simplest answer is no."""
        return self.below(count) == count - 1


Build: TypeAlias = Callable[[Choices], Json]

# A step's tape: most of it for what is said, the end for the damage done to that.
_TAPE_LENGTH = 96
_HARM_LENGTH = 32
_TAPE = st.binary(min_size=_TAPE_LENGTH, max_size=_TAPE_LENGTH)


def _halves(tape: bytes) -> tuple[Choices, Choices]:
    return Choices(tape[:-_HARM_LENGTH]), Choices(tape[-_HARM_LENGTH:])


# --- builders -------------------------------------------------------------------------------------


def _one_of(*values: Json) -> Build:
    return lambda choices: choices.pick(values)


def _either(*builds: Build) -> Build:
    return lambda choices: choices.pick(builds)(choices)


def _many(item: Build, least: int = 0, most: int = 3) -> Build:
    return lambda choices: [item(choices) for _ in range(least + choices.below(most - least + 1))]


def _record(required: Mapping[str, Build], optional: Mapping[str, Build] | None = None) -> Build:
    """Build an object: optional fields, `_meta` always among them, are absent, null or a value."""
    patchable = {**(optional or {}), "_meta": _meta}

    def build(choices: Choices) -> JsonObject:
        built = {key: value(choices) for key, value in required.items()}
        for key, value in patchable.items():
            presence = choices.below(10)
            if presence >= 4:
                built[key] = None if presence < 6 else value(choices)
        return built

    return build


def _text(choices: Choices) -> str:
    pieces = [_piece(choices)]
    while choices.one_in(4):
        pieces.append(_piece(choices))
    return "".join(pieces)


def _piece(choices: Choices) -> str:
    if choices.one_in(8):
        return chr(choices.wide() % 0xD800)
    return choices.pick(_TEXTS)


_TEXTS = (
    "a", "hello ", "two words", "", " ", "", "\n\n", "\t", "   ", "\r\n", "\u00e9", "\U0001f680",
    "\ud83d", "x\ud83d", "\ude80", "\ude80x", "\ud83d\ude80", "\x1b[31mred\x1b[0m", "\x9b2J",
    "\x00", "\u2028", "\x85\x7f", "\u202e\u200d", "<b>&amp;</b>", '"q\\', "{0}%s", "z" * 300,
)  # fmt: skip
_WORDS = ("a", "Fix the bug", "\u00fc \U0001f680", "x" * 80, "\x1b]0;t\x07", "\ud83d")
_word = _one_of(*_WORDS)
_label = _one_of(*_WORDS, "", " ")


def _id(choices: Choices) -> str:
    return choices.pick(_ID_POOL)


_IDS = ("a", "b", "c")
_ID_POOL = (*_IDS * 9, "", "\ud800", "\u00e9", "a ", "_a" * 40)


def _anything(choices: Choices) -> Json:
    """Build any JSON value, a fresh one for each call."""
    nested = choices.below(6)
    if nested == 4:
        return [_anything(choices) for _ in range(choices.below(3))]
    if nested == 5:
        return {choices.pick(_KEYS): _anything(choices) for _ in range(choices.below(4))}
    return choices.pick(_SCALARS)


_SCALARS = (
    None, True, False, 0, -1, 5, 1.5, 1e308, 2**53 + 1, 2**63, 2**64, "x", "", "\ud83d", "\u00e9",
)  # fmt: skip
_KEYS = ("k", "l", "", "type", "_meta", "__proto__", "k\udfff", "\u00e9")


def _meta(choices: Choices) -> JsonObject:
    """Build a `_meta` patch: few keys, so that later patches meet earlier ones; null removes."""
    patch = {}
    for _ in range(choices.below(4)):
        patch[choices.pick(_META_KEYS)] = None if choices.one_in(3) else _anything(choices)
    return patch


_META_KEYS = ("k", "example.com/l", "k", "", "k\udfff")


def _unknown(tag: str, **required: Build) -> Build:
    """Build an unknown variant of an open union: some keys of known ones, with any value."""

    def build(choices: Choices) -> JsonObject:
        extra = {choices.pick(_EXTRAS): _anything(choices) for _ in range(choices.below(4))}
        known = {key: value(choices) for key, value in required.items()}
        return {tag: choices.pick(_UNKNOWN_TAGS), **known, **extra}

    return build


_UNKNOWN_TAGS = ("_vendor", "hologram", "", "constructor", "Text")
_EXTRAS = ("any", "title", "text", "entries", "path", "value", "__proto__")


def _union(tag: str, known: Mapping[str, Build], **required: Build) -> Build:
    """Build one of the known variants or an unknown one, with its tag first."""

    def tagged(name: str, build: Build, choices: Choices) -> JsonObject:
        return {tag: name, **build(choices)}

    variants = [partial(tagged, name, build) for name, build in known.items()]
    return _either(*variants, _unknown(tag, **required))


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


_path = _one_of("/home/user/a.py", "/a", "", "C:\\b", "relative.py", "/\u00e9\x1b[0m")
_uri = _one_of("file:///a", "relative/path.py", "", "http://[::1", "file:///a b")
_media_type = _one_of("text/plain", "image/png", "", "text/x;q=1")
_timestamp = _one_of(
    "2026-03-01T09:00:00Z", "2026-03-01T10:30:00.250+01:00", "2026-03-01T09:00:00.123456789Z"
)
_count = _one_of(0, 1, 53_000, 200_000, 2**32, 2**53 + 1, 2**63, 2**64 - 1, 2**64, 7.0, 1e3)
# A terminal's bytes: characters and escapes cut in two, bytes that are no UTF-8, lost padding.
_bytes = _one_of(
    "", *map(_encoded, (b"ls\n", b"\xf0\x9f", b"\x9a\x80", b"10%\r", b"\x1b[3", b"1m", b"\xff\0")),
    "aGk", "aGk=",
)  # fmt: skip

# --- content --------------------------------------------------------------------------------------

_annotations = _record(
    {},
    {
        "audience": _many(_one_of("user", "assistant", "_robot")),
        "lastModified": _one_of("2026-03-01T09:00:00Z", "yesterday", ""),
        "priority": _one_of(0, 0.5, 1, 1.0),
    },
)
_icon = _record(
    {"src": _uri},
    {
        "mimeType": _media_type,
        "sizes": _many(_one_of("48x48", "any")),
        "theme": _one_of("light", "dark", "_dim"),
    },
)
_text_resource = _record({"text": _text, "uri": _uri}, {"mimeType": _media_type})
_blob_resource = _record({"blob": _bytes, "uri": _uri}, {"mimeType": _media_type})
_text_block = _record({"text": _text}, {"annotations": _annotations})
_CONTENT_BLOCKS = {
    "text": _text_block,
    "image": _record(
        {"data": _bytes, "mimeType": _media_type}, {"uri": _uri, "annotations": _annotations}
    ),
    "audio": _record({"data": _bytes, "mimeType": _media_type}, {"annotations": _annotations}),
    "resource_link": _record(
        {"name": _label, "uri": _uri},
        {
            "title": _label,
            "description": _label,
            "icons": _many(_icon),
            "mimeType": _media_type,
            "size": _count,
            "annotations": _annotations,
        },
    ),
    "resource": _record(
        {"resource": _either(_text_resource, _blob_resource)}, {"annotations": _annotations}
    ),
}


def _plain_text(choices: Choices) -> JsonObject:
    return {"type": "text", "text": _text(choices)}


_block = _either(*[_plain_text] * 4, _union("type", _CONTENT_BLOCKS))

# --- tool calls and terminals ---------------------------------------------------------------------

_file_facts = {
    "fileType": _one_of("text", "binary", "directory", "symlink", "_pipe"),
    "mimeType": _media_type,
}
_path_change = _record({"path": _path}, _file_facts)
_path_pair_change = _record({"oldPath": _path, "path": _path}, _file_facts)
_DIFF_OPERATIONS = {
    **dict.fromkeys(("add", "delete", "modify"), _path_change),
    **dict.fromkeys(("move", "copy"), _path_pair_change),
}
_patch = _record({"format": _one_of("git_patch", "_other"), "text": _text})
_diff = _record({"changes": _many(_union("operation", _DIFF_OPERATIONS))}, {"patch": _patch})
_terminal_reference = _record({"terminalId": _id})
_tool_call_content = _union(
    "type",
    {"content": _record({"content": _block}), "diff": _diff, "terminal": _terminal_reference},
)
_capabilities = _record({}, {"cancel": _record({})})
_location = _record({"path": _path}, {"line": _one_of(1, 3, 2**32 - 1, 3.0)})
_TOOL_KINDS = (
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other",
    "_dream",
)  # fmt: skip
_TOOL_STATUSES = (
    "pending", "in_progress", "paused", "completed", "failed", "cancelled", "Completed",
)  # fmt: skip
_tool_call = _record(
    {"toolCallId": _id},
    {
        "status": _one_of(*_TOOL_STATUSES),
        "content": _many(_tool_call_content),
        "title": _label,
        "name": _label,
        "kind": _one_of(*_TOOL_KINDS),
        "locations": _many(_location),
        "rawInput": _anything,
        "rawOutput": _anything,
        "capabilities": _capabilities,
    },
)
_exit_status = _record(
    {}, {"exitCode": _one_of(0, 1, -1, 137, 2**63 - 1, 1.0), "signal": _one_of("SIGKILL", "")}
)
_side = _one_of(80, 1, 65_535, 24.0)
_terminal = _record(
    {"terminalId": _id},
    {
        "output": _record({"data": _bytes}),
        "exitStatus": _exit_status,
        "command": _label,
        "cwd": _path,
        "size": _record({"cols": _side, "rows": _side}),
        "capabilities": _capabilities,
    },
)

# --- plans, lists, state and the rest -------------------------------------------------------------

_plan_entry = _record(
    {
        "content": _text,
        "priority": _one_of("high", "medium", "low", "_urgent"),
        "status": _one_of("pending", "in_progress", "completed", "cancelled", "_blocked"),
    }
)
_plan = _union(
    "type", {"items": _record({"planId": _id, "entries": _many(_plan_entry)})}, planId=_id
)
_command_input = _union("type", {"text": _record({"hint": _label})})
_command = _union(
    "type",
    {"command": _record({"name": _label, "description": _label}, {"input": _command_input})},
    name=_label,
    description=_label,
)
_select_option = _record({"value": _id, "name": _label}, {"description": _label})
_select_group = _record({"groupId": _id, "name": _label, "options": _many(_select_option, least=1)})
_config_facts = {
    "description": _label,
    "category": _one_of("mode", "model", "model_config", "thought_level", "_mood"),
}
_select = _record(
    {
        "configId": _id,
        "name": _label,
        "currentValue": _id,
        "options": _either(_many(_select_option, least=1), _many(_select_group, least=1)),
    },
    _config_facts,
)
_boolean = _record(
    {"configId": _id, "name": _label, "currentValue": _one_of(False, True)}, _config_facts
)
_config_option = _union("type", {"select": _select, "boolean": _boolean}, configId=_id, name=_label)


_error_data = _either(
    _record({"sessionId": _id}),
    _record({"requested": _one_of(3), "supported": _many(_one_of(1, 2))}),
    _one_of(None),
    _anything,
)
_ERROR_CODES = (
    -32603, -32700, -32600, -32601, -32602, -32800, -32000, -32002, -32022, 0, 2**31 - 1, -5.0,
)  # fmt: skip


def _error(choices: Choices) -> JsonObject:
    """Build a JSON-RPC error; its `data` may be anything, null included."""
    code = choices.pick(_ERROR_CODES)
    data = {"data": _error_data(choices)} if choices.one_in(2) else {}
    return {"code": code, "message": _label(choices), **data}


_background_work = _union(
    "type", {"tool_call": _record({"toolCallId": _id}), "terminal": _terminal_reference}
)
_background = {"background": _many(_background_work)}
_STOP_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
_idle = _either(
    *[_record({}, _background | {"stopReason": _one_of(*_STOP_REASONS)})] * 2,
    _record({"stopReason": _one_of("error")}, _background | {"error": _error}),
    _record({"stopReason": _one_of("_paused", "hologram")}, _background | {"extra": _anything}),
)
_busy = _record({}, _background)
_state = _either(
    _union("state", {"idle": _idle, "running": _busy}),
    _union("state", {"idle": _idle, "running": _busy, "requires_action": _busy}),
)
_chunk = _record({"messageId": _id, "content": _block})
_message = _record({"messageId": _id}, {"content": _many(_block)})
_config_options = _many(_config_option)
_commands = _many(_command)

_UPDATES: dict[str, Build] = {
    "agent_message_chunk": _chunk,
    "user_message_chunk": _chunk,
    "agent_thought_chunk": _chunk,
    "user_message": _message,
    "agent_message": _message,
    "agent_thought": _message,
    "tool_call_update": _tool_call,
    "tool_call_content_chunk": _record({"toolCallId": _id, "content": _tool_call_content}),
    "terminal_update": _terminal,
    "terminal_output_chunk": _record({"terminalId": _id, "data": _bytes}),
    "plan_update": _record({"plan": _plan}),
    "state_update": _state,
    "usage_update": _record(
        {"used": _count, "size": _count},
        {"cost": _record({"amount": _one_of(0, 0.045, -1, 1e308), "currency": _one_of("USD", "")})},
    ),
    "session_info_update": _record({}, {"title": _label, "updatedAt": _timestamp}),
    "available_commands_update": _record({"availableCommands": _commands}),
    "config_option_update": _record({"configOptions": _config_options}),
    "notice": _record(
        {"severity": _one_of("info", "warning", "error", "_loud"), "title": _word},
        {"description": _label},
    ),
    "compaction_update": _record(
        {
            "compactionId": _id,
            "status": _one_of("in_progress", "completed", "failed", "cancelled", "_queued"),
        },
        {"summary": _many(_block), "error": _label},
    ),
    "compaction_summary_chunk": _record({"compactionId": _id, "content": _block}),
}
VARIANTS = tuple(_UPDATES)
UNKNOWN = "unknown"
_unknown_update = _unknown("sessionUpdate")
# What a session is mostly made of comes more often.
_WEIGHTS = dict.fromkeys(VARIANTS, 2) | {
    "agent_message_chunk": 5, "agent_thought_chunk": 3, "state_update": 5, "tool_call_update": 5,
    "tool_call_content_chunk": 3, "terminal_output_chunk": 3, UNKNOWN: 2,
}  # fmt: skip
_WEIGHTED = tuple(name for name, weight in _WEIGHTS.items() for _ in range(weight))


def _update(choices: Choices, variant: str | None = None) -> JsonObject:
    name = choices.pick(_WEIGHTED) if variant is None else variant
    if name == UNKNOWN:
        return _object(_unknown_update, choices)
    return {"sessionUpdate": name, **_UPDATES[name](choices)}


def _object(build: Build, choices: Choices) -> JsonObject:
    built: JsonObject = build(choices)
    return built


# --- damage by value ------------------------------------------------------------------------------

# Wrong in value rather than in type: what a field of that name must not hold.
_BAD_VALUES: dict[str | int, tuple[Json, ...]] = {
    "updatedAt": ("yesterday", "2026-02-30T09:00:00Z", "2026-03-01T09:00:00", "2026-03-01T09:00Z"),
    "data": ("%%%", "aGk=\n", "a b=", "_-8=", "A"),
    "used": (-1, 1.5, "1", True),
    "size": (-5, 0.5, {"cols": 0, "rows": 1}, {"cols": 65_536, "rows": 1}, [80, 24]),
    "cols": (0, 65_536, -80, 1.5),
    "line": (0, 1.5, 2**32, -1),
    "exitCode": ("0", 1.5, True),
    "exitStatus": (0, [], "done"),
    "priority": (2, -0.1, "high"),
    "code": (1.5, 2**31, "x"),
    "title": ("", 42),
    "options": ([], [5], {}),
    "cancel": (True, 0),
    "content": ("x", [5, {"type": "text"}, {"type": "text", "text": "kept"}], {"type": "text"}),
    "background": ("x", [{"type": "terminal"}], [5]),
    "currentValue": ("true", 1),
    "messageId": (7, None),
    "jsonrpc": ("1.0", 2),
    "id": (None, {}, 1.5, True, []),
}
_ADDED_KEYS = ("extra", "error", "stopReason", "id", "result", "title", "content", "__proto__")


def _paths(node: Json) -> list[Path]:
    """List the way to every node below the root, parents first."""
    found: list[Path] = []
    waiting: list[tuple[Path, Json]] = [((), node)]
    while waiting:
        path, parent = waiting.pop()
        for key, child in _children(parent):
            found.append((*path, key))
            waiting.append(((*path, key), child))
    return found


def _children(node: Json) -> Iterable[tuple[str | int, Json]]:
    if isinstance(node, dict):
        return node.items()
    return enumerate(node) if isinstance(node, list) else ()


def _at(node: Json, path: Path, change: Callable[[Json], Json]) -> Json:
    """Copy the tree with one node changed; nothing of the old tree is written to."""
    if not path:
        return change(node)
    copy = node.copy()
    copy[path[0]] = _at(copy[path[0]], path[1:], change)
    return copy


def _wrong(choices: Choices, key: str | int) -> Json:
    if key in _BAD_VALUES and not choices.one_in(3):
        return choices.pick(_BAD_VALUES[key])
    return _anything(choices)


def _replace(choices: Choices, tree: Json, path: Path) -> Json:
    wrong = _wrong(choices, path[-1])
    return _at(tree, path, lambda _: wrong)


def _drop(choices: Choices, tree: Json, path: Path) -> Json:
    def without(parent: Json) -> Json:
        if isinstance(parent, list):
            return parent[: int(path[-1])] + parent[int(path[-1]) + 1 :]
        return {key: value for key, value in parent.items() if key != path[-1]}

    return _at(tree, path[:-1], without)


def _add(choices: Choices, tree: Json, path: Path) -> Json:
    extra = _anything(choices)

    def added(parent: Json) -> Json:
        if isinstance(parent, list):
            return [extra, *parent]
        return {**parent, choices.pick(_ADDED_KEYS): extra}

    return _at(tree, path[:-1], added)


# --- damage by text -------------------------------------------------------------------------------

# Two noncharacters that no text above holds mark what `json` cannot write: a key that is to stand
# twice, and a token that is to be written as it is.
_TWICE = "\ufdd0"
_TOKEN = "\ufdd1"


def _deep(levels: int, opening: str = "[", closing: str = "]") -> str:
    return opening * levels + closing * levels


TOKENS = {
    "infinite": "1e400",
    "negative infinite": "-1e400",
    "400 digits": "9" * 400,
    "underflow": "1e-400",
    "minus zero": "-0",
    "exponent": "1e3",
    "rounded": "0.9999999999999999999",
    "not a number": "NaN",
    "infinity": "-Infinity",
    "no number": "1_000",
    "900 levels": _deep(900),
    "1100 levels": _deep(1_100),
    "900 objects": _deep(900, '{"k":', "}").replace(":}", ":0}", 1),
    "1100 objects": _deep(1_100, '{"k":', "}").replace(":}", ":0}", 1),
    "torn escape": '"\\ud8"',
    "raw control": '"\x01"',
}
_TOKEN_TEXTS = tuple(TOKENS.values())
_MARKED = re.compile(f'"{_TOKEN}([0-9]+)"')
_LONE = re.compile("[\ud800-\udfff]")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")


def _splice(choices: Choices, tree: Json, path: Path) -> Json:
    token = f"{_TOKEN}{choices.below(len(_TOKEN_TEXTS))}"
    return _at(tree, path, lambda _: token)


def _duplicate(choices: Choices, tree: Json, path: Path) -> Json:
    """Give a key a second value, before the first one or after it, where it wins."""
    if not isinstance(path[-1], str):
        return _replace(choices, tree, path)
    twin = {f"{path[-1]}{_TWICE}": _wrong(choices, path[-1])}
    first = choices.one_in(2)
    return _at(tree, path[:-1], lambda parent: twin | parent if first else parent | twin)


Mutation: TypeAlias = Callable[[Choices, Json, Path], Json]
_VALUE_MUTATIONS: tuple[Mutation, ...] = (_replace, _drop, _add)
_MUTATIONS: tuple[Mutation, ...] = (_replace, _replace, _drop, _add, _splice, _duplicate)


def _mutated(choices: Choices, tree: JsonObject, mutations: Sequence[Mutation]) -> JsonObject:
    paths = _paths(tree)
    if not paths:
        return tree
    if choices.one_in(2):  # where a field is picky, more often than chance would have it
        paths = [path for path in paths if path[-1] in _BAD_VALUES] or paths
    path = paths[choices.wide() % len(paths)]
    mutated: JsonObject = choices.pick(mutations)(choices, tree, path)
    return mutated


def encode(message: Json, style: int = 0) -> bytes:
    """Write JSON as one line; `style` (0 to 7) chooses key order, spaces and escapes."""
    text = _ENCODERS[style >> 1 & 3].encode(message)
    text = _MARKED.sub(lambda mark: _TOKEN_TEXTS[int(mark[1])], text).replace(_TWICE, "")
    return (_BEYOND_ASCII if style & 1 else _LONE).sub(_escape, text).encode()


def _escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


_ENCODERS = [
    json.JSONEncoder(ensure_ascii=False, separators=separators, sort_keys=sort_keys)
    for separators in ((",", ":"), (", ", ": "))
    for sort_keys in (False, True)
]

# --- messages -------------------------------------------------------------------------------------


def notification(update: JsonObject, session_id: str = "s1") -> JsonObject:
    """Make the `session/update` message that carries an update."""
    return _notify("session/update", {"sessionId": session_id, "update": update})


def _notify(method: str, params: Json) -> JsonObject:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def _request(request_id: Json, method: str, params: Json) -> JsonObject:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def _answer(request_id: Json, outcome: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": request_id, **outcome}


_bare = _record({})
_implementation = _record({"name": _label, "version": _label}, {"title": _label})
_initialize = _record({"protocolVersion": _one_of(2), "info": _implementation})
_lists = {"configOptions": _config_options, "availableCommands": _commands}


def _some_lists(choices: Choices) -> JsonObject:
    """Build the lists of a result that sets a session up; each may be absent but is never null."""
    lists = {key: value(choices) for key, value in _lists.items() if choices.one_in(2)}
    return {**lists, **_bare(choices)}


_subject = _union(
    "type",
    {
        "tool_call": _record({"toolCall": _tool_call}),
        "command": _record(
            {"command": _label, "cwd": _path}, {"toolCallId": _id, "terminalId": _id}
        ),
    },
)
_option = _record(
    {
        "optionId": _one_of("allow", "reject", ""),
        "name": _label,
        "kind": _one_of("allow_once", "allow_always", "reject_once", "reject_always", "_maybe"),
    }
)
_permission = _record(
    {"title": _label, "options": _many(_option, least=1)},
    {"subject": _subject, "description": _label},
)
_outcome = _union(
    "outcome",
    {"selected": _record({"optionId": _one_of("allow", "reject")}), "cancelled": _bare},
)
_CANCELLED = {"result": {"outcome": {"outcome": "cancelled"}}}
_replay_from = _union("type", {"start": _bare})
_resume = _record({"cwd": _path}, {"replayFrom": _replay_from})
_set_option = _either(
    _record({"configId": _id, "type": _one_of("id"), "value": _id}),
    _record({"configId": _id, "type": _one_of("boolean"), "value": _one_of(False, True)}),
    _record({"configId": _id, "type": _one_of("_slider"), "value": _anything}),
)
# The requests of a client; all but `initialize` and `session/new` name a session.
_REQUESTS: dict[str, Build] = {
    "session/prompt": _record({"prompt": _many(_block, least=1)}),
    "initialize": _initialize,
    "session/new": _record({"cwd": _path}),
    "session/resume": _resume,
    "session/set_config_option": _set_option,
    "session/list": _bare,
    "session/close": _bare,
    "tool_call/cancel": _record({"toolCallId": _id}),
    "terminal/cancel": _record({"terminalId": _id}),
}
_RESULTS: dict[str, Build] = {
    "initialize": _initialize,
    "session/new": _some_lists,
    "session/resume": _some_lists,
    "session/set_config_option": _record({"configOptions": _config_options}),
    "session/list": _record({"sessions": _one_of([])}),
}
_WITHOUT_SESSION = ("initialize", "session/new", "session/list")
MALFORMED_ANSWERS: tuple[JsonObject, ...] = (
    {},
    {"result": None},
    {"result": "a"},
    {"result": []},
    {"result": {}},
    {"result": {"messageId": None}},
    {"result": {"messageId": 5, "sessionId": 5}},
    {"result": {"sessionId": "s1", "configOptions": None, "availableCommands": [5]}},
    {"result": {"sessionId": "s1", "configOptions": 5, "availableCommands": {}}},
    {"result": {"messageId": "a", "sessionId": "s1", "configOptions": []}, "error": None},
    {"result": {"messageId": "a", "sessionId": "s1"}, "error": {"code": 1, "message": "x"}},
    {"error": None},
    {"error": "boom"},
    {"error": {"code": 1.5, "message": "x"}},
    {"error": {"code": 2**31, "message": "x"}},
    {"error": {"message": "x"}},
)
_MALFORMED_PERMISSION_ANSWERS: tuple[JsonObject, ...] = (
    {"result": None},
    {"result": {"outcome": "cancelled"}},
    {"result": {"outcome": {"outcome": "selected"}}},
    {"error": "no"},
)
# Valid JSON-RPC of an agent that means nothing to a session.
_IDLE_TALK: tuple[JsonObject, ...] = (
    _notify("session/hologram", {}),
    _notify("elicitation/complete", {"elicitationId": "a"}),
    _notify("_example.com/x", None),
    _request("x", "_example.com/x", {"sessionId": "s1"}),
    _request(-1, "fs/read_text_file", {"sessionId": "s1", "path": "/a"}),
    _request("y", "elicitation/create", {"mode": "_x", "sessionId": "s1", "message": "m"}),
)
# Messages in the wrong place: an update that is a request, a question that cannot be answered.
_MISPLACED: tuple[JsonObject, ...] = (
    {**notification({"sessionUpdate": "agent_message", "messageId": "a"}), "id": 5},
    _notify("session/request_permission", {"sessionId": "s1", "title": "x", "options": []}),
    _notify("session/update", ["s1", {"sessionUpdate": "agent_message", "messageId": "a"}]),
    _notify("session/update", {"sessionId": None, "update": {"sessionUpdate": "_x"}}),
    _notify("session/update", {"sessionId": "s1", "update": None}),
    _notify("session/cancel", {"sessionId": "s1"}),
    _request(7, "session/prompt", {"sessionId": "s1", "prompt": []}),
    _answer(99, {"result": {"messageId": "a"}}),
    _answer("99", {"error": {"code": 1, "message": "x"}}),
    _answer(None, {"error": {"code": -32700, "message": "Parse error"}}),
)

# --- damage by byte, and lines that were never messages -------------------------------------------

_BOM = b"\xef\xbb\xbf"
_LOG_LINES = (
    b"2026-03-01 09:00:00 INFO starting agent",
    b"Traceback (most recent call last):",
    b"\x1b[33mwarning\x1b[0m: {not json}",
    b"Content-Length: 52",
)
_BLANKS = (b"", b" ", b"\r", b"\t \r", _BOM, b"\xc2\xa0", b"\xe3\x80\x80")
_SCALAR_LINES = (b"true", b"5", b'"x"', b"null", b"{}", b"[]", b"[5, null]", b"{", b"]", b'"', b"-")
_BAD_BYTES = (b"\xff", b"\xc3", b"\xed\xa0\xbd", b"\xf0\x9f\x9a", b"\xc0\x80", b"\x80")
# Where a token is put: raw data keeps it, a typed field cannot, an undefined key is passed over.
_HOLES: tuple[Callable[[str], JsonObject], ...] = (
    lambda token: {"sessionUpdate": "tool_call_update", "toolCallId": "a", "rawInput": token},
    lambda token: {"sessionUpdate": "tool_call_update", "toolCallId": "a", "rawOutput": [token]},
    lambda token: {"sessionUpdate": "tool_call_update", "toolCallId": "a", "title": token},
    lambda token: {"sessionUpdate": "agent_message", "messageId": "a", "_meta": {"k": token}},
    lambda token: {"sessionUpdate": "_vendor", "any": token},
    lambda token: {"sessionUpdate": "usage_update", "used": token, "size": 1},
    lambda token: {"sessionUpdate": "terminal_update", "terminalId": "a", "exitStatus": token},
    lambda token: {"sessionUpdate": "state_update", "state": "running", "extra": token},
)


def _update_line(choices: Choices) -> bytes:
    session = choices.pick(_SESSIONS)
    return encode(notification(_update(choices), session))


def _cut(choices: Choices, line: bytes) -> bytes:
    return line[: choices.wide() % max(1, len(line))]


def _insert(choices: Choices, line: bytes, extra: bytes) -> bytes:
    place = choices.wide() % (len(line) + 1)
    return line[:place] + extra + line[place:]


def _trimmable(choices: Choices, line: bytes) -> bytes:
    return choices.pick(_BLANKS) + line + choices.pick((b"\r", b" ", b"\r\r", b"\xc2\xa0", b"\t"))


def _binary(choices: Choices) -> bytes:
    data = bytes(choices.below(256) for _ in range(1 + choices.below(24)))
    return b"\x89" + data.replace(b"\n", b"\x00")


def _token_line(choices: Choices, *names: str) -> bytes:
    token = f"{_TOKEN}{tuple(TOKENS).index(choices.pick(names))}"
    return encode(notification(choices.pick(_HOLES)(token), choices.pick(_SESSIONS)))


def _unlabelled(choices: Choices) -> bytes:
    label = choices.pick(("1.0", None, 2, ["2.0"]))
    return encode({**notification(_update(choices)), "jsonrpc": label})


def _batch(choices: Choices) -> bytes:
    kind, count = choices.below(5), 1 + choices.below(2)
    messages: list[Json] = [notification(_update(choices)) for _ in range(count)]
    strays: list[list[Json]] = [[], [5], [None, []], [[messages[0]]], [{}]]
    return encode([*strays[kind], *messages])


# Lines that change no session, whatever they stand between.
_INERT: dict[str, Callable[[Choices], bytes]] = {
    "log": lambda choices: choices.pick(_LOG_LINES),
    "blank": lambda choices: choices.pick(_BLANKS),
    "scalar": lambda choices: choices.pick(_SCALAR_LINES),
    "torn": lambda choices: _cut(choices, _update_line(choices)),
    "binary": _binary,
    "not a number": lambda choices: _token_line(choices, "not a number", "infinity", "no number"),
    "too deep": lambda choices: _token_line(choices, "1100 levels", "1100 objects"),
    "two messages": lambda choices: _update_line(choices) * 2,
    "unlabelled": _unlabelled,
}
# Lines that a lenient reader may still make something of.
_LIVE: dict[str, Callable[[Choices], bytes]] = {
    "invalid UTF-8": lambda choices: _insert(
        choices, _update_line(choices), choices.pick(_BAD_BYTES)
    ),
    "trimmable": lambda choices: _trimmable(choices, _update_line(choices)),
    "batch": _batch,
    "huge number": lambda choices: _token_line(
        choices, "infinite", "negative infinite", "400 digits"
    ),
    "deep": lambda choices: _token_line(choices, "900 levels", "900 objects"),
    "odd number": lambda choices: _token_line(choices, "underflow", "minus zero", "exponent"),
}
_JUNK = _INERT | _LIVE
INERT_JUNK = tuple(_INERT)
JUNK = tuple(_JUNK)
_junk_line = _either(*_JUNK.values())


def _damaged(choices: Choices, line: bytes) -> bytes:
    return choices.pick(_LINE_DAMAGES)(choices, line)


_LINE_DAMAGES: tuple[Callable[[Choices, bytes], bytes], ...] = (
    _cut,
    _trimmable,
    lambda choices, line: _insert(choices, line, choices.pick(_BAD_BYTES)),
    lambda choices, line: _insert(choices, line, choices.pick((b"\x00", b"\r", b",", b'"', b"\\"))),
    lambda choices, line: line + line,
    lambda choices, line: choices.pick(_LOG_LINES) + b" " + line,
)

# --- the books of a connection --------------------------------------------------------------------

Spoken: TypeAlias = list[tuple[bool, JsonObject]]
_SESSIONS = ("s1",) * 8 + ("s2",) * 7 + ("s3",)
_PERMISSION_IDS = (0, 1, "1", 2, "p", "", 2**53 + 1)
_CALLS = (
    *["session/prompt"] * 8, *["session/resume"] * 3, *["session/new"] * 2, "initialize",
    *["session/set_config_option"] * 2, *tuple(_REQUESTS)[-4:],
)  # fmt: skip
_SPLIT_CHUNKS = (
    ("agent_message_chunk", "messageId"),
    ("agent_thought_chunk", "messageId"),
    ("user_message_chunk", "messageId"),
    ("compaction_summary_chunk", "compactionId"),
)


@dataclass(slots=True)
class _Call:
    """A request of the client that is not answered yet, and what its result must say."""

    request_id: Json
    method: str
    result: JsonObject


@dataclass(slots=True)
class _Connection:
    """What both peers know; each method is one thing that one of them may say next."""

    well_formed: bool
    requests: int = 0
    calls: list[_Call] = field(default_factory=list)
    asked: list[tuple[Json, str]] = field(default_factory=list)
    ever_asked: list[Json] = field(default_factory=list)
    prompts: dict[str, list[tuple[str, Json]]] = field(default_factory=dict)
    last: JsonObject | None = None

    def tell(self, choices: Choices) -> Spoken:
        """Report an update."""
        session = choices.pick(_SESSIONS)
        self.last = notification(_update(choices), session)
        if choices.one_in(8):
            self.last["params"] |= _bare(choices)
        return [(False, self.last)]

    def repeat(self, choices: Choices) -> Spoken:
        """Say the last update once more."""
        return [(False, self.last)] if self.last else self.tell(choices)

    def split(self, choices: Choices) -> Spoken:
        """Stream a character in two halves, at times with something of other ids between."""
        session = choices.pick(_SESSIONS)
        variant, key = choices.pick(_SPLIT_CHUNKS)
        identified = {"sessionUpdate": variant, key: choices.pick(_IDS)}
        between = self.tell(choices) if choices.one_in(3) else []
        first, second = (
            notification({**identified, "content": {"type": "text", "text": text}}, session)
            for text in (_text(choices) + "\ud83d", "\ude80" + _text(choices))
        )
        return [(False, first), *between, (False, second)]

    def call(self, choices: Choices) -> Spoken:
        """Send a request under an id of its own; `1` and `"1"` are two ids."""
        method, session = choices.pick(_CALLS), choices.pick(_SESSIONS)
        number = self.requests
        request_id: Json = str(number - 1) if number and choices.one_in(6) else number
        self.requests += 1
        params = _object(_REQUESTS[method], choices)
        if method not in _WITHOUT_SESSION:
            params = {"sessionId": session, **params}
        self.calls.append(_Call(request_id, method, self._result(choices, method, session, params)))
        return [(True, _request(request_id, method, params))]

    def _result(
        self, choices: Choices, method: str, session: str, params: JsonObject
    ) -> JsonObject:
        if method == "session/new":
            return {"sessionId": session}
        if method != "session/prompt":
            return {}
        sent = self.prompts.setdefault(session, [])
        reused = not self.well_formed and choices.one_in(8)
        message_id = "a" if reused else (*_IDS, f"u{len(sent)}")[min(len(sent), len(_IDS))]
        sent.append((message_id, params["prompt"]))
        return {"messageId": message_id}

    def reply(self, choices: Choices) -> Spoken:
        """Answer one of the open requests, in any order."""
        if not self.calls:
            return self.call(choices)
        place = choices.below(len(self.calls))
        call = self.calls[place]
        if self.well_formed or not choices.one_in(12):
            del self.calls[place]
        request_id = call.request_id
        if isinstance(request_id, int) and choices.one_in(8):
            request_id = float(request_id)
        return [(False, _answer(request_id, self._reply_outcome(choices, call)))]

    def _reply_outcome(self, choices: Choices, call: _Call) -> JsonObject:
        kind = choices.below(8)
        if kind == 7 and not self.well_formed:
            return choices.pick(MALFORMED_ANSWERS)
        if kind >= 6:
            return {"error": _error(choices)}
        return {"result": {**call.result, **_RESULTS.get(call.method, _bare)(choices)}}

    def echo(self, choices: Choices) -> Spoken:
        """Report a prompt as a user message, whole or in chunks, or only that it is there."""
        session = choices.pick(_SESSIONS)
        if session not in self.prompts:
            return self.call(choices)
        message_id, blocks = choices.pick(self.prompts[session])
        whole = {"sessionUpdate": "user_message", "messageId": message_id}
        chunk = {"sessionUpdate": "user_message_chunk", "messageId": message_id}
        chunks = [{**chunk, "content": block} for block in blocks]
        told = choices.pick(([{**whole, "content": blocks}], chunks, [whole]))
        return [(False, notification(update, session)) for update in told]

    def cancel(self, choices: Choices) -> Spoken:
        """Cancel the work of a session; a client mostly answers its open permissions as well."""
        session = choices.pick(_SESSIONS)
        dropped = [request_id for request_id, asker in self.asked if asker == session]
        self.asked = [pair for pair in self.asked if pair[1] != session]
        answers = [] if choices.one_in(3) else [_answer(key, _CANCELLED) for key in dropped]
        params = {"sessionId": session, **_bare(choices)}
        messages = [_notify("session/cancel", params), *answers]
        return [(True, message) for message in messages]

    def ask(self, choices: Choices) -> Spoken:
        """Ask for a permission, at times under an id that is still open."""
        session = choices.pick(_SESSIONS)
        request_id = choices.pick(_PERMISSION_IDS)
        self.asked = [pair for pair in self.asked if pair[0] != request_id]
        self.asked.append((request_id, session))
        self.ever_asked.append(request_id)
        params = {"sessionId": session, **_permission(choices)}
        return [(False, _request(request_id, "session/request_permission", params))]

    def _asked_id(self, choices: Choices) -> Json:
        """Take an open permission off the books, or choose one that is gone by now."""
        if self.asked and not choices.one_in(8):
            return self.asked.pop(choices.below(len(self.asked)))[0]
        return choices.pick(self.ever_asked)

    def permit(self, choices: Choices) -> Spoken:
        """Answer a permission request."""
        if not self.ever_asked:
            return self.ask(choices)
        return [(True, _answer(self._asked_id(choices), self._permit_outcome(choices)))]

    def _permit_outcome(self, choices: Choices) -> JsonObject:
        kind = choices.below(8)
        if kind == 7 and not self.well_formed:
            return choices.pick(_MALFORMED_PERMISSION_ANSWERS)
        if kind >= 6:
            return {"error": _error(choices)}
        return {"result": {"outcome": _outcome(choices), **_bare(choices)}}

    def withdraw(self, choices: Choices) -> Spoken:
        """Tell the peer that a request needs no answer any more; either peer may."""
        if self.calls and choices.one_in(4):
            request_id = choices.pick(self.calls).request_id
            return [
                (True, _notify("$/cancel_request", {"requestId": request_id, **_bare(choices)}))
            ]
        if not self.ever_asked:
            return self.ask(choices)
        params = {"requestId": self._asked_id(choices), **_bare(choices)}
        return [(False, _notify("$/cancel_request", params))]

    def chatter(self, choices: Choices) -> Spoken:
        """Say something of no consequence, or in the wrong place."""
        misplaced = not self.well_formed and choices.one_in(2)
        return [(False, choices.pick(_MISPLACED if misplaced else _IDLE_TALK))]


_ACTIONS = (
    *[_Connection.tell] * 24, *[_Connection.reply] * 8, *[_Connection.call] * 8,
    *[_Connection.echo] * 4, *[_Connection.ask] * 4, *[_Connection.permit] * 3,
    *[_Connection.cancel] * 2, *[_Connection.withdraw] * 2, *[_Connection.split] * 2,
    *[_Connection.repeat] * 2, _Connection.chatter, _Connection.chatter,
)  # fmt: skip
_STYLES = (0,) * 8 + tuple(range(8))


def _write(spoken: Spoken, style: int) -> list[Frame]:
    return [Frame(sent, encode(message, style)) for sent, message in spoken]


def _harm_value(choices: Choices, spoken: Spoken, style: int) -> list[Frame]:
    place = choices.below(len(spoken))
    sent, message = spoken[place]
    message = _mutated(choices, message, _MUTATIONS)
    while choices.one_in(4):
        message = _mutated(choices, message, _MUTATIONS)
    return _write([*spoken[:place], (sent, message), *spoken[place + 1 :]], style)


def _harm_line(choices: Choices, spoken: Spoken, style: int) -> list[Frame]:
    frames = _write(spoken, style)
    place = choices.below(len(frames))
    frames[place] = Frame(frames[place].sent, _damaged(choices, frames[place].data))
    return frames


def _harm_stream(choices: Choices, spoken: Spoken, style: int) -> list[Frame]:
    return [Frame(False, _junk_line(choices)), *_write(spoken, style)]


def _harm_framing(choices: Choices, spoken: Spoken, style: int) -> list[Frame]:
    messages = [message for _, message in spoken]
    return [Frame(spoken[0][0], encode(messages, style))]


Harm: TypeAlias = Callable[[Choices, Spoken, int], list[Frame]]
_HARMS: tuple[Harm | None, ...] = (
    *[None] * 7, *[_harm_value] * 5, *[_harm_stream] * 2, _harm_line, _harm_framing,
)  # fmt: skip


def _step(connection: _Connection, tape: bytes, hostile_client: bool) -> list[Frame]:
    choices, harm_choices = _halves(tape)
    spoken = choices.pick(_ACTIONS)(connection, choices)
    style, harm = harm_choices.pick(_STYLES), harm_choices.pick(_HARMS)
    spared = connection.well_formed or (spoken[0][0] and not hostile_client)
    if harm is None or spared:
        return _write(spoken, style)
    return harm(harm_choices, spoken, style)


def _session(
    well_formed: bool, max_frames: int, hostile_client: bool, parts: list[tuple[bytes, ...]]
) -> list[Frame]:
    connection = _Connection(well_formed)
    frames: list[Frame] = []
    for part in parts:
        for tape in part:
            frames += _step(connection, tape, hostile_client)
    return frames[:max_frames]


# --- strategies -----------------------------------------------------------------------------------


def updates(variant: str | None = None) -> st.SearchStrategy[JsonObject]:
    """Generate one well-formed update; `variant` is one of `VARIANTS` or `UNKNOWN`."""
    return _TAPE.map(lambda tape: _plain_update(tape, variant))


def odd_updates(variant: str | None = None) -> st.SearchStrategy[JsonObject]:
    """Generate an update with a node or more replaced, dropped or added; it may still be valid."""
    return _TAPE.map(lambda tape: _odd_update(tape, variant))


def _plain_update(tape: bytes, variant: str | None) -> JsonObject:
    return _update(Choices(tape), variant)


def _odd_update(tape: bytes, variant: str | None) -> JsonObject:
    choices, harm_choices = _halves(tape)
    update = _mutated(harm_choices, _update(choices, variant), _VALUE_MUTATIONS)
    while harm_choices.one_in(3):
        update = _mutated(harm_choices, update, _VALUE_MUTATIONS)
    return update


def sessions(
    *, well_formed: bool, max_frames: int = 30, hostile_client: bool = False
) -> st.SearchStrategy[list[Frame]]:
    """Generate both directions of a connection, some half of `max_frames` frames on average.

    Without `well_formed` the agent's frames are damaged, with `hostile_client` the client's too.
    """
    return _steps(max_frames).map(partial(_session, well_formed, max_frames, hostile_client))


def update_lists(*, well_formed: bool, max_size: int = 30) -> st.SearchStrategy[list[JsonObject]]:
    """Generate updates as `updates` or `odd_updates` do, some half of `max_size` on average.

    Better than a plain list of either, most of which Hypothesis would make by copying a few.
    """
    build = _plain_update if well_formed else _odd_update

    def collect(parts: list[tuple[bytes, ...]]) -> list[JsonObject]:
        return [build(tape, None) for part in parts for tape in part][:max_size]

    return _steps(max_size).map(collect)


def _steps(most: int) -> st.SearchStrategy[list[tuple[bytes, ...]]]:
    # A list is some five long whatever its bound, so a list of lists gives a fair length. And
    # Hypothesis makes most examples by copying parts of one over others, which a long tape makes
    # too coarse: six of seven frames would be copies. It leaves the inside of a unique list alone.
    parts = st.lists(_TAPE, min_size=1, max_size=max(1, most // 5)).map(tuple)
    return st.lists(parts, max_size=10, unique=True)


def junk_lines(kind: str | None = None, *, inert: bool = False) -> st.SearchStrategy[bytes]:
    """Generate a line that is no well-formed message; `inert` ones can change no session.

    `kind` is one of `JUNK`; `INERT_JUNK` names those that are inert.
    """
    line = _JUNK[kind] if kind else _either(*(_INERT if inert else _JUNK).values())
    return _TAPE.map(lambda tape: line(Choices(tape)))


def splits(data: bytes) -> st.SearchStrategy[list[bytes]]:
    """Generate ways to deliver `data` in pieces: whole, at every byte, around LFs, anywhere."""
    return _TAPE.map(lambda tape: _cut_up(data, Choices(tape)))


def _cut_up(data: bytes, choices: Choices) -> list[bytes]:
    return _pieces(data, choices.pick(_CUTTERS)(choices, data))


def _pieces(data: bytes, cuts: Iterable[int]) -> list[bytes]:
    """Cut at the given places; a place named twice gives an empty piece."""
    edges = [0, *sorted(cuts), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


def _cuts_anywhere(choices: Choices, data: bytes) -> list[int]:
    return [choices.wide() % (len(data) + 1) for _ in range(1 + choices.below(24))]


def _cuts_evenly(choices: Choices, data: bytes) -> range:
    return range(0, len(data), 1 + choices.wide() % 512)


def _cuts_around_line_ends(choices: Choices, data: bytes) -> list[int]:
    shift = choices.below(3) - 1
    ends = (place + 1 + shift for place, byte in enumerate(data) if byte == 0x0A)
    return [min(end, len(data)) for end in ends]


_CUTTERS: tuple[Callable[[Choices, bytes], Iterable[int]], ...] = (
    lambda choices, data: (),
    _cuts_anywhere,
    _cuts_anywhere,
    _cuts_evenly,
    _cuts_around_line_ends,
    lambda choices, data: range(1, len(data)),
)


def interleavings(first: Sequence[T], second: Sequence[T]) -> st.SearchStrategy[list[T]]:
    """Generate the ways to merge two sequences, each in its own order."""
    return st.binary(min_size=len(first) + len(second), max_size=len(first) + len(second)).map(
        lambda tape: _merged(first, second, Choices(tape))
    )


def _merged(first: Sequence[T], second: Sequence[T], choices: Choices) -> list[T]:
    merged: list[T] = []
    left, right = list(reversed(first)), list(reversed(second))
    while left and right:
        merged.append((right if choices.one_in(2) else left).pop())
    return merged + left[::-1] + right[::-1]


def received(frames: Iterable[Frame]) -> bytes:
    """Join the agent's frames to the bytes that it writes, each line ended by LF."""
    return b"".join(frame.data + b"\n" for frame in frames if not frame.sent)
