"""What each update does to a session.

The fields of an update are those of its definition in the schema: an omitted one is left alone, a
null one goes back to its default, and a value replaces.
"""

from __future__ import annotations

from typing import Any

from .parse import Json, Record, bytes_of, wire

NOTICE_LIMIT = 100

Now = dict[str, Any]
Update = dict[str, Json]


def fresh() -> Now:
    """Return what a session starts from, and starts from again in a replay."""
    return {
        "entries": [],
        "index": {},  # entries by kind and id
        "terminals": {},
        "plans": {},
        "state": None,
        "work_began": 0,  # entries there were when foreground work began
        "cancelling": False,
        "turns": [],
        "usage": None,
        "info": {"title": None, "updatedAt": None, "_meta": {}},
        "availableCommands": [],
        "configOptions": [],
        "blocked": set(),  # the lists that an update has reported
        "notices": [],
    }


def apply(now: Now, update: Json) -> None:
    """Apply one update; what is not a `Record` is unknown and becomes an entry as it is."""
    if isinstance(update, Record):
        HANDLERS[update["sessionUpdate"]](now, {key: wire(value) for key, value in update.items()})
    else:
        now["entries"].append({"type": "unknown", "update": update})


# -------- entries

# What a field of an entry is before it is reported, and again after null; the rest is unset.
DEFAULTS: dict[str, dict[str, Json]] = {
    "user_message": {"content": []},
    "agent_message": {"content": []},
    "agent_thought": {"content": []},
    "tool_call": {"content": [], "locations": [], "kind": "other", "status": "pending"},
    "compaction": {"summary": [], "status": "in_progress"},
}
KEYS = {"tool_call": "toolCallId", "compaction": "compactionId"}


def entry_of(now: Now, kind: str, update: Update) -> dict[str, Any]:
    """Find an entry by kind and id, or put a new one at the end."""
    key = KEYS.get(kind, "messageId")
    entry: dict[str, Any] | None = now["index"].get((kind, update[key]))
    if entry is None:
        entry = {"type": kind, key: update[key]} | DEFAULTS[kind] | {"_meta": {}, "chunkMeta": {}}
        now["index"][kind, update[key]] = entry
        now["entries"].append(entry)
    return entry


def upsert(now: Now, kind: str, update: Update) -> dict[str, Any]:
    """Patch the fields that the update has."""
    entry = entry_of(now, kind, update)
    for name, value in update.items():
        if name not in ("sessionUpdate", "_meta"):
            entry[name] = DEFAULTS[kind].get(name) if value is None else value
    if "content" in update:
        entry["chunkMeta"] = {}
    patch_meta(entry, update)
    return entry


def append(now: Now, kind: str, update: Update) -> None:
    """Append one content item, with the metadata of its chunk beside it."""
    entry = entry_of(now, kind, update)
    if update.get("_meta"):
        entry["chunkMeta"][str(len(entry["content"]))] = update["_meta"]
    entry["content"] = [*entry["content"], update["content"]]


def apply_message(now: Now, update: Update) -> None:
    """Upsert a message or thought."""
    upsert(now, update["sessionUpdate"], update)


def apply_message_chunk(now: Now, update: Update) -> None:
    """Append to a message or thought."""
    append(now, update["sessionUpdate"].removesuffix("_chunk"), update)


def apply_tool_call(now: Now, update: Update) -> None:
    """Upsert a tool call; a reported status takes our cancel mark away."""
    entry = upsert(now, "tool_call", update)
    entry["marked"] = entry.get("marked", False) and "status" not in update
    if "status" in update and entry["status"] in ("completed", "failed", "cancelled"):
        entry.pop("cancelRequested", None)


def apply_tool_call_chunk(now: Now, update: Update) -> None:
    """Append to the content of a tool call."""
    append(now, "tool_call", update)


def apply_compaction(now: Now, update: Update) -> None:
    """Upsert a compaction."""
    upsert(now, "compaction", update)


def apply_summary_chunk(now: Now, update: Update) -> None:
    """Append to the summary of a compaction."""
    entry = entry_of(now, "compaction", update)
    entry["summary"] = [*entry["summary"], update["content"]]


# -------- terminals and plans


def terminal_of(now: Now, update: Update) -> dict[str, Any]:
    """Find a terminal by its id, or begin a new one."""
    empty = {"output": b"", "outputMeta": {}, "_meta": {}}
    terminal: dict[str, Any] = now["terminals"].setdefault(update["terminalId"], empty)
    return terminal


def apply_terminal(now: Now, update: Update) -> None:
    """Upsert a terminal."""
    terminal = terminal_of(now, update)
    for name, value in update.items():
        if name not in ("sessionUpdate", "terminalId", "_meta", "output"):
            terminal[name] = value
    if update.get("exitStatus") is not None:
        terminal.pop("cancelRequested", None)
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


def apply_plan_removed(now: Now, update: Update) -> None:
    """Remove the plan of that id; one that comes again stands last."""
    now["plans"].pop(update["planId"], None)


# -------- the state and the turns


def is_idle(state: Json) -> bool:
    """Whether no foreground work goes on: idle, or nothing was ever reported."""
    return state is None or state["state"] == "idle"


def apply_state(now: Now, update: Update) -> None:
    """Replace the state; leaving idle begins foreground work and a turn, idle ends both."""
    state = update["state"]
    if is_idle(now["state"]) and not is_idle(state):
        now["work_began"] = len(now["entries"])
    now["state"] = state
    if is_idle(state):
        now["cancelling"] = False
        end_turn(now, {key: state[key] for key in ("stopReason", "usage", "error") if key in state})
    elif not is_in_turn(now):
        now["turns"].append({"entries": [len(now["entries"])]})


def is_in_turn(now: Now) -> bool:
    """Whether the last turn is open."""
    return bool(now["turns"]) and len(now["turns"][-1]["entries"]) == 1


def end_turn(now: Now, how: dict[str, Json]) -> None:
    """End the open turn, if there is one."""
    if is_in_turn(now):
        start = now["turns"][-1]["entries"][0]
        now["turns"][-1] = {"entries": [start, len(now["entries"])], **how}


# -------- the rest of a session


def apply_usage(now: Now, update: Update) -> None:
    """Replace the usage; its cost stays where none is reported."""
    usage = now["usage"] or {"cost": None}
    now["usage"] = usage | {key: update[key] for key in ("used", "size", "cost") if key in update}


def apply_info(now: Now, update: Update) -> None:
    """Patch title, time and metadata of the session."""
    fields = {key: update[key] for key in ("title", "updatedAt") if key in update}
    now["info"] = now["info"] | fields
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
    "plan_removed": apply_plan_removed,
    "state_update": apply_state,
    "usage_update": apply_usage,
    "session_info_update": apply_info,
    "available_commands_update": apply_commands,
    "config_option_update": apply_config_options,
    "notice": apply_notice,
    "compaction_update": apply_compaction,
    "compaction_summary_chunk": apply_summary_chunk,
}


def patch_meta(target: dict[str, Any], update: Update) -> None:
    """Patch metadata by key."""
    if "_meta" not in update:
        return
    if update["_meta"] is None:
        target["_meta"] = {}
    else:
        target["_meta"] = dropping_none(target["_meta"] | update["_meta"])


def dropping_none(values: dict[str, Json]) -> dict[str, Json]:
    """Return the members that are not null."""
    return {key: value for key, value in values.items() if value is not None}
