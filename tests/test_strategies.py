"""The session generator reaches what it claims to reach, and what it calls well formed is.

Most of this looks at fixed samples: what must occur is looked for in some hundred generated
sessions. The published schema is the measure of what is valid and of what there is to
reach; a small interpreter of JSON Schema below tells both at once.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from naive.schema import KEPT_RAW
from strategies import (
    INERT_JUNK,
    JUNK,
    TOKENS,
    UNKNOWN,
    VARIANTS,
    Frame,
    encode,
    interleavings,
    junk_lines,
    notification,
    odd_updates,
    received,
    sessions,
    splits,
    update_lists,
    updates,
)

Json: TypeAlias = Any
T = TypeVar("T")

SCHEMA = Path(__file__).parent / "schemas" / "schema.v2.unstable.json"

REQUIRED = {
    "user_message_chunk": {"messageId", "content"},
    "user_message": {"messageId"},
    "agent_message_chunk": {"messageId", "content"},
    "agent_message": {"messageId"},
    "agent_thought_chunk": {"messageId", "content"},
    "agent_thought": {"messageId"},
    "state_update": {"state"},
    "tool_call_content_chunk": {"toolCallId", "content"},
    "tool_call_update": {"toolCallId"},
    "terminal_update": {"terminalId"},
    "terminal_output_chunk": {"terminalId", "data"},
    "plan_update": {"plan"},
    "available_commands_update": {"availableCommands"},
    "config_option_update": {"configOptions"},
    "session_info_update": set(),
    "usage_update": {"used", "size"},
    "notice": {"severity", "title"},
    "plan_removed": {"planId"},
    "compaction_update": {"compactionId", "status"},
    "compaction_summary_chunk": {"compactionId", "content"},
}

# --- samples and readers --------------------------------------------------------------------------


def sample(strategy: st.SearchStrategy[T], count: int) -> list[T]:
    """Draw the same values on every run."""
    values: list[T] = []

    @settings(max_examples=count, derandomize=True, database=None, phases=[Phase.generate])
    @given(strategy)
    def collect(value: T) -> None:
        values.append(value)

    collect()
    return values


@pytest.fixture(scope="module")
def well_formed() -> list[list[Frame]]:
    """Draw some hundred sessions without damage."""
    return sample(sessions(well_formed=True), 800)


@pytest.fixture(scope="module")
def damaged() -> list[list[Frame]]:
    """Draw some hundred sessions with damage."""
    return sample(sessions(well_formed=False), 800)


@cache  # every test reads the same samples
def parsed(line: bytes) -> Json:
    """Read a line, or give None where it is not JSON for a strict reader, to whom NaN is none."""
    try:
        return json.loads(line, parse_constant=int)
    except (ValueError, RecursionError):
        return None


def messages(session: list[Frame]) -> Iterator[tuple[bool, dict[str, Json]]]:
    """Give the frames of a session that are one JSON object."""
    for frame in session:
        message = parsed(frame.data)
        if isinstance(message, dict):
            yield frame.sent, message


def updates_of(session: list[Frame]) -> Iterator[tuple[str, dict[str, Json]]]:
    """Give session id and update of each frame that carries one."""
    for _, message in messages(session):
        params = message.get("params")
        if message.get("method") == "session/update" and isinstance(params, dict):
            update = params.get("update")
            if isinstance(update, dict):
                yield str(params.get("sessionId")), update


def kinds(session: list[Frame]) -> Iterator[str]:
    """Name each frame: its direction, and its method or what it answers."""
    methods: dict[tuple[bool, str], str] = {}
    for sent, message in messages(session):
        side, key = "sent" if sent else "received", json.dumps(whole(message.get("id")))
        if "method" in message:
            methods[sent, key] = message["method"]
            yield f"{side} {message['method']}"
        else:
            outcome = "error" if "error" in message else "result"
            yield f"{side} {outcome} of {methods.get((not sent, key))}"


def whole(number: Json) -> Json:
    """Write `1.0` as `1`: one id, however it is spelt."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


