"""Frames out of the recorded formats."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .json_text import BLANKS, UnreadableError, read_json, text_of
from .messages import request_id
from .parse import Json

Frame = tuple[Any, ...]


def read_recording(path: Path) -> Iterator[Frame]:
    """Return the frames of a recording: enveloped lines, or raw ones without a direction."""
    guess = Direction()
    *lines, last = path.read_bytes().split(b"\n")
    for number, line in enumerate([*lines, last] if last else lines, 1):
        envelope = open_envelope(line)
        if envelope is not None:
            yield (*envelope, number, False)
        else:
            yield guess.is_sent(line), line, number, number > len(lines)


def open_envelope(line: bytes) -> tuple[bool, bytes] | None:
    """Return direction and message of an enveloped line, the message as it is written there."""
    members = dict(raw_members(text_of(line)))
    if members.get("dir") not in ('"send"', '"recv"') or "message" not in members:
        return None
    sent, data = members["dir"] == '"send"', members["message"].encode()
    if data == b"null" and "rawBase64" in members:
        data = base64.b64decode(json.loads(members["rawBase64"]))
    elif data == b"null" and "raw" in members:
        data = json.loads(members["raw"]).encode("utf-8", "surrogatepass")
    return sent, data


def raw_members(text: str) -> Iterator[tuple[str, str]]:
    """Return the members of an object as keys and unparsed values, however deep these are."""
    depth, start, key, string = 0, None, "", ""
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]', text):
        mark = token[0]
        if depth == 1 and mark in ",}" and start is not None:
            yield key, text[start : token.start()].strip(BLANKS)
            start = None
        elif depth == 1 and mark == ":":
            key, start = string[1:-1], token.end()
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark, 0)
        string = mark


AGENT_METHODS = (
    "session/update",
    "session/request_permission",
    "elicitation/create",
    "elicitation/complete",
)
CLIENT_PREFIXES = ("initialize", "session/", "auth/", "tool_call/", "terminal/")


class Direction:
    """Guess who sent a line, from method, id and shape."""

    def __init__(self) -> None:
        self.client: set[Any] = set()
        self.agent: set[Any] = set()

    def is_sent(self, line: bytes) -> bool:
        """Return whether the client sent the line; what tells nothing came from the agent."""
        try:
            value = read_json(text_of(line))
        except UnreadableError:
            return False
        message = value[0] if isinstance(value, list) and value else value
        return isinstance(message, dict) and self.judge(message)

    def judge(self, message: dict[str, Json]) -> bool:
        """Judge one message and remember which requests are open."""
        asked, method = request_id(message), message.get("method")
        if method == "$/cancel_request":
            params = message.get("params")
            cancelled = params.get("requestId") if isinstance(params, dict) else None
            return request_id({"id": cancelled}) not in self.agent
        if isinstance(method, str):
            sent = method not in AGENT_METHODS and method.startswith(CLIENT_PREFIXES)
            if asked is not None:
                (self.client if sent else self.agent).add(asked)
            return sent
        result = message.get("result")
        fits = isinstance(result, dict) and ("outcome" in result or "action" in result)
        plain_error = "error" in message and asked not in self.client
        sent = asked in self.agent and (fits or plain_error)
        (self.agent if sent else self.client).discard(asked)
        return sent
