"""The whole design once more, as plainly as it can be said: the second opinion for the store.

It imports nothing of the package. Lines go in, one document comes out. Everything is a dict or a
list, nothing is shared, nothing is fast, and only the standard library is used. It has four parts:

1. the schema as tables: which fields there are, in which order, and how each one degrades;
2. `parse`: one JSON value against one row of the tables, with problems told on the way;
3. `Naive`: one connection, its sessions, what the agent said and what the client did;
4. recordings: frames out of the two recorded formats.

A parsed known variant is a `Record`: it holds its known keys, and `None` where the peer wrote
`null`. Everything else (`_meta`, raw input, unknown variants) stays the plain value that came.
"""

from __future__ import annotations

import base64
import calendar
import json
import math
import re
import sys
from collections.abc import Iterable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, ClassVar

LINE_LIMIT = 32 * 1024 * 1024
DEPTH_LIMIT = 1000
NOTICE_LIMIT = 100
BLANKS = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
BLANKS += "\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

Json = Any
Frame = tuple[Any, ...]


# ---------------------------------------------------------------- 1. the schema as tables
#
# A kind is the name of a scalar, of a row in RECORDS or UNIONS, a range of numbers, or a list:
# ("skip", kind, least) drops bad items, ("all", kind, least) is bad when one item is.
# A field is (kind, mode):
#   needed    absent, null or malformed is an error
#   nullable  may be absent or null; malformed is an error
#   lenient   may be absent or null; malformed is as absent
#   emptied   may be absent; null or malformed is []
#   present   must be there; null or malformed is []

WHOLE = ("integer", None, None)
COUNT = ("integer", 0, None)
INT32 = ("integer", -(2**31), 2**31 - 1)
CELLS = ("integer", 1, 65535)
META = {"_meta": ("object", "lenient")}


def needed(*names: str, kind: Any = "string") -> dict[str, Any]:
    """Give required fields of one kind."""
    return dict.fromkeys(names, (kind, "needed"))


def lenient(*names: str, kind: Any = "string") -> dict[str, Any]:
    """Give optional fields of one kind that count as absent when malformed."""
    return dict.fromkeys(names, (kind, "lenient"))


def skipping(kind: str, least: int = 0) -> tuple[str, str, int]:
    """Give the kind of a list that drops its bad items."""
    return ("skip", kind, least)


MESSAGE = needed("messageId") | lenient("content", kind=skipping("ContentBlock")) | META
MESSAGE_CHUNK = needed("messageId") | needed("content", kind="ContentBlock") | META
TOOL_CALL = (
    needed("toolCallId")
    | lenient("name", "title", "kind", "status")
    | lenient("content", kind=skipping("ToolCallContent"))
    | lenient("locations", kind=skipping("ToolCallLocation"))
    | lenient("rawInput", "rawOutput", kind="any")
    | lenient("capabilities", kind="Capabilities")
    | META
)
STATE = lenient("background", kind=("all", "BackgroundWork", 0)) | META
ANNOTATED = lenient("annotations", kind="Annotations") | META
CONFIG_OPTION = needed("configId", "name") | lenient("description", "category") | META
DIFF_CHANGE = lenient("fileType", "mimeType") | META
RESULT_LISTS = {
    "configOptions": (skipping("ConfigOption"), "emptied"),
    "availableCommands": (skipping("Command"), "emptied"),
}

UPDATES: dict[str, dict[str, Any]] = {
    "user_message": MESSAGE,
    "agent_message": MESSAGE,
    "agent_thought": MESSAGE,
    "user_message_chunk": MESSAGE_CHUNK,
    "agent_message_chunk": MESSAGE_CHUNK,
    "agent_thought_chunk": MESSAGE_CHUNK,
    "tool_call_update": TOOL_CALL,
    "tool_call_content_chunk": needed("toolCallId")
    | needed("content", kind="ToolCallContent")
    | META,
    "terminal_update": needed("terminalId")
    | lenient("command", "cwd")
    | lenient("output", kind="TerminalOutput")
    | lenient("exitStatus", kind="ExitStatus")
    | lenient("size", kind="TerminalSize")
    | lenient("capabilities", kind="Capabilities")
    | META,
    "terminal_output_chunk": needed("terminalId") | needed("data", kind="base64") | META,
    "plan_update": needed("plan", kind="Plan") | META,
    "state_update": {},  # see parse_state
    "usage_update": needed("used", "size", kind=COUNT) | lenient("cost", kind="Cost") | META,
    "session_info_update": lenient("title") | lenient("updatedAt", kind="time") | META,
    "available_commands_update": needed("availableCommands", kind=skipping("Command")) | META,
    "config_option_update": needed("configOptions", kind=skipping("ConfigOption")) | META,
    "notice": needed("severity") | needed("title", kind="nonempty") | lenient("description") | META,
    "compaction_update": needed("compactionId", "status")
    | lenient("summary", kind=skipping("ContentBlock"))
    | lenient("error")
    | META,
    "compaction_summary_chunk": needed("compactionId")
    | needed("content", kind="ContentBlock")
    | META,
}