# --- a small interpreter of JSON Schema -----------------------------------------------------------

Reached: TypeAlias = set[tuple[str, str, str]]


def is_integer(value: Json) -> bool:
    """Tell whether JSON Schema calls the value an integer."""
    return isinstance(whole(value), int) and not isinstance(value, bool)


TYPES: dict[str, Callable[[Json], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "integer": is_integer,
    "number": lambda value: is_integer(value) or isinstance(value, float),
}
LIMITS: dict[str, Callable[[Json, Json], bool]] = {
    "type": lambda value, types: any(
        TYPES[name](value) for name in ([types] if isinstance(types, str) else types)
    ),
    "const": lambda value, const: value == const,
    "required": lambda value, keys: not isinstance(value, dict) or set(keys) <= set(value),
    "minimum": lambda value, least: not TYPES["number"](value) or value >= least,
    "maximum": lambda value, most: not TYPES["number"](value) or value <= most,
    "minItems": lambda value, least: not isinstance(value, list) or len(value) >= least,
    "minLength": lambda value, least: not isinstance(value, str) or len(value) >= least,
}


@dataclass(slots=True)
class Schema:
    """Tells whether a value is valid, and which fields and alternatives it used."""

    definitions: dict[str, Json]

    def reach(self, name: str, value: Json) -> Reached | None:
        """Give what a value reaches of a definition and below, or None where it is not valid."""
        return self._walk(self.definitions[name], value, name)

    def _walk(self, schema: Json, value: Json, name: str) -> Reached | None:
        if "$ref" in schema:
            return self.reach(schema["$ref"].removeprefix("#/$defs/"), value)
        for keyword in schema.keys() & LIMITS.keys():
            if not LIMITS[keyword](value, schema[keyword]):
                return None
        if "not" in schema and self._walk(schema["not"], value, "") is not None:
            return None
        parts = [
            *(self._walk(part, value, name) for part in schema.get("allOf", ())),
            self._alternatives(schema, value, name),
            *self._fields(schema, value, name),
            *self._items(schema, value),
        ]
        return None if None in parts else set().union(*(part for part in parts if part))

    def _alternatives(self, schema: Json, value: Json, name: str) -> Reached | None:
        if "anyOf" not in schema:
            return set()
        for place, alternative in enumerate(schema["anyOf"]):
            reached = self._walk(alternative, value, "")
            if reached is not None:
                return reached | {(name, "alternative", str(place))}
        return None

    def _fields(self, schema: Json, value: Json, name: str) -> Iterator[Reached | None]:
        if not isinstance(value, dict):
            return
        for key, field in schema.get("properties", {}).items():
            yield {(name, key, presence(value, key))}
            if key in value:
                yield self._walk(field, value[key], "")

    def _items(self, schema: Json, value: Json) -> Iterator[Reached | None]:
        if isinstance(value, list) and "items" in schema:
            for item in value:
                yield self._walk(schema["items"], item, "")

    def below(self, name: str) -> set[str]:
        """Give the names of the definitions that a definition uses, itself included."""
        found: set[str] = set()
        waiting = [name]
        while waiting:
            current = waiting.pop()
            if current not in found:
                found.add(current)
                waiting += re.findall(r"#/\$defs/(\w+)", json.dumps(self.definitions[current]))
        return found

    def reachable(self, name: str) -> Reached:
        """Give what there is to reach in one definition, without what it uses."""
        schema = self.definitions[name]
        wanted = {
            (name, "alternative", str(place)) for place in range(len(schema.get("anyOf", ())))
        }
        for key, field in schema.get("properties", {}).items():
            wanted.add((name, key, "value"))
            if key not in schema.get("required", ()):
                wanted.add((name, key, "absent"))
            if "null" in json.dumps(field.get("type", field.get("anyOf", "null"))) and (
                "allOf" not in field
            ):
                wanted.add((name, key, "null"))
        return wanted


def presence(value: dict[str, Json], key: str) -> str:
    """Tell the three states of a field apart."""
    if key not in value:
        return "absent"
    return "null" if value[key] is None else "value"


@pytest.fixture(scope="module")
def schema() -> Schema:
    """Read the published schema, without the variants that are kept raw."""
    definitions = json.loads(SCHEMA.read_bytes())["$defs"]
    for name, raw in KEPT_RAW.items():
        alternatives = definitions[name]["anyOf"]
        definitions[name]["anyOf"] = [part for part in alternatives if constant(part) not in raw]
    return Schema(definitions)


def constant(alternative: dict[str, Json]) -> Json:
    """Return the tag that an alternative has, if it is a constant."""
    fields = alternative.get("properties", {}).values()
    return next((field["const"] for field in fields if "const" in field), None)


PARAMS = {
    "session/update": "UpdateSessionNotification",
    "session/request_permission": "RequestPermissionRequest",
    "session/cancel": "CancelSessionNotification",
    "$/cancel_request": "CancelRequestNotification",
    "initialize": "InitializeRequest",
    "session/new": "NewSessionRequest",
    "session/prompt": "PromptRequest",
    "session/resume": "ResumeSessionRequest",
    "session/set_config_option": "SetSessionConfigOptionRequest",
    "session/list": "ListSessionsRequest",
    "session/close": "CloseSessionRequest",
    "session/delete": "DeleteSessionRequest",
    "auth/login": "LoginAuthRequest",
    "auth/logout": "LogoutAuthRequest",
    "elicitation/create": "CreateElicitationRequest",
    "elicitation/complete": "CompleteElicitationNotification",
    "tool_call/cancel": "CancelToolCallRequest",
    "terminal/cancel": "CancelTerminalRequest",
}
RESULTS = {
    "session/request_permission": "RequestPermissionResponse",
    "initialize": "InitializeResponse",
    "session/new": "NewSessionResponse",
    "session/prompt": "PromptResponse",
    "session/resume": "ResumeSessionResponse",
    "session/set_config_option": "SetSessionConfigOptionResponse",
    "session/list": "ListSessionsResponse",
    "session/close": "CloseSessionResponse",
    "session/delete": "DeleteSessionResponse",
    "auth/login": "LoginAuthResponse",
    "auth/logout": "LogoutAuthResponse",
    "elicitation/create": "CreateElicitationResponse",
    "tool_call/cancel": "CancelToolCallResponse",
    "terminal/cancel": "CancelTerminalResponse",
}
# What is to be reached in full; the rest only has to be valid.
FOLLOWED = (
    "UpdateSessionNotification",
    "RequestPermissionRequest",
    "RequestPermissionResponse",
    "CancelSessionNotification",
    "CancelRequestNotification",
    "NewSessionResponse",
    "PromptResponse",
    "ResumeSessionResponse",
    "SetSessionConfigOptionResponse",
    "ReplayFrom",
    "Error",
)


def bodies(session: list[Frame]) -> Iterator[tuple[str, Json]]:
    """Give the definition and the value of each frame's params, result or error."""
    methods: dict[tuple[bool, str], str] = {}
    for sent, message in messages(session):
        key = json.dumps(whole(message.get("id")))
        if "method" in message:
            methods[sent, key] = message["method"]
            if message["method"] in PARAMS:
                yield PARAMS[message["method"]], message["params"]
        elif "error" in message:
            yield "Error", message["error"]
        else:
            yield RESULTS[methods[not sent, key]], message["result"]


# --- updates --------------------------------------------------------------------------------------


def test_variants_are_those_of_the_table() -> None:
    """The generator knows the standard variants and no others."""
    assert sorted(VARIANTS) == sorted(REQUIRED)


@pytest.mark.parametrize("variant", sorted(REQUIRED))
def test_updates_have_what_their_variant_requires(variant: str) -> None:
    """Each update of a chosen variant has its tag and its required keys."""

    @settings(max_examples=30)
    @given(updates(variant))
    def check(update: dict[str, Json]) -> None:
        assert update["sessionUpdate"] == variant
        assert update.keys() >= REQUIRED[variant]

    check()


@pytest.mark.parametrize("well_formed", [True, False])
def test_update_lists_are_varied(well_formed: bool) -> None:
    """Lists of updates reach their bound, and few of their updates are copies."""
    found = sample(update_lists(well_formed=well_formed, max_size=20), 100)
    texts = [json.dumps(update) for history in found for update in history]
    assert max(map(len, found)) == 20
    assert len(set(texts)) > len(texts) * 0.6


@settings(max_examples=50)
@given(updates(UNKNOWN))
def test_unknown_updates_have_an_unknown_tag(update: dict[str, Json]) -> None:
    """An unknown update has a tag, and none of the standard ones."""
    assert isinstance(update["sessionUpdate"], str)
    assert update["sessionUpdate"] not in REQUIRED


@pytest.mark.parametrize("variant", [*sorted(REQUIRED), UNKNOWN])
def test_updates_differ_from_odd_ones(variant: str) -> None:
    """Every variant comes with its tag, without it, and with one of another type."""
    tags = [update.get("sessionUpdate", "absent") for update in sample(odd_updates(variant), 200)]
    kept = [tag for tag in tags if variant in (tag, UNKNOWN) and isinstance(tag, str)]
    assert kept
    assert "absent" in tags
    assert any(not isinstance(tag, str) for tag in tags)


@pytest.mark.parametrize("variant", [name for name, keys in sorted(REQUIRED.items()) if keys])
def test_odd_updates_lack_required_keys(variant: str) -> None:
    """Each required key of a variant is dropped, and replaced by a value of a wrong type."""
    right = {
        type(update[key]) for update in sample(updates(variant), 50) for key in REQUIRED[variant]
    }
    found = sample(odd_updates(variant), 300)
    for key in REQUIRED[variant]:
        assert any(key not in update for update in found)
        assert any(type(update[key]) not in right for update in found if key in update)


# --- well-formed sessions -------------------------------------------------------------------------


def test_well_formed_frames_are_valid(well_formed: list[list[Frame]], schema: Schema) -> None:
    """Params, results and errors of well-formed frames are valid by the schema."""
    invalid = [
        (name, value)
        for session in well_formed
        for name, value in bodies(session)
        if schema.reach(name, value) is None
    ]
    assert invalid == []


def test_every_field_is_reached(well_formed: list[list[Frame]], schema: Schema) -> None:
    """Each field that a store follows is absent, null and a value; each alternative occurs."""
    said = [body for session in well_formed for body in bodies(session)]
    said += [
        ("SessionUpdate", update)
        for variant in VARIANTS
        for update in sample(updates(variant), 100)
    ]
    reached: Reached = set()
    for name, value in said:
        reached |= schema.reach(name, value) or set()
    names = set[str]().union(*(schema.below(name) for name in FOLLOWED))
    wanted = set[tuple[str, str, str]]().union(*(schema.reachable(name) for name in names))
    assert sorted(wanted - reached) == []


def test_the_schema_reader_refuses(schema: Schema) -> None:
    """The reader of the schema that the tests above trust does refuse what is not valid."""
    for update in sample(updates(), 100):
        params = notification(update)["params"]
        assert schema.reach("UpdateSessionNotification", params) is not None
        assert schema.reach("UpdateSessionNotification", {**params, "sessionId": 5}) is None
        for key in REQUIRED.get(update["sessionUpdate"], ()):
            poorer = {name: value for name, value in update.items() if name != key}
            assert schema.reach("SessionUpdate", poorer) is None


SENT = [
    method
    for method in PARAMS
    if not method.startswith(("session/update", "session/request_permission", "elicitation/"))
]
KINDS = [
    *(f"sent {method}" for method in SENT),
    *(f"received result of {method}" for method in RESULTS if method in SENT),
    "received error of session/new",
    "received error of session/prompt",
    "received error of session/resume",
    "received error of session/set_config_option",
    "received session/update",
    "received session/request_permission",
    "received $/cancel_request",
    "received session/hologram",
    "received _example.com/read",
    "received elicitation/complete",
    "received elicitation/create",
    "sent result of elicitation/create",
    "sent result of session/request_permission",
    "sent error of session/request_permission",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_frame_occurs(well_formed: list[list[Frame]], kind: str) -> None:
    """Each request, notification and answer of either peer is said in several sessions."""
    assert sum(kind in kinds(session) for session in well_formed) >= 2


@settings(max_examples=100)
@given(sessions(well_formed=True))
def test_well_formed_answers_match(session: list[Frame]) -> None:
    """Each response of the agent answers one open request; the client answers what was asked."""
    opened: Counter[tuple[bool, str]] = Counter()
    for sent, message in messages(session):
        key = json.dumps(whole(message.get("id")))
        if "method" in message:
            opened[sent, key] += "id" in message
        else:
            assert opened[not sent, key] > 0
            opened[not sent, key] -= not sent


def prompt_steps(session: list[Frame]) -> list[tuple[str, str]]:
    """Give the life of the prompts: sent and answered by request id, echoed by message id."""
    steps = []
    open_prompts: dict[str, str] = {}
    for sent, message in messages(session):
        key = json.dumps(whole(message.get("id")))
        if sent and message.get("method") == "session/prompt":
            open_prompts[key] = message["params"]["sessionId"]
            steps.append(("sent", key))
        elif not sent and key in open_prompts and "method" not in message:
            answer = message.get("result", {}).get("messageId")
            outcome = f"{open_prompts.pop(key)} {answer}" if answer is not None else "error"
            steps += [("answered", key), ("accepted", outcome)]
        elif message.get("method") == "session/update":
            update = message["params"]["update"]
            if str(update["sessionUpdate"]).startswith("user_message"):
                steps.append(("echoed", f"{message['params']['sessionId']} {update['messageId']}"))
    return steps


def response_first(steps: list[tuple[str, str]]) -> bool:
    """Tell whether some prompt was accepted before its echo."""
    return any(
        step == "accepted" and ("echoed", key) in steps[place:]
        for place, (step, key) in enumerate(steps)
    )


def echo_first(steps: list[tuple[str, str]]) -> bool:
    """Tell whether some prompt was echoed before its response."""
    return any(
        step == "accepted" and ("echoed", key) in steps[:place]
        for place, (step, key) in enumerate(steps)
    )


def crossing(steps: list[tuple[str, str]]) -> bool:
    """Tell whether a later prompt was answered before an earlier one."""
    sent = [key for step, key in steps if step == "sent"]
    answered = [key for step, key in steps if step == "answered"]
    return [key for key in sent if key in answered] != answered


@pytest.mark.parametrize("order", [response_first, echo_first, crossing])
def test_prompts_come_in_every_order(
    well_formed: list[list[Frame]], order: Callable[[list[tuple[str, str]]], bool]
) -> None:
    """Response and echo come in both orders, and responses cross."""
    assert sum(order(prompt_steps(session)) for session in well_formed) >= 10


def shares_an_id_between_kinds(session: list[Frame]) -> bool:
    """Tell whether one id names a message and a tool call of one session."""
    found = list(updates_of(session))
    named = {(owner, update["messageId"]) for owner, update in found if "messageId" in update}
    return any((owner, update.get("toolCallId")) in named for owner, update in found)


def shares_an_id_between_sessions(session: list[Frame]) -> bool:
    """Tell whether two sessions have messages of one id."""
    named = {(owner, update.get("messageId")) for owner, update in updates_of(session)}
    return any(("s2", message_id) in named for owner, message_id in named if owner == "s1")


def asks_again(session: list[Frame]) -> bool:
    """Tell whether a permission is asked under an id that is still open."""
    opened: set[str] = set()
    for _, message in messages(session):
        key = json.dumps(message.get("id"))
        if message.get("method") == "session/request_permission":
            if key in opened:
                return True
            opened.add(key)
        elif message.get("method") in ("session/cancel", "$/cancel_request"):
            opened.clear()
        elif "method" not in message:
            opened.discard(key)
    return False


def asks_under_an_id_of_the_client(session: list[Frame]) -> bool:
    """Tell whether both peers have a request under one id."""
    ids: dict[bool, set[str]] = {True: set(), False: set()}
    for sent, message in messages(session):
        if "method" in message and "id" in message:
            ids[sent].add(json.dumps(message["id"]))
    return bool(ids[True] & ids[False])


def uses_an_integer_and_its_string(session: list[Frame]) -> bool:
    """Tell whether the client uses both `1` and `"1"` as ids."""
    ids = [message.get("id") for sent, message in messages(session) if sent]
    return any(isinstance(key, int) and str(key) in ids for key in ids)


def splits_a_character(session: list[Frame]) -> bool:
    """Tell whether a chunk ends in half a character and a later one of its message goes on."""
    halves = set()
    for owner, update in updates_of(session):
        content = update.get("content")
        text = content.get("text") if isinstance(content, dict) else None
        key = (owner, update["sessionUpdate"], update.get("messageId"), update.get("compactionId"))
        if isinstance(text, str) and key in halves and text.startswith("\ude80"):
            return True
        if isinstance(text, str) and text.endswith("\ud83d"):
            halves.add(key)
    return False


def tells(condition: Callable[[dict[str, Json]], bool]) -> Callable[[list[Frame]], bool]:
    """Tell whether some update of a session meets a condition."""
    return lambda session: any(condition(update) for _, update in updates_of(session))


def chunk_text(update: dict[str, Json]) -> Json:
    """Give the text of a chunk of plain text."""
    content = update.get("content")
    return content.get("text") if isinstance(content, dict) else None


def removes_a_key(update: dict[str, Json]) -> bool:
    """Tell whether an update's `_meta` removes a key."""
    return None in (update.get("_meta") or {}).values()


def tag_late(line: bytes) -> bool:
    """Tell whether the tag of an update comes after another of its keys."""
    return re.search(rb'"update": ?{"(?!sessionUpdate)', line) is not None


OCCASIONS: dict[str, Callable[[list[Frame]], bool]] = {
    "an id of two kinds": shares_an_id_between_kinds,
    "an id of two sessions": shares_an_id_between_sessions,
    "asked again": asks_again,
    "an id of both peers": asks_under_an_id_of_the_client,
    "an integer and its string": uses_an_integer_and_its_string,
    "a split character": splits_a_character,
    "empty text": tells(lambda update: chunk_text(update) == ""),
    "white text": tells(lambda update: str(chunk_text(update) or "x").isspace()),
    "an empty patch": tells(lambda update: update.get("_meta") == {}),
    "a key removed": tells(removes_a_key),
    "a cleared message": tells(lambda update: update.get("content", 0) is None),
    "a message emptied": tells(lambda update: update.get("content") == []),
    "an error of the agent": tells(lambda update: isinstance(update.get("error"), dict)),
    "no background work": tells(lambda update: update.get("background") == []),
    "repeated": lambda session: any(first == second for first, second in pairwise(session)),
    "escaped": lambda session: any(rb"\u00e9" in frame.data for frame in session),
    "unescaped": lambda session: any("\u00e9".encode() in frame.data for frame in session),
    "tag not first": lambda session: any(tag_late(frame.data) for frame in session),
}


@pytest.mark.parametrize("occasion", OCCASIONS.values(), ids=OCCASIONS.keys())
def test_every_occasion_occurs(
    well_formed: list[list[Frame]], occasion: Callable[[list[Frame]], bool]
) -> None:
    """What stores are known to get wrong comes up again and again."""
    assert sum(map(occasion, well_formed)) >= 5


def test_sessions_reach_their_bound() -> None:
    """Sessions may have as many frames as asked for, and have no more."""
    for bound in (1, 7, 30, 45):
        lengths = [
            len(session) for session in sample(sessions(well_formed=True, max_frames=bound), 100)
        ]
        assert max(lengths) <= bound
        assert max(lengths) > bound * 0.6


# --- damage ---------------------------------------------------------------------------------------


def duplicated(line: bytes) -> bool:
    """Tell whether an object of a line has a key twice."""
    twice = False

    def check(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        nonlocal twice
        twice = twice or len(dict(pairs)) < len(pairs)
        return dict(pairs)

    try:
        json.loads(line, object_pairs_hook=check)
    except (ValueError, RecursionError):
        return False
    return twice


def malformed_answer(line: bytes) -> bool:
    """Tell whether a line is a response that is neither a result nor an error."""
    message = parsed(line)
    return isinstance(message, dict) and message.keys() >= {"id", "result", "error"}


def within(part: bytes, line: bytes) -> bool:
    """Tell whether a line holds the bytes."""
    return part in line


DAMAGES: dict[str, Callable[[bytes], bool]] = {
    **{name: partial(within, token.encode()) for name, token in TOKENS.items()},
    "duplicate key": duplicated,
    "added key": lambda line: b'"extra":' in line,
    "wrong id": lambda line: b'"messageId":7' in line,
    "wrong base64": lambda line: b"%%%" in line,
    "malformed answer": malformed_answer,
    "update with an id": lambda line: b'"session/update"' in line and b'"id":5' in line,
    "empty line": lambda line: line == b"",
    "BOM": lambda line: line.startswith(b"\xef\xbb\xbf"),
    "CR": lambda line: line.endswith(b"\r"),
    "NUL": lambda line: b"\0" in line,
    "log line": lambda line: line == b"Traceback (most recent call last):",
    "log before a message": lambda line: b"agent {" in line,
    "binary": lambda line: line.startswith(b"\x89"),
    "invalid UTF-8": lambda line: line.startswith(b"{") and b"\xff" in line,
    "torn": lambda line: line.startswith(b'{"jsonrpc"') and not line.endswith(b"}"),
    "two messages": lambda line: b'}{"jsonrpc"' in line,
    "batch": lambda line: line.startswith(b'[{"jsonrpc"'),
    "nested batch": lambda line: line.startswith(b'[[{"jsonrpc"'),
    "no message": lambda line: line == b"null",
    "other version": lambda line: b'"jsonrpc":"1.0"' in line,
    "no update": lambda line: b'"update":null' in line,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_every_damage_occurs(damaged: list[list[Frame]], damage: Callable[[bytes], bool]) -> None:
    """Each kind of damage is done to some frame of some sessions."""
    assert any(damage(frame.data) for session in damaged for frame in session)


def test_damaged_sessions_still_tell_much(damaged: list[list[Frame]]) -> None:
    """Damage leaves enough whole messages, of every variant, for sessions to get somewhere."""
    told = Counter(
        str(update.get("sessionUpdate")) for session in damaged for _, update in updates_of(session)
    )
    assert all(told[variant] >= 20 for variant in VARIANTS)


def test_the_client_is_spared_unless_it_is_hostile(damaged: list[list[Frame]]) -> None:
    """The client's own frames are whole, unless a hostile client is asked for."""

    def broken(session: list[Frame]) -> bool:
        return any(frame.sent and not isinstance(parsed(frame.data), dict) for frame in session)

    assert not any(map(broken, damaged))
    assert any(map(broken, sample(sessions(well_formed=False, hostile_client=True), 200)))


@settings(max_examples=100)
@given(st.booleans().flatmap(lambda whole: sessions(well_formed=whole, hostile_client=True)))
def test_frames_are_single_lines(session: list[Frame]) -> None:
    """No frame holds an LF, so that the agent's bytes split back into its frames."""
    told = [frame.data for frame in session if not frame.sent]
    assert received(session).split(b"\n")[:-1] == told
    assert not any(b"\n" in frame.data for frame in session)


@pytest.mark.parametrize("kind", JUNK)
def test_junk_is_single_lines(kind: str) -> None:
    """Each kind of junk gives several lines, none of which holds an LF."""
    lines = sample(junk_lines(kind), 60)
    assert len(set(lines)) >= 3
    assert not any(b"\n" in line for line in lines)


@settings(max_examples=300)
@given(junk_lines(inert=True))
def test_inert_junk_is_no_message(line: bytes) -> None:
    """Inert junk is not JSON, or too deep, or no JSON-RPC message."""
    value = parsed(line)
    deep = max(line.count(b"[" * 260), line.count(b'{"k":' * 260))
    label = value.get("jsonrpc") if isinstance(value, dict) else None
    assert deep or b"NaN" in line or b"Infinity" in line or label != "2.0"


def test_inert_junk_is_junk() -> None:
    """The inert kinds are kinds of junk, and junk has others as well."""
    assert set(INERT_JUNK) < set(JUNK)


# --- encoding, delivery, shrinking ----------------------------------------------------------------


@settings(max_examples=100)
@given(updates())
def test_styles_say_the_same(update: dict[str, Json]) -> None:
    """Whatever style a message is written in, it is the same message."""
    message = notification(update)
    lines = [encode(message, style) for style in range(8)]
    assert {json.dumps(json.loads(line), sort_keys=True) for line in lines} == {
        json.dumps(message, sort_keys=True)
    }
    assert lines[1].isascii()


LINES = b"one\r\ntwo\n\nthree"


@settings(max_examples=200)
@given(splits(LINES))
def test_splits_lose_nothing(pieces: list[bytes]) -> None:
    """The pieces of a delivery are the data, in order."""
    assert b"".join(pieces) == LINES


@pytest.mark.parametrize(
    "pieces",
    [
        [LINES],
        [LINES[place : place + 1] for place in range(len(LINES))],
        [b"one\r", b"\ntwo", b"\n", b"\nthree"],
        [b"one\r\n", b"two\n", b"\n", b"three"],
    ],
    ids=["whole", "byte by byte", "before LF", "after LF"],
)
def test_splits_reach(pieces: list[bytes]) -> None:
    """Whole, byte by byte and around line ends are among the deliveries."""
    assert pieces in sample(splits(LINES), 500)


def test_splits_give_empty_pieces() -> None:
    """Some deliveries have an empty piece, as a read at a pipe's end gives."""
    assert any(b"" in pieces for pieces in sample(splits(LINES), 200))


@settings(max_examples=100)
@given(interleavings(range(5), range(10, 14)))
def test_interleavings_keep_each_order(merged: list[int]) -> None:
    """Both sequences are in a merged one, each in its own order."""
    assert [number for number in merged if number < 10] == list(range(5))
    assert [number for number in merged if number >= 10] == list(range(10, 14))


def test_interleavings_differ() -> None:
    """Either sequence may begin, and they alternate in many ways."""
    merges = {tuple(merged) for merged in sample(interleavings("ab", "xy"), 200)}
    assert merges == {tuple(merged) for merged in ("abxy", "axby", "axyb", "xaby", "xayb", "xyab")}


def holds(part: bytes) -> Callable[[list[Frame]], bool]:
    """Tell whether some frame of a session holds the bytes."""
    return lambda session: any(part in frame.data for frame in session)


@pytest.mark.parametrize(("part", "most"), [(b"tool_call_update", 1), (b"1e400", 2)])
def test_sessions_shrink(part: bytes, most: int) -> None:
    """A found session shrinks to the few frames that matter."""
    quiet = settings(max_examples=5_000, database=None, derandomize=True)
    found = find(sessions(well_formed=False), holds(part), settings=quiet)
    assert 1 <= len(found) <= most
