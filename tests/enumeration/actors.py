"""What each actor does: its scripts, one of which is chosen. A step is a verb and what it is about.

The casts are small enough to be tried in every order, and together they have each actor beside
each other one.
"""

from __future__ import annotations

from .interleavings import Script


def prompt(name: str) -> list[Script]:
    """Return the lives of a prompt: no answer, an answer before or after its echo, an error."""
    sent, echo = f"prompt {name}", f"echo {name}"
    return [
        (sent, echo),
        (sent, f"accept {name}", echo),
        (sent, echo, f"accept {name}"),
        (sent, f"refuse {name}"),
        (sent, f"withdraw {name}"),
        (sent, f"confuse {name}"),
    ]


def short_prompt(name: str) -> list[Script]:
    """Return a prompt that is answered, echoed or refused."""
    return [
        (f"prompt {name}", f"accept {name}", f"echo {name}"),
        (f"prompt {name}", "refuse " + name),
    ]


def permission(name: str) -> list[Script]:
    """Return the lives of a permission request."""
    asked = f"ask {name}"
    return [
        (asked, f"permit {name}"),
        (asked, f"take back {name}"),
        (asked, asked),
        (asked, f"permit {name}", asked),
    ]


FORM: list[Script] = [("form e", "fill e"), ("form e", "take back e"), ("form e", "form e")]
URL: list[Script] = [("url e", "fill e", "complete e"), ("url e", "complete e", "decline e")]
MIXED: list[Script] = [("ask e", "url e"), ("form e", "ask e", "permit e")]
CANCEL: list[Script] = [("cancel",)]
WORK: list[Script] = [("run", "stop"), ("run", "block", "stop"), ("run", "stop", "run")]
CALL: list[Script] = [("call", "finish")]
REPLAY: list[Script] = [
    ("replay r", "say", "replayed r"),
    ("replay r", "say", "unreplayed r"),
    ("replay r", "say", "garble r"),
]
OVERLAP: list[Script] = [
    ("replay r", "replay q", "replayed r", "replayed q"),
    ("replay r", "replay q", "unreplayed q", "replayed r"),
    ("replay r", "resume q", "replayed q", "unreplayed r"),
    ("replay r", "replay q", "unreplayed r", "unreplayed q"),
]
CLOSE: list[Script] = [("close c", "closed c"), ("close c", "gone c"), ("close c", "unclosed c")]
LOSS: list[Script] = [("lose",)]
OPTION: list[Script] = [("set o", "set done o"), ("set o", "set failed o"), ("options",)]

CASTS: dict[str, list[list[Script]]] = {
    "three prompts": [prompt("a"), prompt("b"), prompt("c")],
    "two prompts, loss": [prompt("a"), prompt("b"), LOSS],
    "prompt, work, cancel": [prompt("a"), WORK, CANCEL, CALL],
    "prompt, replay": [prompt("a"), REPLAY],
    "prompt, replay, loss": [short_prompt("a"), REPLAY, LOSS],
    "prompt, overlapping replays": [prompt("a"), OVERLAP],
    "two permissions, cancel": [permission("p"), permission("q"), CANCEL],
    "two permissions, close": [permission("p"), permission("q"), CLOSE],
    "permission, work, cancel": [permission("p"), WORK, CANCEL, CALL],
    "permission, replay, cancel": [permission("p"), REPLAY, CANCEL],
    "permission, form, url": [permission("p"), FORM, CANCEL],
    "elicitations, close, loss": [[*FORM, *URL], CLOSE, LOSS],
    "elicitation, permission of its id": [[*FORM, *URL], MIXED],
    "elicitation, replay": [[*FORM, *URL], REPLAY],
    "work, replay, cancel": [WORK, REPLAY, CANCEL, CALL],
    "work, overlapping replays": [WORK, OVERLAP],
    "work, loss": [WORK, CALL, CANCEL, LOSS],
    "close, replay, loss": [CLOSE, REPLAY, LOSS],
    "options, replay": [OPTION, OPTION, REPLAY],
    "options, loss": [OPTION, LOSS, CANCEL],
}
