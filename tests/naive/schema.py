"""The schema as tables: which fields there are, in which order, and how each one degrades.

A kind is the name of a scalar, of a row in `RECORDS` or `UNIONS`, a range of numbers, or a list:
("skip", kind, least) drops bad items, ("all", kind, least) is bad when one item is.
A field is (kind, mode):

- needed: absent, null or malformed is an error
- nullable: may be absent or null; malformed is an error
- lenient: may be absent or null; malformed counts as absent
- emptied: may be absent; null or malformed is []
- present: must be there; null or malformed is []
"""

from __future__ import annotations

from typing import Any

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
