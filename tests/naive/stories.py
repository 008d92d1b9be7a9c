"""Lines as the tests of the second implementation write them: who wrote a line, and the line."""

from __future__ import annotations

import json
from typing import Any

from .replay import replay

Frames = list[tuple[bool, bytes]]


def line(**members: Any) -> bytes:
    """Write one message."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def said(name: str, session: str = "s", **fields: Any) -> tuple[bool, bytes]:
    """Write an update of the agent."""
    params = {"sessionId": session, "update": {"sessionUpdate": name, **fields}}
    return False, line(method="session/update", params=params)


def called(method: str, request_id: Any = None, **params: Any) -> tuple[bool, bytes]:
    """Write a request or notification of the client."""
    numbered = {} if request_id is None else {"id": request_id}
    return True, line(**numbered, method=method, params={"sessionId": "s", **params})


def answered(request_id: Any, **outcome: Any) -> tuple[bool, bytes]:
    """Write an answer of the agent."""
    return False, line(id=request_id, **outcome)


def refused(request_id: Any, code: int = 1) -> tuple[bool, bytes]:
    """Write an error of the agent."""
    return answered(request_id, error={"code": code, "message": "no"})


def replied(request_id: Any, **outcome: Any) -> tuple[bool, bytes]:
    """Write an answer of the client."""
    return True, line(id=request_id, **outcome)


def permission(request_id: Any, session: str = "s", **more: Any) -> tuple[bool, bytes]:
    """Write a permission request of the agent."""
    option = {"optionId": "o", "name": "O", "kind": "allow_once"}
    params = {"sessionId": session, "title": "T", "options": [option], **more}
    return False, line(id=request_id, method="session/request_permission", params=params)


def withdrawn(request_id: Any) -> tuple[bool, bytes]:
    """Write that the agent needs no answer any more."""
    return False, line(method="$/cancel_request", params={"requestId": request_id})


def call(name: str, **fields: Any) -> tuple[bool, bytes]:
    """Write an update of a tool call."""
    return said("tool_call_update", toolCallId=name, **fields)


PROMPT = called("session/prompt", 1, prompt=[{"type": "text", "text": "hi"}])
ECHO = said("user_message", messageId="m")
RUNNING = said("state_update", state="running")
IDLE = said("state_update", state="idle")
CANCEL = called("session/cancel")
RESUME = called("session/resume", 2, cwd="/", replayFrom={"type": "start"})


def only(frames: Frames) -> dict[str, Any]:
    """Replay frames that make one session."""
    (session,) = replay(frames)["sessions"]
    assert isinstance(session, dict)
    return session


def kinds(document: dict[str, Any]) -> list[tuple[int, str]]:
    """Return lines and kinds of the problems."""
    return [(problem["line"], problem["kind"]) for problem in document["problems"]]
