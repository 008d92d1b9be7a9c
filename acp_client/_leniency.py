"""How malformed fields degrade: the schema's leniency annotations as a table.

The ACP v2 schema says field by field what a reader does with a malformed value. Three of its
annotations matter here:

- `DEFAULT` (`x-deserialize-default-on-error`): the field is taken as absent; a list that may not
  be `null` becomes an empty one.
- `SKIP` (`x-deserialize-skip-invalid-items`): malformed items of the list are left out.
- `EMPTY_NULL` (`x-deserialize-default-on-null`): `null` is an empty list.

A field without an entry is strict: what is wrong in it makes the object around it malformed, and
so on upwards to the nearest lenient field or list item. `_meta` is `DEFAULT` in every object, so
it has no entry.
"""

from __future__ import annotations

import enum
from typing import Final


class Leniency(enum.Flag):
    """What happens to a malformed value of a field."""

    STRICT = 0
    DEFAULT = enum.auto()
    SKIP = enum.auto()
    EMPTY_NULL = enum.auto()


STRICT = Leniency.STRICT
DEFAULT = Leniency.DEFAULT
SKIP = Leniency.SKIP
EMPTY_NULL = Leniency.EMPTY_NULL

_MESSAGE: Final = {"content": DEFAULT | SKIP}
_FILE: Final = {"fileType": DEFAULT, "mimeType": DEFAULT}
_OPTION: Final = {"description": DEFAULT, "category": DEFAULT}
_SESSION_LISTS: Final = {"configOptions": DEFAULT | SKIP, "availableCommands": DEFAULT | SKIP}
_CONTENTS: Final = {"mimeType": DEFAULT}
_PROPERTY: Final = {"title": DEFAULT, "description": DEFAULT, "default": DEFAULT}

