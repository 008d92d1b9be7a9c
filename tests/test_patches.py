"""The table of patches: complete, literal, and true of the reducer."""

from __future__ import annotations

from typing import Any

import attrs
import msgspec
import pytest
from traffic import event

from acp_client import Snapshot, apply, apply_all, wire
from acp_client._entity_drafts import Entity
from acp_client._patches import PATCHES

EMPTY = Snapshot("s1")

NOT_PATCHED = {"message_id", "tool_call_id", "compaction_id", "terminal_id"}
UNSTORED_META = {wire.UsageUpdate}
NO_PATCH_SETS = {"cancel_marked", "output_meta", "dropped_bytes", "type", *NOT_PATCHED}
"""Fields of entities that are set beside others, or never change."""

each_update = pytest.mark.parametrize("update", PATCHES, ids=lambda update: update.__name__)


def fields_of(kind: Any) -> set[str]:
    """Return the names of a frozen class's fields."""
    if attrs.has(kind):
        return {item.name for item in attrs.fields(kind)}
    return {item.name for item in msgspec.structs.fields(kind)}


@each_update
def test_the_table_has_every_field_of_an_update(update: Any) -> None:
    """A field that an update gains has to stand in the table, and there are no others."""
    unstored = {"meta"} if update in UNSTORED_META else set()
    assert set(PATCHES[update].patches) == fields_of(update) - NOT_PATCHED - unstored


@each_update
def test_the_table_has_every_field_of_an_entity(update: Any) -> None:
    """A field that an entity gains has to be set by the table, or stands in the list above."""
    entity = PATCHES[update]
    named: set[str] = {effect.field for effect in entity.patches.values()}  # type: ignore[attr-defined]
    assert named <= fields_of(entity.made)
    assert fields_of(entity.made) - NO_PATCH_SETS == named


@each_update
def test_a_reset_is_what_a_new_entity_has(update: Any) -> None:
    """`null` sets what an entity has of which nothing was said."""
    entity = PATCHES[update]
    required = [item for item in entity.patches.values() if not hasattr(item, "null")]
    assert len(required) <= 2
    if update is wire.UsageUpdate:
        return
    blank = entity.made(**entity.identity(("agent_message", "m")))
    for effect in entity.patches.values():
        name = effect.field  # type: ignore[attr-defined]
        if hasattr(effect, "null") and (entity.made.__name__, name) != ("Compaction", "status"):
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