RECORDS: dict[str, dict[str, Any]] = {
    # params and results
    "session/update": needed("sessionId") | needed("update", kind="SessionUpdate") | META,
    "session/request_permission": needed("sessionId", "title")
    | lenient("description")
    | {"subject": ("Subject", "nullable")}
    | needed("options", kind=("all", "PermissionOption", 1))
    | META,
    "$/cancel_request": needed("requestId", kind="request id") | META,
    "session/new": needed("sessionId") | RESULT_LISTS | META,
    "session/resume": RESULT_LISTS | META,
    "session/set_config_option": needed("configOptions", kind=skipping("ConfigOption")) | META,
    "session/prompt": needed("messageId") | META,
    "Error": needed("code", kind=INT32) | needed("message") | lenient("data", kind="any"),
    # content
    "Text": needed("text") | ANNOTATED,
    "Image": needed("data", "mimeType") | lenient("uri") | ANNOTATED,
    "Audio": needed("data", "mimeType") | ANNOTATED,
    "ResourceLink": needed("name", "uri")
    | lenient("title", "description")
    | lenient("icons", kind=skipping("Icon"))
    | lenient("mimeType")
    | lenient("size", kind=COUNT)
    | ANNOTATED,
    "EmbeddedResource": needed("resource", kind="ResourceContents") | ANNOTATED,
    "TextResource": needed("text", "uri") | lenient("mimeType") | META,
    "BlobResource": needed("blob", "uri") | lenient("mimeType") | META,
    "Annotations": lenient("audience", kind=skipping("string"))
    | lenient("lastModified")
    | lenient("priority", kind=("number", 0, 1))
    | META,
    "Icon": needed("src")
    | lenient("mimeType")
    | lenient("sizes", kind=skipping("string"))
    | lenient("theme")
    | META,
    # tool calls and terminals
    "ToolCall": TOOL_CALL,
    "ContentItem": needed("content", kind="ContentBlock") | META,
    "Diff": needed("changes", kind=skipping("DiffChange"))
    | lenient("patch", kind="DiffPatch")
    | META,
    "DiffPatch": needed("format", "text") | META,
    "PathChange": DIFF_CHANGE | needed("path"),
    "PathPairChange": DIFF_CHANGE | needed("oldPath", "path"),
    "TerminalItem": needed("terminalId") | META,
    "ToolCallItem": needed("toolCallId") | META,
    "ToolCallLocation": needed("path") | lenient("line", kind=("integer", 1, 2**32 - 1)) | META,
    "Capabilities": lenient("cancel", kind="Cancel") | META,
    "Cancel": META,
    "TerminalOutput": needed("data", kind="base64") | META,
    "ExitStatus": lenient("exitCode", kind=WHOLE) | lenient("signal") | META,
    "TerminalSize": needed("cols", "rows", kind=CELLS) | META,
    # the rest of a session
    "PlanItems": needed("planId") | needed("entries", kind=skipping("PlanEntry")) | META,
    "PlanEntry": needed("content", "priority", "status") | META,
    "Cost": needed("amount", kind=("number", None, None)) | needed("currency") | META,
    "PlainCommand": needed("name", "description") | lenient("input", kind="CommandInput") | META,
    "TextInput": needed("hint") | META,
    "SelectOption": CONFIG_OPTION | needed("currentValue") | needed("options", kind="Choices"),
    "BooleanOption": CONFIG_OPTION | needed("currentValue", kind="boolean"),
    "Choice": needed("value", "name") | lenient("description") | META,
    "ChoiceGroup": needed("groupId", "name")
    | {"options": (skipping("Choice", 0), "present")}
    | META,
    "PermissionOption": needed("optionId", "name", "kind") | META,
    "ToolCallSubject": needed("toolCall", kind="ToolCall") | META,
    "CommandSubject": needed("command", "cwd") | lenient("toolCallId", "terminalId") | META,
}

# Tag, variants by tag value, and the strings that an unknown variant must have beside its tag.
UNIONS: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {
    "ContentBlock": (
        "type",
        {
            "text": "Text",
            "image": "Image",
            "audio": "Audio",
            "resource_link": "ResourceLink",
            "resource": "EmbeddedResource",
        },
        (),
    ),
    "ToolCallContent": (
        "type",
        {"content": "ContentItem", "diff": "Diff", "terminal": "TerminalItem"},
        (),
    ),
    "DiffChange": (
        "operation",
        dict.fromkeys(("add", "delete", "modify"), "PathChange")
        | dict.fromkeys(("move", "copy"), "PathPairChange"),
        (),
    ),
    "BackgroundWork": ("type", {"terminal": "TerminalItem", "tool_call": "ToolCallItem"}, ()),
    "Plan": ("type", {"items": "PlanItems"}, ("planId",)),
    "Command": ("type", {"command": "PlainCommand"}, ("name", "description")),
    "CommandInput": ("type", {"text": "TextInput"}, ()),
    "ConfigOption": (
        "type",
        {"select": "SelectOption", "boolean": "BooleanOption"},
        ("configId", "name"),
    ),
    "Subject": ("type", {"tool_call": "ToolCallSubject", "command": "CommandSubject"}, ()),
}

# Without a tag the first kind that fits is taken.
CHOICES: dict[str, tuple[Any, ...]] = {
    "ResourceContents": ("TextResource", "BlobResource"),
    "Choices": (("all", "Choice", 1), ("all", "ChoiceGroup", 1)),
}

RESULTS = ("session/prompt", "session/new", "session/resume", "session/set_config_option")
STATES = ("running", "idle", "requires_action")
STOP_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error")


# ---------------------------------------------------------------- 2. one value against the tables