LENIENCY: Final[dict[str, dict[str, Leniency]]] = {
    "AgentAuthCapabilities": {"status": DEFAULT, "logout": DEFAULT},
    "AgentCapabilities": {
        "session": DEFAULT,
        "auth": DEFAULT,
        "providers": DEFAULT,
        "loadSession": DEFAULT,
    },
    "AgentMessage": _MESSAGE,
    "AgentThought": _MESSAGE,
    "Annotations": {"audience": DEFAULT | SKIP, "lastModified": DEFAULT, "priority": DEFAULT},
    "AudioContent": {"annotations": DEFAULT},
    "AuthMethodAgent": {"description": DEFAULT},
    "AuthMethodTerminal": {"description": DEFAULT, "args": EMPTY_NULL, "env": EMPTY_NULL},
    "AvailableCommandsUpdate": {"availableCommands": SKIP},
    "BlobResourceContents": _CONTENTS,
    "Command": {"input": DEFAULT},
    "BooleanPropertySchema": _PROPERTY,
    "CommandPermissionSubject": {"toolCallId": DEFAULT, "terminalId": DEFAULT},
    "CompactionUpdate": {"summary": DEFAULT | SKIP, "error": DEFAULT},
    "ConfigOptionUpdate": {"configOptions": SKIP},
    "Diff": {"changes": SKIP, "patch": DEFAULT},
    "DiffAdd": _FILE,
    "DiffCopy": _FILE,
    "DiffDelete": _FILE,
    "DiffModify": _FILE,
    "DiffMove": _FILE,
    "ElicitationFormMode": {"toolCallId": DEFAULT},
    "ElicitationSchema": {"title": DEFAULT, "description": DEFAULT},
    "ElicitationUrlMode": {"toolCallId": DEFAULT},
    "EmbeddedResource": {"annotations": DEFAULT},
    "EnumOption": {"description": DEFAULT},
    "Error": {"data": DEFAULT},
    "Icon": {"mimeType": DEFAULT, "sizes": DEFAULT | SKIP, "theme": DEFAULT},
    "ImageContent": {"uri": DEFAULT, "annotations": DEFAULT},
    "Implementation": {"title": DEFAULT},
    "InitializeResponse": {"capabilities": DEFAULT, "authMethods": DEFAULT | SKIP},
    "IntegerPropertySchema": _PROPERTY,
    "ListSessionsResponse": {"sessions": DEFAULT | SKIP},
    "McpCapabilities": {"stdio": DEFAULT, "http": DEFAULT, "acp": DEFAULT},
    "MultiSelectPropertySchema": {**_PROPERTY, "default": DEFAULT | SKIP},
    "NewSessionResponse": _SESSION_LISTS,
    "Notice": {"description": DEFAULT},
    "NumberPropertySchema": _PROPERTY,
    "PlanItems": {"entries": SKIP},
    "PromptCapabilities": {"image": DEFAULT, "audio": DEFAULT, "embeddedContext": DEFAULT},
    "RequestPermissionRequest": {"description": DEFAULT},
    "ResourceLink": {
        "title": DEFAULT,
        "description": DEFAULT,
        "icons": DEFAULT | SKIP,
        "mimeType": DEFAULT,
        "size": DEFAULT,
        "annotations": DEFAULT,
    },
    "ResumeSessionResponse": _SESSION_LISTS,
    # Not of the schema: what this side sent is read as far as it can be.
    "SentPromptRequest": {"prompt": DEFAULT | SKIP},
    "SessionCapabilities": {
        "prompt": DEFAULT,
        "mcp": DEFAULT,
        "delete": DEFAULT,
        "additionalDirectories": DEFAULT,
        "systemPrompt": DEFAULT,
        "fork": DEFAULT,
        "archive": DEFAULT,
        "status": DEFAULT,
        "title": DEFAULT,
        "list": DEFAULT,
        "resume": DEFAULT,
        "close": DEFAULT,
    },
    "SessionConfigBoolean": _OPTION,
    "SessionConfigSelect": _OPTION,
    "SessionConfigSelectGroup": {"options": DEFAULT | SKIP},
    "SessionConfigSelectOption": {"description": DEFAULT},
    "SessionInfo": {
        "additionalDirectories": EMPTY_NULL,
        "title": DEFAULT,
        "updatedAt": DEFAULT,
        "archived": DEFAULT,
    },
    "SessionInfoUpdate": {"title": DEFAULT, "updatedAt": DEFAULT},
    # What this side sent is read as far as it can be.
    "SetSessionConfigOptionRequest": {"configId": DEFAULT, "value": DEFAULT},
    "SetSessionConfigOptionResponse": {"configOptions": SKIP},
    "StateUpdate": {
        "background": DEFAULT,
        "stopReason": DEFAULT,
        "error": DEFAULT,
        "usage": DEFAULT,
    },
    "StringPropertySchema": _PROPERTY,
    "TerminalCapabilities": {"cancel": DEFAULT},
    "TerminalExitStatus": {"exitCode": DEFAULT, "signal": DEFAULT},
    "TerminalUpdate": {
        "command": DEFAULT,
        "cwd": DEFAULT,
        "output": DEFAULT,
        "exitStatus": DEFAULT,
        "size": DEFAULT,
        "capabilities": DEFAULT,
    },
    "TextContent": {"annotations": DEFAULT},
    "TextResourceContents": _CONTENTS,
    "ToolCallCapabilities": {"cancel": DEFAULT},
    "ToolCallLocation": {"line": DEFAULT},
    "ToolCallUpdate": {
        "name": DEFAULT,
        "title": DEFAULT,
        "kind": DEFAULT,
        "status": DEFAULT,
        "content": DEFAULT | SKIP,
        "locations": DEFAULT | SKIP,
        "rawInput": DEFAULT,
        "rawOutput": DEFAULT,
        "capabilities": DEFAULT,
    },
    "Usage": {
        "thoughtTokens": DEFAULT,
        "cachedReadTokens": DEFAULT,
        "cachedWriteTokens": DEFAULT,
    },
    "UsageUpdate": {"cost": DEFAULT},
    "UserMessage": _MESSAGE,
}
"""By the name of the wire class, then by the JSON key."""

UNKNOWN_VARIANT_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "items": ("planId",),
    "command": ("name", "description"),
    "select": ("configId", "name"),
    "agent": ("methodId", "name"),
}
"""String keys that an unknown variant must have, by a tag of the known variants beside it.

The tag `command` is also a permission subject's, whose unknown variants need no key; that union
is told apart by its other tag, `tool_call`.
"""


def leniency(class_name: str, key: str) -> Leniency:
    """Return what a malformed value under `key` of the named wire class does."""
    return DEFAULT if key == "_meta" else LENIENCY.get(class_name, {}).get(key, STRICT)
