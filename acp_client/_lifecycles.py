"""The lifecycles of the parts of a session, as literal tables.

Each table lists every transition: it maps a phase and a step to the next phase. Any other pair
leaves the phase unchanged. The table of prompts is in `_prompts`, that of a connection's phases in
`_connection`; `tests/test_lifecycles.py` visits each pair of every table.
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

After a loss the last reported state stays, but nothing is being cancelled any more.
"""

TurnPhase: TypeAlias = Literal["none", "open"]
TurnStep: TypeAlias = Literal["reported idle", "reported work", "loss"]

TURNS: Final[dict[tuple[TurnPhase, TurnStep], TurnPhase]] = {
    ("none", "reported work"): "open",
    ("open", "reported idle"): "none",
    ("open", "loss"): "none",
}
"""A turn: one stretch of foreground work, which a lost connection may cut short."""

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
"""A replay and the history before it: the newest replay counts, and one history is kept."""

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
"""An elicitation; `None` means that it was removed. Only one for a URL can be completed.

An accepted elicitation has no request any more, so it can neither be answered nor withdrawn. One
for a URL is done when both sides have said so, in either order.
"""