class MalformedError(Exception):
    """A value that its kind does not allow, and where."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path, self.reason = path, reason


class Record(dict[str, Any]):
    """A known variant: its known keys only."""


Told = list[tuple[str, str, str]]  # kind, path, message


def parse(kind: Any, value: Json, path: str, told: Told) -> Json:
    """Give the value as its kind allows it, or raise `MalformedError`."""
    if isinstance(kind, tuple):
        if kind[0] in ("skip", "all"):
            return parse_list(kind, value, path, told)
        return parse_number(kind, value, path)
    if kind == "SessionUpdate":
        return parse_update(value, path, told)
    if kind in RECORDS:
        return parse_record(RECORDS[kind], value, path, told)
    if kind in UNIONS:
        return parse_union(kind, value, path, told)
    if kind in CHOICES:
        return parse_choice(kind, value, path, told)
    return parse_scalar(kind, value, path)


def parse_record(fields: dict[str, Any], value: Json, path: str, told: Told) -> Record:
    """Take the known fields of an object in their order."""
    if not isinstance(value, dict):
        raise MalformedError(path, "is not object")
    record = Record()
    for name, (kind, mode) in fields.items():
        where = f"{path}.{name}"
        if name not in value:
            if mode in ("needed", "present"):
                raise MalformedError(where, "is missing")
        elif value[name] is None and mode in ("lenient", "nullable"):
            record[name] = None
        elif mode in ("needed", "nullable"):
            record[name] = parse(kind, value[name], where, told)
        else:
            inside: Told = []
            try:
                record[name] = parse(kind, value[name], where, inside)
                told += inside
            except MalformedError as error:
                told.append(("defaulted", where, error.reason))
                if mode != "lenient":
                    record[name] = []
    return record


def parse_list(kind: Any, value: Json, path: str, told: Told) -> list[Json]:
    """Take the items of a list; a bad one is skipped or is the end of the list."""
    manner, item_kind, least = kind
    if not isinstance(value, list):
        raise MalformedError(path, "is not array")
    if len(value) < least:
        raise MalformedError(path, "has too few items")
    items = []
    for index, item in enumerate(value):
        inside: Told = []
        try:
            items.append(parse(item_kind, item, f"{path}[{index}]", inside))
            told += inside
        except MalformedError as error:
            if manner == "all":
                raise
            told.append(("skipped", f"{path}[{index}]", str(error)))
    return items


def parse_union(name: str, value: Json, path: str, told: Told) -> Json:
    """Take a known variant by its tag, or keep an unknown one as it came."""
    tag, variants, strings = UNIONS[name]
    chosen = tag_of(tag, value, path)
    if chosen in variants:
        return Record({tag: chosen} | parse(variants[chosen], value, path, told))
    for key in strings:
        if key not in value:
            raise MalformedError(f"{path}.{key}", "is missing")
        parse_scalar("string", value[key], f"{path}.{key}")
    return value


def tag_of(tag: str, value: Json, path: str) -> str:
    """Read the tag of an object."""
    if not isinstance(value, dict):
        raise MalformedError(path, "is not object")
    if not isinstance(value.get(tag), str):
        raise MalformedError(f"{path}.{tag}", "is not string")
    chosen: str = value[tag]
    return chosen


def parse_choice(name: str, value: Json, path: str, told: Told) -> Json:
    """Take the first kind that fits; when none does the first reason counts."""
    first: MalformedError | None = None
    for kind in CHOICES[name]:
        inside: Told = []
        try:
            taken = parse(kind, value, path, inside)
        except MalformedError as error:
            first = first or error
        else:
            told += inside
            return taken
    assert first is not None
    raise first


def parse_update(value: Json, path: str, told: Told) -> Json:
    """Take a session update; an unknown one stays a plain dict."""
    tag = tag_of("sessionUpdate", value, path)
    if tag not in UPDATES:
        return value
    if tag == "state_update":
        taken = {"state": parse_state(value, path, told)}
    else:
        taken = parse_record(UPDATES[tag], value, path, told)
    return Record({"sessionUpdate": tag} | taken)


def parse_state(value: dict[str, Json], path: str, told: Told) -> Json:
    """Take a reported state, whose stop reason decides which further keys it has."""
    name = tag_of("state", value, path)
    payload = {key: item for key, item in value.items() if key != "sessionUpdate"}
    if name not in STATES:
        return payload
    fields = STATE | lenient("stopReason") if name == "idle" else STATE
    state = Record({"state": name} | parse_record(fields, value, path, told))
    reason = state.get("stopReason")
    if reason == "error":
        state |= parse_record(lenient("error", kind="Error"), value, path, told)
    elif reason is not None and reason not in STOP_REASONS:
        known = {"state", *fields}
        state |= {key: Raw(item) for key, item in payload.items() if key not in known}
    return state


class Raw:
    """A value that came with an unknown stop reason: kept even where it is null."""

    def __init__(self, value: Json) -> None:
        self.value = value


def parse_number(kind: tuple[str, Any, Any], value: Json, path: str) -> int | float:
    """Take a finite number in its range; for an integer one without a fraction."""
    name, low, high = kind
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedError(path, f"is not {name}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or (name == "integer" and not number.is_integer()):
        raise MalformedError(path, f"is not {name}")
    exact = number if name == "number" else int(value)
    if (low is not None and exact < low) or (high is not None and exact > high):
        raise MalformedError(path, "is out of range")
    return exact


def parse_scalar(kind: str, value: Json, path: str) -> Json:
    """Take a string, boolean, object, or anything, as the kind says."""
    if kind == "any":
        return value
    if kind == "request id" and not isinstance(value, str):
        return parse_number(WHOLE, value, path)
    if kind in ("boolean", "object"):
        if not isinstance(value, bool if kind == "boolean" else dict):
            raise MalformedError(path, f"is not {kind}")
        return value
    if not isinstance(value, str):
        raise MalformedError(path, "is not string")
    if kind == "nonempty" and not value:
        raise MalformedError(path, "is too short")
    if kind == "base64" and not is_base64(value):
        raise MalformedError(path, "is not base64")
    if kind == "time" and not is_time(value):
        raise MalformedError(path, "is not an RFC 3339 time")
    return value


def is_base64(text: str) -> bool:
    """Tell base64: standard alphabet, no blanks, padding may be missing."""
    body = text.rstrip("=")
    missing = -len(body) % 4
    return (
        re.fullmatch("[A-Za-z0-9+/]*", body) is not None
        and missing != 3
        and len(text) - len(body) <= missing
    )


def bytes_of(text: str) -> bytes:
    """Decode base64 whose padding may be missing."""
    return base64.b64decode(text + "=" * (-len(text) % 4))


TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?"
    r"(?:Z|[+-]([0-9]{2}):([0-9]{2}))"
)


def is_time(text: str) -> bool:
    """Tell a date and time of RFC 3339 as browsers read it: in capitals, without leap seconds."""
    match = TIME.fullmatch(text)
    if match is None:
        return False
    year, month, day, hour, minute, second, east, past = (int(part or 0) for part in match.groups())
    if not 1 <= month <= 12:
        return False
    days = (31, 29 if calendar.isleap(year) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return (
        1 <= day <= days[month - 1]
        and hour <= 23
        and minute <= 59
        and second <= 59
        and east <= 23
        and past <= 59
    )


def wire(value: Json) -> Json:
    """Give the wire form: known variants lose their null fields, the rest stays as it came."""
    if isinstance(value, Raw):
        return value.value
    if isinstance(value, list):
        return [wire(item) if isinstance(item, Record) else item for item in value]
    if isinstance(value, Record):
        return {key: wire(item) for key, item in value.items() if item is not None}
    return value


# ---------------------------------------------------------------- JSON


class UnreadableError(Exception):
    """A line that gives no JSON value."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.kind = kind


