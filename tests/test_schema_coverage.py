"""Every method and every update of the published schemas, and what becomes of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import acp_client
from acp_client import wire
from acp_client._jsonrpc import METHODS
from acp_client._typed import V1_UPDATE_TAGS

SCHEMAS = Path(__file__).parent / "schemas"
VERSIONS = ("v1", "v1.unstable", "v2", "v2.unstable")

FOLLOWED = "followed"
"""The store follows it: it changes a snapshot or the connection."""

RAW = "kept raw"
"""It goes through as `wire.Json`: the client asks by `request`, or has a handler of its own."""

PROXY = "out of scope: it is for the chain of proxies between a client and an agent"

METHODS_OF_SCHEMAS: dict[str, str] = {
    "$/cancel_request": FOLLOWED,
    "auth/login": FOLLOWED,
    "auth/logout": FOLLOWED,
    "auth/status": RAW,
    "auth/status_update": RAW,
    "authenticate": FOLLOWED,
    "elicitation/complete": FOLLOWED,
    "elicitation/create": FOLLOWED,
    "fs/read_text_file": RAW,
    "fs/write_text_file": RAW,
    "initialize": FOLLOWED,
    "logout": FOLLOWED,
    "mcp/message": RAW,
    "providers/disable": RAW,
    "providers/list": RAW,
    "providers/set": RAW,
    "proxy/initialize": PROXY,
    "proxy/successor": PROXY,
    "session/archive": RAW,
    "session/cancel": FOLLOWED,
    "session/close": FOLLOWED,
    "session/delete": FOLLOWED,
    "session/fork": FOLLOWED,
    "session/list": FOLLOWED,
    "session/load": FOLLOWED,
    "session/new": FOLLOWED,
    "session/prompt": FOLLOWED,
    "session/request_permission": FOLLOWED,
    "session/resume": FOLLOWED,
    "session/set_config_option": FOLLOWED,
    "session/set_mode": FOLLOWED,
    "session/set_title": RAW,
    "session/status": RAW,
    "session/unarchive": RAW,
    "session/update": FOLLOWED,
    "terminal/cancel": FOLLOWED,
    "terminal/create": FOLLOWED,
    "terminal/kill": FOLLOWED,
    "terminal/output": FOLLOWED,
    "terminal/release": FOLLOWED,
    "terminal/wait_for_exit": FOLLOWED,
    "tool_call/cancel": FOLLOWED,
}

FOLLOWED_IN_V1 = {
    "session/fork",
    "session/set_mode",
    "terminal/create",
    "terminal/kill",
    "terminal/output",
    "terminal/release",
    "terminal/wait_for_exit",
}
"""Methods that the translation of v1 follows by their raw parameters."""

UPDATES_OF_SCHEMAS: dict[str, str] = {
    "agent_message": FOLLOWED,
    "agent_message_chunk": FOLLOWED,
    "agent_thought": FOLLOWED,
    "agent_thought_chunk": FOLLOWED,
    "available_commands_update": FOLLOWED,
    "compaction_summary_chunk": FOLLOWED,
    "compaction_update": FOLLOWED,
    "config_option_update": FOLLOWED,
    "current_mode_update": FOLLOWED,
    "notice": FOLLOWED,
    "plan": FOLLOWED,
    "plan_removed": FOLLOWED,
    "plan_update": FOLLOWED,
    "session_info_update": FOLLOWED,
    "session_message": RAW,
    "session_message_chunk": RAW,
    "state_update": FOLLOWED,
    "subagent_update": RAW,
    "terminal_output_chunk": FOLLOWED,
    "terminal_update": FOLLOWED,
    "tool_call": FOLLOWED,
    "tool_call_content_chunk": FOLLOWED,
    "tool_call_update": FOLLOWED,
    "usage_update": FOLLOWED,
    "user_message": FOLLOWED,
    "user_message_chunk": FOLLOWED,
}
"""What is kept raw is an entry of its own, exactly as it came."""


def definitions(version: str) -> dict[str, Any]:
    """Read the definitions of a schema."""
    found: dict[str, Any] = json.loads((SCHEMAS / f"schema.{version}.json").read_bytes())["$defs"]
    return found


def callers(version: str) -> dict[str, set[str]]:
    """Return who calls each method of a schema, which says who handles it."""
    found: dict[str, set[str]] = {}
    other = {"agent": "client", "client": "agent"}
    for definition in definitions(version).values():
        if "x-method" in definition:
            side = other.get(definition["x-side"], "both")
            found.setdefault(definition["x-method"], set()).add(side)
    return found


def updates(version: str) -> set[str]:
    """Return the values of `sessionUpdate` that a schema has."""
    union = definitions(version)["SessionUpdate"]
    variants = [
        one["properties"]["sessionUpdate"] for one in union.get("oneOf", union.get("anyOf"))
    ]
    return {one["const"] for one in variants if "const" in one}


def test_every_method_of_the_schemas_is_listed() -> None:
    """A method that a schema gains fails this test until it is said what becomes of it."""
    assert {name for version in VERSIONS for name in callers(version)} == METHODS_OF_SCHEMAS.keys()


@pytest.mark.parametrize("name", METHODS_OF_SCHEMAS)
def test_what_becomes_of_a_method(name: str) -> None:
    """A followed method has a class for its parameters or its result, a raw one has none."""
    fate, method = METHODS_OF_SCHEMAS[name], METHODS.get(name)
    if fate == PROXY:
        assert method is None
        return
    assert method is not None
    has_class = method.params is not None or method.result is not None
    assert has_class == (fate == FOLLOWED and name not in FOLLOWED_IN_V1)


@pytest.mark.parametrize("version", VERSIONS)
def test_callers_are_those_of_the_schema(version: str) -> None:
    """The table says who calls a method, and which version alone has it."""
    for name, sides in callers(version).items():
        if name in METHODS:
            caller = sides.pop() if len(sides) == 1 else "both"
            assert METHODS[name].caller == caller, name
            assert METHODS[name].only in (None, version[:2]), name


def test_methods_of_one_version() -> None:
    """`only` names the version if just one has the method."""
    of_v1, of_v2 = callers("v1.unstable").keys(), callers("v2.unstable").keys()
    for name, method in METHODS.items():
        if name in of_v1 | of_v2:
            expected = None if name in of_v1 & of_v2 else "v1" if name in of_v1 else "v2"
            assert method.only == expected, name


def test_notifications_have_no_response_in_the_schema() -> None:
    """A method that has a response is a request."""
    for version in VERSIONS:
        responses = {
            definition["x-method"]
            for name, definition in definitions(version).items()
            if "x-method" in definition and name.endswith("Response")
        }
        for name, method in METHODS.items():
            if name in callers(version):
                assert method.is_notification == (name not in responses), name


def test_every_update_of_the_schemas_is_listed() -> None:
    """An update that a schema gains fails this test until it is said what becomes of it."""
    assert {tag for version in VERSIONS for tag in updates(version)} == UPDATES_OF_SCHEMAS.keys()


@pytest.mark.parametrize("tag", UPDATES_OF_SCHEMAS)
def test_what_becomes_of_an_update(tag: str) -> None:
    """A followed update is known in its version; a raw one is `wire.Unknown`."""
    followed = UPDATES_OF_SCHEMAS[tag] == FOLLOWED
    assert followed == (tag in {*wire.UPDATE_TAGS, *V1_UPDATE_TAGS})
    assert (tag in V1_UPDATE_TAGS) == (followed and tag not in updates("v2.unstable"))


# --- How many places a change of the schema has in the package ---

PACKAGE = Path(acp_client.__file__).parent


def places(word: str) -> dict[str, int]:
    """Return in how many lines of each module of the core a name stands."""
    sources = {path.name: path.read_text(encoding="utf-8") for path in PACKAGE.glob("*.py")}
    counts = {
        name: sum(bool(re.search(rf"\b{word}\b", line)) for line in source.splitlines())
        for name, source in sources.items()
    }
    return {name: count for name, count in counts.items() if count}


def test_an_optional_field_has_three_places() -> None:
    """A field of `tool_call_update` stands at the update, at the tool call, and in its patch."""
    assert places("raw_output") == {"wire.py": 1, "_snapshot.py": 1, "_patches.py": 1}


def test_a_content_block_has_three_places() -> None:
    """A content block is a class, a member of its union, and a public name."""
    assert places("AudioContent") == {"wire.py": 3}
