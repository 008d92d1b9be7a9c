"""The lives of what comes and goes in a session, as literal tables.

Each table has every transition there is: by where a thing is and what happens, where it is then.
Any other pair leaves the thing as it is. Prompts have their table in `_prompts`, the phases of a
connection in `_connection`; `tests/test_lifecycles.py` visits each pair of all of them.
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

Foreground: TypeAlias = Literal["idle", "working", "cancelling"]
ForegroundStep: TypeAlias = Literal["reported idle", "reported work", "cancel", "loss"]

FOREGROUND: Final[dict[tuple[Foreground, ForegroundStep], Foreground]] = {
    ("idle", "reported work"): "working",
    ("working", "reported idle"): "idle",
    ("working", "cancel"): "cancelling",
    ("cancelling", "reported idle"): "idle",
    ("cancelling", "loss"): "working",
}
"""Foreground work, as the agent reports it; every state other than idle is work.

After a loss the last reported state stands, but nothing is being cancelled any more.
"""

TurnPhase: TypeAlias = Literal["none", "open"]
TurnStep: TypeAlias = Literal["reported idle", "reported work", "loss"]

TURNS: Final[dict[tuple[TurnPhase, TurnStep], TurnPhase]] = {
    ("none", "reported work"): "open",
    ("open", "reported idle"): "none",
    ("open", "loss"): "none",
}
"""A turn: one stretch of foreground work, or what a lost connection leaves of it."""

ReplayPhase: TypeAlias = Literal["none", "replaying"]
ReplayStep: TypeAlias = Literal["begin", "result", "error", "loss"]
ReplayAction: TypeAlias = Literal["set aside", "start again", "keep new", "restore old"]

REPLAYS: Final[dict[tuple[ReplayPhase, ReplayStep], tuple[ReplayPhase, ReplayAction]]] = {
    ("none", "begin"): ("replaying", "set aside"),
    ("replaying", "begin"): ("replaying", "start again"),
    ("replaying", "result"): ("none", "keep new"),
    ("replaying", "error"): ("none", "restore old"),
    ("replaying", "loss"): ("none", "restore old"),
}
"""A replay, and what happens to the history: the newest replay counts, and one history is kept."""

PermissionPhase: TypeAlias = Literal["none", "pending"]
PermissionStep: TypeAlias = Literal[
    "ask", "ask while cancelling", "answer", "withdraw", "cancel", "close", "loss"
]

PERMISSIONS: Final[dict[tuple[PermissionPhase, PermissionStep], PermissionPhase]] = {
    ("none", "ask"): "pending",
    ("pending", "ask"): "pending",
    ("pending", "ask while cancelling"): "none",
    ("pending", "answer"): "none",
    ("pending", "withdraw"): "none",
    ("pending", "cancel"): "none",
    ("pending", "close"): "none",
    ("pending", "loss"): "none",
}
"""A permission request under one id."""

ElicitationStatus: TypeAlias = Literal["pending", "accepted", "completed"]
ElicitationStep: TypeAlias = Literal[
    "accept a URL", "answer", "complete", "withdraw", "close", "loss"
]

ELICITATIONS: Final[dict[tuple[ElicitationStatus, ElicitationStep], ElicitationStatus | None]] = {
    ("pending", "accept a URL"): "accepted",
    ("pending", "answer"): None,
    ("pending", "complete"): "completed",
    ("pending", "withdraw"): None,
    ("pending", "close"): None,
    ("pending", "loss"): None,
    ("accepted", "complete"): None,
    ("accepted", "close"): None,
    ("accepted", "loss"): None,
    ("completed", "accept a URL"): None,
    ("completed", "answer"): None,
    ("completed", "withdraw"): None,
    ("completed", "close"): None,
    ("completed", "loss"): None,
}
"""An elicitation; `None` means that it is gone. Only that of a URL can be completed.

An accepted one has no request any more, so it can neither be answered nor withdrawn. A URL is done
when both sides said so, whichever was first.
"""