def text_of(data: bytes) -> str:
    """Decode a line, never fail, and trim what stands around the message."""
    return data.decode("utf-8", "replace").strip(BLANKS)


def read_json(text: str) -> Json:
    """Parse a JSON text: duplicate keys (last wins), lone surrogates, huge numbers are fine."""
    cut = too_deep_at(text)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit + 4 * DEPTH_LIMIT)
    try:
        return json.loads(text[:cut], parse_int=read_integer, parse_constant=refuse)
    except json.JSONDecodeError as error:
        if cut is not None and error.pos >= cut:
            raise UnreadableError("too_deep", f"is nested beyond {DEPTH_LIMIT} levels") from None
        raise UnreadableError("not_json", str(error)) from None
    finally:
        sys.setrecursionlimit(limit)


def too_deep_at(text: str) -> int | None:
    """Where the text has opened one level too many, if it has."""
    depth = 0
    if text.count("[") + text.count("{") > DEPTH_LIMIT:
        for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', text):
            depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
            if depth > DEPTH_LIMIT:
                return token.end()
    return None


def read_integer(text: str) -> int:
    """Read an integer of any length (`int` refuses some thousand digits)."""
    return int(Decimal(text))


def refuse(name: str) -> Json:
    """Refuse NaN and the infinities, which are no JSON."""
    raise UnreadableError("not_json", f"{name} is no JSON")


# ---------------------------------------------------------------- 3. one connection


def fresh() -> dict[str, Any]:
    """Give what a session starts from, and starts from again in a replay."""
    return {
        "entries": [],
        "index": {},  # entries by kind and id
        "terminals": {},
        "plans": {},
        "state": None,
        "work_began": 0,  # entries there were when foreground work began
        "usage": None,
        "info": {"title": None, "updatedAt": None, "_meta": {}},
        "availableCommands": [],
        "configOptions": [],
        "blocked": set(),  # the lists that an update has reported
        "notices": [],
    }


