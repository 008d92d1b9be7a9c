"""What each update does to a session."""

from __future__ import annotations

from typing import Any

from .parse import Json, Record, bytes_of, wire

NOTICE_LIMIT = 100


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
