"""Uses of the public face as a user would write them: checked by mypy, and never executed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_type

import acp_client
from acp_client import Limits, Snapshot, Store, wire


def drive(agent: Iterable[bytes]) -> bytes:
    """Feed a store with bytes, and write what it gives."""
    store = Store(limits=Limits(notices=10, terminal_bytes=1_000_000))
    for data in agent:
        store.receive(data)
        store.receive(bytearray(data))
        store.receive(memoryview(data))
    store.sent(b"{}\n")
    store.end()
    store.disconnect()
    store.disconnect(wire.Error(1, "gone"))
    assert_type(store.sessions, tuple[str, ...])
    assert_type(store.snapshot("sess_1"), Snapshot)
    for problem in store.problems:
        assert_type(problem.line, int)
        assert_type(problem.path, str)
    assert_type(store.problem_counts["rejected"], int)
    out = store.prompt("sess_1", [wire.TextContent(text="hi"), wire.ResourceLink("a", "file:///a")])
    assert_type(out.data, bytes)
    assert_type(out.request_id, int | str)
    answer = store.answer_permission("sess_1", 5, "allow-once")
    declined = store.answer_permission("sess_1", out.request_id, None)
    return out.data + answer.data + declined.data + store.cancel("sess_1").data


def show(snapshot: Snapshot) -> list[str]:
    """Read a snapshot, entry by entry."""
    lines: list[str] = [snapshot.session_id]
    for entry in snapshot.entries:
        match entry:
            case acp_client.Message():
                lines.append(f"{entry.type} {entry.message_id}: {entry.text}")
                for block in entry.content:
                    assert_type(block, wire.ContentBlock)
            case acp_client.ToolCall():
                lines.append(f"{entry.kind} {entry.status} {entry.title or entry.tool_call_id}")
                lines += [location.path for location in entry.locations]
                if entry.raw_input is not None:
                    lines.append(str(entry.raw_input.value))
            case acp_client.Compaction():
                lines.append(entry.text)
            case acp_client.UnknownEntry():
                lines.append(str(entry.update.value))
    for terminal in snapshot.terminals:
        assert_type(terminal.output, bytes)
        assert_type(terminal.text, str)
    assert_type(snapshot.entries.message("user_message", "m1"), acp_client.Message | None)
    assert_type(snapshot.entries[0], acp_client.Entry)
    assert_type(snapshot.entries[1:], tuple[acp_client.Entry, ...])
    assert_type(snapshot.terminals.get("t1"), acp_client.Terminal | None)
    return lines


def read_the_rest(snapshot: Snapshot) -> None:
    """Read what stands beside the conversation."""
    if isinstance(snapshot.state, wire.StateUpdate):
        assert_type(snapshot.state.stop_reason is None, bool)
    else:
        assert_type(snapshot.state, wire.UnknownStateUpdate)
    if snapshot.usage is not None and snapshot.usage.cost is not None:
        assert_type(snapshot.usage.cost.amount, float)
    for plan in snapshot.plans:
        if isinstance(plan, wire.PlanItems):
            assert_type(plan.entries, tuple[wire.PlanEntry, ...])
    for prompt in snapshot.prompts:
        assert_type(prompt.echoed, bool)
    for permission in snapshot.permissions:
        assert_type(permission.options, tuple[wire.PermissionOption, ...])
        if isinstance(permission.subject, wire.ToolCallPermissionSubject):
            assert_type(permission.subject.tool_call.tool_call_id, str)
    assert_type(snapshot.before_replay, Snapshot | None)


def reduce(line: bytes) -> Snapshot:
    """Decode a line and apply what it holds."""
    message, problems = acp_client.decode(line)
    assert_type(problems, tuple[acp_client.Problem, ...])
    snapshot = Snapshot("sess_1")
    if isinstance(message, wire.Notification):
        params = message.params
        if isinstance(params, wire.UpdateSessionNotification):
            snapshot = acp_client.apply(snapshot, params.update)
    sent = acp_client.PromptSent(1, (wire.TextContent("hi"),))
    facts: list[acp_client.Event] = [sent, acp_client.CancelSent()]
    return acp_client.apply_all(snapshot, facts, limits=Limits())


def keep(snapshot: Snapshot) -> Snapshot:
    """Store a snapshot, and restore it."""
    data = acp_client.dumps(snapshot)
    assert_type(data, bytes)
    assert_type(acp_client.to_document(snapshot), dict[str, Any])
    try:
        return acp_client.loads(data.decode())
    except acp_client.StoredSnapshotError as error:
        raise SystemExit(str(error)) from error


def patch() -> wire.SessionUpdate:
    """Make an update by hand; three states of a field are three types."""
    update = wire.ToolCallUpdate("c1", title=None, status="failed")
    assert_type(update.title, str | wire.UnsetType | None)
    return update


def misuse(store: Store, snapshot: Snapshot) -> None:
    """Do what a type checker must refuse: an ignore that is not needed is an error."""
    store.prompt("sess_1", "hi")  # type: ignore[arg-type]  # content is a list of blocks
    store.receive("text")  # type: ignore[arg-type]  # bytes come in
    snapshot.entries[0] = None  # type: ignore[index]  # snapshots cannot be changed
    snapshot.session_id = "other"  # type: ignore[misc]  # nor can their fields
    acp_client.apply(snapshot, "event")  # type: ignore[arg-type]  # a string is no event
    Limits(100)  # type: ignore[call-arg]  # limits go by their names
    acp_client.Message("assistant", "m1")  # type: ignore[arg-type]  # no such kind of message