class Naive:
    """All sessions of one connection."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self.limit = limit
        self.sessions: dict[str, dict[str, Any]] = {}
        self.requests: dict[int | str, dict[str, Any]] = {}  # the client's, unanswered
        self.problems: list[dict[str, Any]] = []

    def session(self, session_id: str) -> dict[str, Any]:
        """Give a session, which comes to be when it is first asked for."""
        return self.sessions.setdefault(
            session_id,
            {"now": fresh(), "before": None, "replay": None, "prompts": [], "permissions": {}},
        )

    def problem(self, line: int, kind: str, path: str, reason: str) -> None:
        """Record something wrong in what the agent sent."""
        self.problems.append({"line": line, "kind": kind, "path": path, "message": reason})

    def document(self) -> dict[str, Any]:
        """Give the document of all sessions and problems."""
        return {
            "sessions": [show_session(name, session) for name, session in self.sessions.items()],
            "problems": list(self.problems),
        }

    # -------- lines

    def receive(self, data: bytes, line: int = 0, unterminated: bool = False) -> None:
        """Take one line of the agent."""
        try:
            messages = self.messages(data)
        except UnreadableError as error:
            cut = unterminated and error.kind == "not_json"
            self.problem(line, "truncated" if cut else error.kind, "$", str(error))
            return
        for path, message in messages:
            self.received(message, path, line)
            self.match_echoes()

    def sent(self, data: bytes) -> None:
        """Take one line of the client, which is never a problem."""
        try:
            messages = self.messages(data)
        except UnreadableError:
            return
        for path, message in messages:
            try:
                check_shape(message, path)
            except MalformedError:
                if not is_answer(message):
                    continue
            self.did(message)
            self.match_echoes()

    def disconnect(self) -> None:
        """Lose the connection."""
        self.requests.clear()
        for session in self.sessions.values():
            session["permissions"].clear()
            for prompt in session["prompts"]:
                if prompt["status"] == "pending":
                    prompt["status"] = "uncertain"

    def messages(self, data: bytes) -> list[tuple[str, Json]]:
        """Give the messages of a line: none, one, or those of a batch."""
        if len(data) > self.limit:
            raise UnreadableError("too_long", f"is longer than {self.limit} bytes")
        text = text_of(data)
        if not text:
            return []
        value = read_json(text)
        if isinstance(value, list):
            return [(f"$[{index}]", item) for index, item in enumerate(value)]
        return [("$", value)]

    def match_echoes(self) -> None:
        """Find the prompts whose message the agent has reported."""
        for session in self.sessions.values():
            for prompt in session["prompts"]:
                if ("user_message", prompt["messageId"]) in session["now"]["index"]:
                    prompt["echoed"] = True

    # -------- what the agent says

    def received(self, message: Json, path: str, line: int) -> None:
        """Take one message of the agent."""
        told: Told = []
        try:
            check_shape(message, path)
        except MalformedError as error:
            self.problem(line, "invalid_message", error.path, error.reason)
            if is_answer(message):
                self.answered(request_id(message), None, None)
            return
        try:
            if "method" not in message:
                self.answer(message, path, told)
            elif (rule := self.METHODS.get(message["method"])) is not None:
                takes_request, act = rule
                if takes_request == ("id" in message):
                    params = message.get("params")
                    parsed = parse(message["method"], params, f"{path}.params", told)
                    act(self, parsed, request_id(message))
        except MalformedError as error:
            told = [("rejected", error.path, error.reason)]
        for kind, where, reason in told:
            self.problem(line, kind, where, reason)

    def update(self, params: Record, _id: Any) -> None:
        """Apply a session update."""
        apply(self.session(params["sessionId"])["now"], params["update"])

    def ask_permission(self, params: Record, asked: Any) -> None:
        """Open a permission request, whose tool call is applied first."""
        session = self.session(params["sessionId"])
        subject = params.get("subject")
        if isinstance(subject, Record) and subject["type"] == "tool_call":
            tool_call = {"sessionUpdate": "tool_call_update"} | subject["toolCall"]
            apply(session["now"], Record(tool_call))
        if asked not in session["permissions"]:
            self.close_permission(asked)
        session["permissions"][asked] = params

    def cancel_request(self, params: Record, _id: Any) -> None:
        """Withdraw a permission request."""
        self.close_permission(params["requestId"])

    def close_permission(self, asked: Any) -> None:
        """Remove a permission request, whichever session it is in."""
        for session in self.sessions.values():
            session["permissions"].pop(asked, None)

    METHODS: ClassVar[dict[str, Any]] = {  # method: (does it have an id, what it does)
        "session/update": (False, update),
        "session/request_permission": (True, ask_permission),
        "$/cancel_request": (False, cancel_request),
    }

    def answer(self, message: dict[str, Json], path: str, told: Told) -> None:
        """Take a well-formed answer."""
        asked = request_id(message)
        method = self.requests.get(asked, {}).get("method")
        if "error" in message:
            self.answered(asked, None, wire(parse("Error", message["error"], path, told)))
        elif method in RESULTS:
            try:
                result = parse(method, message["result"], f"{path}.result", told)
            except MalformedError:
                self.answered(asked, None, None)
                raise
            self.answered(asked, result, None)
        else:
            self.answered(asked, None, None)

    def answered(self, asked: Any, result: Record | None, error: Json) -> None:
        """End a request of the client; with neither result nor error its answer was malformed."""
        request = self.requests.pop(asked, {"method": None})
        method = request["method"]
        if method == "session/prompt":
            answer_prompt(request["prompt"], result, error)
        elif method == "session/new" and result is not None:
            initial_lists(self.session(result["sessionId"])["now"], result)
        elif method == "session/resume":
            session = self.session(request["sessionId"])
            if session["replay"] is request:
                if result is None:
                    session["now"] = session["before"]
                session["before"] = session["replay"] = None
            if result is not None:
                initial_lists(session["now"], result)
        elif result is not None and request.get("sessionId") in self.sessions:
            self.sessions[request["sessionId"]]["now"]["configOptions"] = wire(
                result["configOptions"]
            )

    # -------- what the client does

    def did(self, message: dict[str, Json]) -> None:
        """Take one message of the client."""
        asked = request_id(message)
        if "method" not in message:
            self.close_permission(asked)
            return
        params = message.get("params")
        params = params if isinstance(params, dict) else {}
        session_id: Any = params.get("sessionId")
        method = message["method"]
        if "id" not in message:
            if method == "session/cancel" and isinstance(session_id, str):
                self.cancel(session_id)
            return
        request = self.requests[asked] = {"method": method, "sessionId": session_id}
        if method != "session/new" and not isinstance(session_id, str):
            request["method"] = None
        elif method == "session/prompt":
            request["prompt"] = self.prompt(session_id, asked, params.get("prompt"))
        elif method == "session/resume":
            session = self.session(session_id)
            if params.get("replayFrom") is not None:
                session["before"] = session["before"] or session["now"]
                session["now"] = fresh()
                session["replay"] = request

    def prompt(self, session_id: str, asked: Any, blocks: Json) -> dict[str, Any]:
        """Add a prompt."""
        content = parse_list(skipping("ContentBlock"), blocks, "$", []) if listed(blocks) else []
        prompt = {
            "requestId": asked,
            "status": "pending",
            "messageId": None,
            "echoed": False,
            "content": wire(content),
            "error": None,
        }
        self.session(session_id)["prompts"].append(prompt)
        return prompt

    def cancel(self, session_id: str) -> None:
        """Mark the unfinished tool calls of the foreground work, and answer all permissions."""
        session = self.session(session_id)
        session["permissions"].clear()
        now = session["now"]
        state = now["state"] or {}
        if state.get("state") == "idle":
            return
        background = [
            item.get("toolCallId")
            for item in (state["background"] if listed(state.get("background")) else [])
            if isinstance(item, dict) and item.get("type") == "tool_call"
        ]
        for entry in now["entries"][now["work_began"] :]:
            if entry["type"] == "tool_call" and entry["toolCallId"] not in background:
                entry["marked"] |= entry["status"] not in ("completed", "failed", "cancelled")


def listed(value: Json) -> bool:
    """Whether the value is a list."""
    return isinstance(value, list)


def check_shape(message: Json, path: str) -> None:
    """Raise unless this is a request, a notification or an answer of JSON-RPC 2.0."""
    if not isinstance(message, dict):
        raise MalformedError(path, "is not object")
    if message.get("jsonrpc") != "2.0":
        raise MalformedError(f"{path}.jsonrpc", "is not 2.0")
    if "id" in message:
        parse_scalar("request id", message["id"], f"{path}.id")
    if "method" in message:
        parse_scalar("string", message["method"], f"{path}.method")
        return
    if "id" not in message:
        raise MalformedError(f"{path}.id", "is missing")
    if ("result" in message) == ("error" in message):
        raise MalformedError(path, "has not one of result and error")
    if "error" in message:
        parse("Error", message["error"], f"{path}.error", [])


def is_answer(message: Json) -> bool:
    """Whether a message, perhaps of a bad shape, answers a request."""
    return isinstance(message, dict) and "method" not in message and request_id(message) is not None


def request_id(message: dict[str, Json]) -> Any:
    """Give the id of a message if it is one: `1.0` is 1, `"1"` is not."""
    try:
        return parse_scalar("request id", message.get("id"), "$.id")
    except MalformedError:
        return None


def answer_prompt(prompt: dict[str, Any], result: Record | None, error: Json) -> None:
    """End the waiting of a prompt."""
    if result is not None:
        prompt.update(status="accepted", messageId=result["messageId"])
    elif error is not None:
        prompt.update(status="rejected", error=error)
    else:
        prompt.update(status="uncertain")


def initial_lists(now: dict[str, Any], result: Record) -> None:
    """Take the lists of a new or resumed session, but for those that an update has reported."""
    for name in ("configOptions", "availableCommands"):
        if name in result and name not in now["blocked"]:
            now[name] = wire(result[name])


# -------- what each update does


Now = dict[str, Any]
Update = dict[str, Json]


def apply(now: Now, update: Json) -> None:
    """Apply one update; what is not a `Record` is unknown and becomes an entry as it is."""
    if isinstance(update, Record):
        HANDLERS[update["sessionUpdate"]](now, {key: wire(value) for key, value in update.items()})
    else:
        now["entries"].append({"type": "unknown", "update": update})


def apply_message(now: Now, update: Update) -> None:
    """Upsert a message or thought."""
    entry = entry_of(now, update["sessionUpdate"], "messageId", update)
    put(entry, update, "content")
    patch_meta(entry, update)


def apply_message_chunk(now: Now, update: Update) -> None:
    """Append to a message or thought."""
    kind = update["sessionUpdate"].removesuffix("_chunk")
    append(entry_of(now, kind, "messageId", update), update)


def apply_tool_call(now: Now, update: Update) -> None:
    """Upsert a tool call; a reported status takes our cancel mark away."""
    entry = entry_of(now, "tool_call", "toolCallId", update)
    put(entry, update, *TOOL_CALL_FIELDS, "content", "locations", "kind", "status")
    entry["kind"] = "other" if entry["kind"] is None else entry["kind"]
    entry["status"] = "pending" if entry["status"] is None else entry["status"]
    entry["marked"] = entry["marked"] and "status" not in update
    patch_meta(entry, update)


def apply_tool_call_chunk(now: Now, update: Update) -> None:
    """Append to the content of a tool call."""
    append(entry_of(now, "tool_call", "toolCallId", update), update)


def apply_terminal(now: Now, update: Update) -> None:
    """Upsert a terminal."""
    terminal = terminal_of(now, update)
    put(terminal, update, *TERMINAL_FIELDS)
    if "output" in update:
        output = update["output"] or {"data": ""}
        terminal["output"] = bytes_of(output["data"])
        terminal["outputMeta"] = output.get("_meta", {})
    patch_meta(terminal, update)


def apply_terminal_chunk(now: Now, update: Update) -> None:
    """Append to the output of a terminal."""
    terminal_of(now, update)["output"] += bytes_of(update["data"])


def apply_plan(now: Now, update: Update) -> None:
    """Replace the plan of that id, which keeps its place."""
    now["plans"][update["plan"]["planId"]] = update["plan"]


def apply_state(now: Now, update: Update) -> None:
    """Replace the state; leaving idle is the beginning of foreground work."""
    state = update["state"]
    was_idle = now["state"] is None or now["state"]["state"] == "idle"
    if was_idle and state["state"] != "idle":
        now["work_began"] = len(now["entries"])
    now["state"] = state


def apply_usage(now: Now, update: Update) -> None:
    """Replace the usage; its cost stays where none is reported."""
    usage = now["usage"] or {"cost": None}
    now["usage"] = usage | {key: update[key] for key in ("used", "size", "cost") if key in update}


def apply_info(now: Now, update: Update) -> None:
    """Patch title, time and metadata of the session."""
    put(now["info"], update, "title", "updatedAt")
    patch_meta(now["info"], update)


def apply_commands(now: Now, update: Update) -> None:
    """Replace the commands, for good."""
    now["availableCommands"] = update["availableCommands"]
    now["blocked"].add("availableCommands")


def apply_config_options(now: Now, update: Update) -> None:
    """Replace the config options, for good."""
    now["configOptions"] = update["configOptions"]
    now["blocked"].add("configOptions")


def apply_notice(now: Now, update: Update) -> None:
    """Append a notice; the oldest ones go."""
    notice = {key: value for key, value in update.items() if key != "sessionUpdate"}
    now["notices"] = [*now["notices"], dropping_none(notice)][-NOTICE_LIMIT:]


def apply_compaction(now: Now, update: Update) -> None:
    """Upsert a compaction."""
    entry = entry_of(now, "compaction", "compactionId", update)
    put(entry, update, "status", "summary", "error")
    patch_meta(entry, update)


def apply_summary_chunk(now: Now, update: Update) -> None:
    """Append to the summary of a compaction."""
    entry = entry_of(now, "compaction", "compactionId", update)
    entry["summary"] = [*entry["summary"], update["content"]]


HANDLERS = {
    "user_message": apply_message,
    "agent_message": apply_message,
    "agent_thought": apply_message,
    "user_message_chunk": apply_message_chunk,
    "agent_message_chunk": apply_message_chunk,
    "agent_thought_chunk": apply_message_chunk,
    "tool_call_update": apply_tool_call,
    "tool_call_content_chunk": apply_tool_call_chunk,
    "terminal_update": apply_terminal,
    "terminal_output_chunk": apply_terminal_chunk,
    "plan_update": apply_plan,
    "state_update": apply_state,
    "usage_update": apply_usage,
    "session_info_update": apply_info,
    "available_commands_update": apply_commands,
    "config_option_update": apply_config_options,
    "notice": apply_notice,
    "compaction_update": apply_compaction,
    "compaction_summary_chunk": apply_summary_chunk,
}
TOOL_CALL_FIELDS = ("name", "title", "rawInput", "rawOutput", "capabilities")
TERMINAL_FIELDS = ("command", "cwd", "exitStatus", "size", "capabilities")


def entry_of(now: Now, kind: str, key: str, update: Update) -> dict[str, Any]:
    """Find an entry by kind and id, or put a new one at the end."""
    entry: dict[str, Any] | None = now["index"].get((kind, update[key]))
    if entry is None:
        entry = {"type": kind, key: update[key], "_meta": {}}
        if kind == "compaction":
            entry |= {"status": "in_progress", "summary": [], "error": None}
        else:
            entry |= {"content": [], "chunkMeta": {}}
        if kind == "tool_call":
            entry |= dict.fromkeys(TOOL_CALL_FIELDS) | {"locations": []}
            entry |= {"kind": "other", "status": "pending", "marked": False}
        now["index"][kind, update[key]] = entry
        now["entries"].append(entry)
    return entry


def terminal_of(now: Now, update: Update) -> dict[str, Any]:
    """Find a terminal by its id, or begin a new one."""
    empty = dict.fromkeys(TERMINAL_FIELDS) | {"output": b"", "outputMeta": {}, "_meta": {}}
    terminal: dict[str, Any] = now["terminals"].setdefault(update["terminalId"], empty)
    return terminal


def put(target: dict[str, Any], update: Update, *names: str) -> None:
    """Take the fields that the update has: a list cleared by null is empty."""
    for name in names:
        if name in update:
            cleared: Json = [] if name in ("content", "summary", "locations") else None
            target[name] = cleared if update[name] is None else update[name]
            if name == "content":
                target["chunkMeta"] = {}


def patch_meta(target: dict[str, Any], update: Update) -> None:
    """Patch metadata by key."""
    if "_meta" not in update:
        return
    if update["_meta"] is None:
        target["_meta"] = {}
    else:
        target["_meta"] = dropping_none(target["_meta"] | update["_meta"])


def dropping_none(values: dict[str, Json]) -> dict[str, Json]:
    """Give the members that are not null."""
    return {key: value for key, value in values.items() if value is not None}


def append(entry: dict[str, Any], update: Update) -> None:
    """Append one content item, with the metadata of its chunk beside it."""
    if update.get("_meta"):
        entry["chunkMeta"][str(len(entry["content"]))] = update["_meta"]
    entry["content"] = [*entry["content"], update["content"]]


# -------- the document


def show_session(name: str, session: dict[str, Any]) -> dict[str, Any]:
    """Give the document of one session."""
    now = session["now"]
    shown = {
        "sessionId": name,
        "entries": [show_entry(entry) for entry in now["entries"]],
        "terminals": [
            show({"terminalId": key} | terminal | {"output": base64_of(terminal["output"])})
            for key, terminal in now["terminals"].items()
        ],
        "plans": list(now["plans"].values()),
        "state": now["state"] or {"state": "idle"},
        "usage": now["usage"] and dropping_none(now["usage"]),
        "info": show(now["info"]),
        "availableCommands": now["availableCommands"],
        "configOptions": now["configOptions"],
        "notices": now["notices"],
        "prompts": [show_prompt(prompt) for prompt in session["prompts"]],
        "permissions": [
            show_permission(asked, params) for asked, params in session["permissions"].items()
        ],
        "replaying": True if session["replay"] else None,
    }
    return dropping_none(shown)


def show(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is unset, and the metadata and locations that are empty."""
    hidden = ("_meta", "chunkMeta", "outputMeta", "locations")
    return {
        key: value
        for key, value in values.items()
        if value is not None and not (key in hidden and not value)
    }


