"""The table of patches: complete, literal, and true of the reducer."""

from __future__ import annotations

from typing import Any

import attrs
import msgspec
import pytest
from traffic import event

import acp_client
from acp_client import Snapshot, apply, apply_all, wire
from acp_client._entity_drafts import Entity
from acp_client._patches import PATCHES, Sets

EMPTY = Snapshot("s1")

NOT_PATCHED = {"message_id", "tool_call_id", "compaction_id", "terminal_id"}
UNSTORED_META = {wire.UsageUpdate}
NO_PATCH_SETS = {
    "cancel_marked",
    "cancel_requested",
    "output_meta",
    "dropped_bytes",
    "type",
    *NOT_PATCHED,
}
"""Fields of entities that are set beside others, or never change."""

each_update = pytest.mark.parametrize("update", PATCHES, ids=lambda update: update.__name__)


def fields_of(kind: Any) -> set[str]:
    """Return the names of a frozen class's fields."""
    if attrs.has(kind):
        return {item.name for item in attrs.fields(kind)}
    return {item.name for item in msgspec.structs.fields(kind)}


OTHER_NAMES = {"status": "reported_status", "output": "pieces"}
"""Fields of updates that have another name in the entity; a compaction has one status only."""


def targets(entity: Entity) -> dict[str, Any]:
    """Return the effects of an entity's table by the field of the entity that each changes."""
    names = fields_of(entity.made)
    found = {name if name in names else OTHER_NAMES[name]: one for name, one in entity.patches}
    assert found.keys() <= names
    return found


@each_update
def test_the_table_has_every_field_of_an_update(update: Any) -> None:
    """A field that an update gains has to stand in the table, and there are no others."""
    unstored = {"meta"} if update in UNSTORED_META else set()
    names = {name for name, _ in PATCHES[update].patches}
    assert names == fields_of(update) - NOT_PATCHED - unstored


@each_update
def test_the_table_has_every_field_of_an_entity(update: Any) -> None:
    """A field that an entity gains has to be set by the table, or stands in the list above."""
    entity = PATCHES[update]
    assert fields_of(entity.made) - NO_PATCH_SETS == targets(entity).keys()


BLANK: list[Any] = [
    acp_client.Message("agent_message", "m"),
    acp_client.ToolCall("c"),
    acp_client.Terminal("t"),
    acp_client.SessionInfo(),
]


@pytest.mark.parametrize("blank", BLANK, ids=lambda blank: type(blank).__name__)
def test_a_reset_is_what_a_new_entity_has(blank: Any) -> None:
    """`null` sets what an entity has of which nothing was said."""
    (entity,) = {id(one): one for one in PATCHES.values() if one.made is type(blank)}.values()
    for name, effect in targets(entity).items():
        if isinstance(effect, Sets):
            assert effect.null == getattr(blank, name)


CASES: list[tuple[str, dict[str, Any], str, Any, Any]] = [
    ("name", {"name": "edit"}, "name", "edit", None),
    ("title", {"title": "Edit"}, "title", "Edit", None),
    ("kind", {"kind": "edit"}, "kind", "edit", "other"),
    ("status", {"status": "failed"}, "status", "failed", "pending"),
    ("rawInput", {"rawInput": {"a": 1}}, "raw_input", wire.Json({"a": 1}), None),
    ("rawOutput", {"rawOutput": [1]}, "raw_output", wire.Json([1]), None),
    ("locations", {"locations": [{"path": "/a"}]}, "locations", (wire.ToolCallLocation("/a"),), ()),
    (
        "capabilities",
        {"capabilities": {}},
        "capabilities",
        wire.ToolCallCapabilities(),
        None,
    ),
]


@pytest.mark.parametrize(("key", "given", "name", "value", "reset"), CASES)
def test_tool_calls_are_patched(
    key: str, given: dict[str, Any], name: str, value: Any, reset: Any
) -> None:
    """A value replaces, an omitted field leaves it, and `null` resets it."""
    with_value = apply(EMPTY, event("tool_call_update", toolCallId="c", **given))
    omitted = apply(with_value, event("tool_call_update", toolCallId="c"))
    null = apply(with_value, event("tool_call_update", toolCallId="c", **{key: None}))
    found = [getattr(one.entries[0], name) for one in (with_value, null)]
    assert found == [value, reset]
    assert omitted is with_value


def test_usage_without_cost_leaves_the_cost() -> None:
    """`cost` is unchanged where it is omitted, and cleared by `null`."""
    cost = {"amount": 0.5, "currency": "USD"}
    first = event("usage_update", used=1, size=2, cost=cost)
    kept = apply_all(EMPTY, [first, event("usage_update", used=3, size=2)]).usage
    cleared = apply_all(EMPTY, [first, event("usage_update", used=1, size=2, cost=None)]).usage
    assert kept is not None
    assert (kept.used, kept.cost) == (3, wire.Cost(0.5, "USD"))
    assert cleared is not None
    assert cleared.cost is None


def test_an_unchanged_entity_is_the_same_object() -> None:
    """Values that are equal to those before are no change, and keep the objects of before."""
    update = event("tool_call_update", toolCallId="c", locations=[{"path": "/a"}], title="a")
    other = event("tool_call_update", toolCallId="c", locations=[{"path": "/a"}], title="b")
    before = apply(EMPTY, update)
    assert apply(before, update) is before
    after: Any = apply(before, other)
    assert after.entries[0].locations is before.entries[0].locations  # type: ignore[union-attr]


def test_entities_are_described_once() -> None:
    """Updates of one class of entity share its row."""
    assert all(isinstance(entity, Entity) for entity in PATCHES.values())
    assert PATCHES[wire.UserMessage] is PATCHES[wire.AgentThought]
