"""The snapshot document of a session."""

from __future__ import annotations

import base64
from typing import Any

from .parse import Record, wire
from .updates import dropping_none


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