def show_entry(entry: dict[str, Any]) -> dict[str, Any]:
    """Give the document of an entry, with our cancel mark laid over the reported status."""
    shown = dict(entry)
    if shown.pop("marked", False):
        shown |= {"status": "cancelled", "reportedStatus": entry["status"]}
    return show(shown)


def show_prompt(prompt: dict[str, Any]) -> dict[str, Any]:
    """Give the document of a prompt, without its content once that is echoed."""
    return dropping_none(prompt | ({"content": None} if prompt["echoed"] else {}))


def show_permission(asked: Any, params: Record) -> dict[str, Any]:
    """Give the document of a permission request."""
    names = ("title", "description", "subject", "options")
    shown = {name: wire(params.get(name)) for name in names}
    return {"requestId": asked} | dropping_none(shown)


def base64_of(data: bytes) -> str:
    """Encode bytes."""
    return base64.b64encode(data).decode()


def replay(frames: Iterable[Frame], limit: int = LINE_LIMIT) -> dict[str, Any]:
    """Give the document of `(sent, data)` frames.

    A third element is the line number, else frames are counted from 1; a true fourth one says that
    the line was not terminated.
    """
    naive = Naive(limit)
    for number, frame in enumerate(frames, 1):
        rest: Frame = (number, False)[len(frame) - 2 :]
        sent, data, line, unterminated = frame + rest
        if sent:
            naive.sent(data)
        else:
            naive.receive(data, line, unterminated)
    return naive.document()


