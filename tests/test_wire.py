"""Protocol messages as values: made by hand, compared, written, and nothing more."""

from __future__ import annotations

import inspect
from typing import Any

import msgspec
import pytest

from acp_client import wire
from acp_client._json import encode, parse

STRUCTS = [
    value
    for name, value in vars(wire).items()
    if name in wire.__all__ and isinstance(value, type) and issubclass(value, msgspec.Struct)
]


def test_names_are_sorted_and_there() -> None:
    """`__all__` is one sorted list of what the module defines, without doubles."""
    assert wire.__all__ == sorted(set(wire.__all__), key=lambda name: (not name.isupper(), name))
    assert all(hasattr(wire, name) for name in wire.__all__)


@pytest.mark.parametrize("kind", STRUCTS)
def test_classes_are_frozen_and_documented(kind: Any) -> None:
    """Every class is immutable, spares the garbage collector, and has a docstring of its own."""
    assert kind.__struct_config__.frozen
    assert not kind.__struct_config__.gc
    assert inspect.getdoc(kind)
    assert kind.__doc__ != kind.__mro__[1].__doc__


def test_values_are_compared_and_cannot_be_changed() -> None:
    """Wire objects are equal by value and have no field that can be set."""
    block = wire.TextContent("a", wire.Annotations(priority=0.5))
    assert block == wire.TextContent("a", wire.Annotations(priority=0.5))
    assert block != wire.TextContent("a")
    with pytest.raises(AttributeError):
        block.text = "b"  # type: ignore[misc]  # that is the point


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (wire.TextContent("a"), {"type": "text", "text": "a"}),
        (
            wire.ResourceLink("n", "u", size=3, meta=wire.JsonObject({"k": None})),
            {"type": "resource_link", "name": "n", "uri": "u", "size": 3, "_meta": {"k": None}},
        ),
        (
            wire.EmbeddedResource(wire.BlobResourceContents("b", "u", "m")),
            {"type": "resource", "resource": {"blob": "b", "uri": "u", "mimeType": "m"}},
        ),
        (wire.Unknown({"type": "_x", "k": None}), {"type": "_x", "k": None}),
        (
            wire.Diff((wire.DiffMove("/a", "/b"), wire.Unknown({"operation": "_x"}))),
            {
                "type": "diff",
                "changes": [
                    {"operation": "move", "oldPath": "/a", "path": "/b"},
                    {"operation": "_x"},
                ],
            },
        ),
        (
            wire.ToolCallUpdate("c", title=None, status="failed"),
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": "c",
                "title": None,
                "status": "failed",
            },
        ),
        (wire.TerminalOutput(b"hi"), {"data": "aGk="}),
        (
            wire.SessionConfigBoolean(config_id="c", name="n", current_value=False),
            {"type": "boolean", "configId": "c", "name": "n", "currentValue": False},
        ),
        (
            wire.StateUpdate("idle", stop_reason="error", error=wire.Error(1, "m")),
            {
                "sessionUpdate": "state_update",
                "state": "idle",
                "stopReason": "error",
                "error": {"code": 1, "message": "m"},
            },
        ),
        (wire.TerminalExitStatus(), {}),
        ((wire.Terminal("t"), None), [{"type": "terminal", "terminalId": "t"}, None]),
    ],
)
def test_objects_are_written_in_wire_form(value: Any, written: Any) -> None:
    """Names are the schema's, tags are there, unset and null optionals of whole objects are not."""
    assert parse(encode(wire.to_builtins(value))) == written


@pytest.mark.parametrize(
    ("state", "kept"),
    [
        (wire.StateUpdate("idle", stop_reason="end_turn"), ("end_turn", None)),
        (wire.StateUpdate("idle", stop_reason="error", error=wire.Error(1, "m")),
         ("error", wire.Error(1, "m"))),
        (wire.StateUpdate("idle", stop_reason="refusal", error=wire.Error(1, "m")),
         ("refusal", None)),
        (wire.StateUpdate("idle", error=wire.Error(1, "m")), (None, None)),
        (wire.StateUpdate("running", stop_reason="end_turn"), (None, None)),
        (wire.StateUpdate("requires_action", error=wire.Error(1, "m")), (None, None)),
    ],
)  # fmt: skip
def test_states_lose_what_does_not_belong_to_them(state: wire.StateUpdate, kept: Any) -> None:
    """A stop reason belongs to idle, an error to the stop reason `error`, however it is made."""
    assert (state.stop_reason, state.error) == kept
    changed = msgspec.structs.replace(state, state="running", error=wire.Error(1, "m"))
    assert (changed.stop_reason, changed.error, changed.usage) == (None, None, None)


def test_a_subject_shows_no_resets() -> None:
    """What a tool call of a permission resets is nothing that there is to show."""
    meta = wire.JsonObject({})
    subject = wire.ToolCallPermissionSubject(wire.ToolCallUpdate("c", title=None, name="n"), meta)
    shown = subject.without_resets()
    assert shown.tool_call == wire.ToolCallUpdate("c", name="n")
    assert shown.meta is meta
    plain = wire.ToolCallPermissionSubject(wire.ToolCallUpdate("c"))
    assert plain.without_resets() == plain


def test_three_states_of_a_field() -> None:
    """Omitted, null and a value are three things in a patch, and two in a whole object."""
    assert wire.ToolCallUpdate("c").title is wire.UNSET
    assert wire.ToolCallUpdate("c", title=None).title is None
    assert wire.ToolCallLocation("/a").line is None
