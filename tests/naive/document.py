"""The snapshot document of a session."""

from __future__ import annotations

import base64
from typing import Any

from .parse import Json
from .rules import ALL
from .updates import dropping_none

HIDDEN_WHEN_EMPTY = ("_meta", "chunkMeta", "outputMeta", "locations")
PARTS = {  # what is shown by a rule
    "turns": "turns",
    "cancelling": "cancelling",
    "connectionLost": "loss",
    "elicitations": "elicitations",
}


def show_session(name: str, session: dict[str, Any], rules: frozenset[str] = ALL) -> dict[str, Any]:
    """Return the document of one session."""
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
        "configOptions": options_of(session, rules),
        "notices": now["notices"],
        "prompts": [show_prompt(prompt) for prompt in session["prompts"]],
        "permissions": session["permissions"],
        "elicitations": session["elicitations"] or None,
        "turns": now["turns"] or None,
        "replaying": True if session["replay"] else None,
        "cancelling": now["cancelling"] or None,
        "connectionLost": session["lost"],
    }
    hidden = {part for part, rule in PARTS.items() if rule not in rules}
    return dropping_none({key: shown[key] for key in shown if key not in hidden})


def options_of(session: dict[str, Any], rules: frozenset[str]) -> list[Json]:
    """Return the options, with the values that are asked for over the confirmed ones."""
    options: list[Json] = session["now"]["configOptions"]
    if "wanted" in rules:
        for config_id, value in session["wanted"].values():
            options = [
                option | {"currentValue": value} if takes(option, config_id, value) else option
                for option in options
            ]
    return options


def takes(option: dict[str, Any], config_id: Any, value: Json) -> bool:
    """Whether a value can be asked for of an option; of an unknown one anything can be."""
    kind = {"select": str, "boolean": bool}.get(option["type"], object)
    return option.get("configId") == config_id and isinstance(value, kind)


def show(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is unset, and the metadata and locations that are empty."""
    return {
        key: value
        for key, value in values.items()
        if value is not None and not (key in HIDDEN_WHEN_EMPTY and not value)
    }


def show_entry(entry: dict[str, Any]) -> dict[str, Any]:
    """Return the document of an entry, with our cancel mark laid over the reported status."""
    shown = {key: value for key, value in entry.items() if key != "marked"}
    if entry.get("marked"):
        shown |= {"status": "cancelled", "reportedStatus": entry["status"]}
    return shown if entry["type"] == "unknown" else show(shown)


def show_prompt(prompt: dict[str, Any]) -> dict[str, Any]:
    """Return the document of a prompt."""
    return dropping_none({key: prompt[key] for key in prompt if key != "was echoed"})


def base64_of(data: bytes) -> str:
    """Encode bytes."""
    return base64.b64encode(data).decode()