# ---------------------------------------------------------------- 4. recordings


def read_recording(path: Path) -> Iterator[Frame]:
    """Give the frames of a recording: enveloped lines, or raw ones without a direction."""
    guess = Direction()
    *lines, last = path.read_bytes().split(b"\n")
    for number, line in enumerate([*lines, last] if last else lines, 1):
        envelope = open_envelope(line)
        if envelope is not None:
            yield (*envelope, number, False)
        else:
            yield guess.is_sent(line), line, number, number > len(lines)


def open_envelope(line: bytes) -> tuple[bool, bytes] | None:
    """Give direction and message of an enveloped line, the message as it is written there."""
    members = dict(raw_members(text_of(line)))
    if members.get("dir") not in ('"send"', '"recv"') or "message" not in members:
        return None
    sent, data = members["dir"] == '"send"', members["message"].encode()
    if data == b"null" and "rawBase64" in members:
        data = base64.b64decode(json.loads(members["rawBase64"]))
    elif data == b"null" and "raw" in members:
        data = json.loads(members["raw"]).encode("utf-8", "surrogatepass")
    return sent, data


def raw_members(text: str) -> Iterator[tuple[str, str]]:
    """Give the members of an object as keys and unparsed values, however deep these are."""
    depth, start, key, string = 0, None, "", ""
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]', text):
        mark = token[0]
        if depth == 1 and mark in ",}" and start is not None:
            yield key, text[start : token.start()].strip(BLANKS)
            start = None
        elif depth == 1 and mark == ":":
            key, start = string[1:-1], token.end()
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark, 0)
        string = mark


AGENT_METHODS = (
    "session/update",
    "session/request_permission",
    "elicitation/create",
    "elicitation/complete",
)
CLIENT_PREFIXES = ("initialize", "session/", "auth/", "tool_call/", "terminal/")


class Direction:
    """Guess who sent a line, from method, id and shape."""

    def __init__(self) -> None:
        self.client: set[Any] = set()
        self.agent: set[Any] = set()

    def is_sent(self, line: bytes) -> bool:
        """Tell whether the client sent the line; what tells nothing came from the agent."""
        try:
            value = read_json(text_of(line))
        except UnreadableError:
            return False
        message = value[0] if isinstance(value, list) and value else value
        return isinstance(message, dict) and self.judge(message)

    def judge(self, message: dict[str, Json]) -> bool:
        """Judge one message and remember which requests are open."""
        asked, method = request_id(message), message.get("method")
        if method == "$/cancel_request":
            params = message.get("params")
            cancelled = params.get("requestId") if isinstance(params, dict) else None
            return request_id({"id": cancelled}) not in self.agent
        if isinstance(method, str):
            sent = method not in AGENT_METHODS and method.startswith(CLIENT_PREFIXES)
            if asked is not None:
                (self.client if sent else self.agent).add(asked)
            return sent
        result = message.get("result")
        fits = isinstance(result, dict) and ("outcome" in result or "action" in result)
        plain_error = "error" in message and asked not in self.client
        sent = asked in self.agent and (fits or plain_error)
        (self.agent if sent else self.client).discard(asked)
        return sent
