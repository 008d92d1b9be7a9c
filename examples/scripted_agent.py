"""An agent that plays a recording: `python scripted_agent.py RECORDING [--speed FACTOR]`.

It speaks ACP over standard input and output as any agent does, so a client can be tried and tested
without one. RECORDING has lines of `{"dir": …, "ts": …, "message": …}`, see `examples/recordings/`.
Its two sides are played differently:

- What the *client* wrote is waited for: a prompt is not answered before the client has sent one, in
  its own words and under its own id. `initialize` and `session/new` are answered even if they are
  not recorded. What the recording does not wait for is refused.
- What the *agent* wrote is sent at the recorded pace, FACTOR times as fast (0: at once). Answers
  get the ids under which the client has asked. What follows the answer to a permission request
  waits until the client has given one, whatever it is.

A `session/cancel` ends the current work: open requests are answered, the session is reported idle,
and the recording goes on at its next prompt. Where a cancel is recorded, what follows is played
once it has come, or the permission request that is open then was answered instead.
"""

from __future__ import annotations

import argparse
import base64
import json
import queue
import sys
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

Fields = dict[str, Any]

AWAITED = frozenset({"initialize", "session/new", "session/prompt", "session/resume"})
"""Requests of the client that are waited for; others are passed over."""

ECHOES = frozenset({"user_message", "user_message_chunk"})


class HungUpError(Exception):
    """The client has closed its end."""


class Client:
    """The other end: what it has asked, answered and cancelled so far."""

    def __init__(self, source: BinaryIO, sink: BinaryIO, ready: Fields) -> None:
        """Take what is answered at once: results by method."""
        self.asked: defaultdict[str, deque[Any]] = defaultdict(deque)
        self.answered: set[str] = set()
        self.cancelled: str | None = None
        self._sink = sink
        self._ready = ready
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(source,), daemon=True).start()

    def _read(self, source: BinaryIO) -> None:
        for line in source:
            self._lines.put(line)
        self._lines.put(b"")

    def write(self, line: bytes) -> None:
        """Write one line."""
        self._sink.write(line + b"\n")
        self._sink.flush()

    def send(self, **members: Any) -> None:
        """Write a message."""
        self.write(json.dumps({"jsonrpc": "2.0", **members}).encode())

    def refuse(self, request_id: Any, reason: str) -> None:
        """Answer a request with an error."""
        self.send(id=request_id, error={"code": -32000, "message": reason})

    def listen(self, timeout: float | None = None) -> bool:
        """Take one message if one comes in time. Raises `HungUpError` when none will come."""
        try:
            line = self._lines.get(timeout=timeout)
        except queue.Empty:
            return False
        if not line:
            raise HungUpError
        self._take(json.loads(line))
        return True

    def _take(self, message: Fields) -> None:
        method = message.get("method")
        if method is None:
            self.answered.add(_key(message))
        elif method == "session/cancel":
            self.cancelled = message["params"]["sessionId"]
        elif method in self._ready:
            self.send(id=message["id"], result=self._ready[method])
        elif method in AWAITED:
            self.asked[method].append(message["id"])
        elif "id" in message:
            self.refuse(message["id"], f"{method} is not played")

    def listen_until(self, is_enough: Callable[[], bool]) -> None:
        """Take messages until there is enough."""
        while not is_enough():
            self.listen()

    def wait_for(self, method: str) -> Any:
        """Return the id of the oldest request with a method that was not taken up yet."""
        requests = self.asked[method]
        self.listen_until(lambda: bool(requests))
        return requests.popleft()


class Player:
    """Plays the frames of one recording to a client."""

    def __init__(self, client: Client, frames: list[Fields], speed: float) -> None:
        self._client = client
        self._frames = frames
        self._speed = speed
        self._ids: dict[str, Any] = {}  # by the id of a recorded request: the client's own
        self._permission = ""
        self._skipping = False
        self._begun = time.monotonic(), frames[0]["ts"] / 1000

    def play(self) -> None:
        """Play all frames, then refuse whatever the client still asks."""
        for frame in self._frames:
            if frame["dir"] == "send":
                self._follow(_fields(frame["message"]))
                self._begun = time.monotonic(), frame["ts"] / 1000
            else:
                self._deliver(frame)
        while True:
            for requests in self._client.asked.values():
                while requests:
                    self._client.refuse(requests.popleft(), "The recording is over")
            self._client.listen()

    # --- What the client wrote ---

    def _follow(self, message: Fields) -> None:
        """Wait until the client has done what is recorded of it."""
        method = message.get("method")
        if self._skipping and method != "session/prompt":
            return
        if method == "session/cancel":
            self._wait_for_cancel()
        elif method in AWAITED:
            self._ids[_key(message)] = self._client.wait_for(method)
            self._skipping, self._client.cancelled = False, None
        elif method is None and message:
            self._client.listen_until(lambda: _key(message) in self._client.answered)

    def _wait_for_cancel(self) -> None:
        client = self._client
        client.listen_until(lambda: bool(client.cancelled) or self._permission in client.answered)
        client.cancelled = None

    # --- What the agent wrote ---

    def _deliver(self, frame: Fields) -> None:
        message = _fields(frame["message"])
        key = _key(message)
        self._wait(frame["ts"] / 1000)
        if "result" in message or "error" in message:
            if key in self._ids:
                self._client.write(json.dumps(message | {"id": self._ids.pop(key)}).encode())
        elif not self._skipping or _update(message).get("sessionUpdate") in ECHOES:
            if "id" in message:
                self._permission = key
                self._client.answered.discard(key)
            self._client.write(frame["line"])

    def _wait(self, recorded: float) -> None:
        """Listen until a frame is due, unless its work was cancelled."""
        begun, since = self._begun
        due = begun + (recorded - since) / self._speed if self._speed else 0.0
        client = self._client
        while client.cancelled is None and client.listen(max(0.0, due - time.monotonic())):
            pass
        if client.cancelled is not None and not self._skipping:
            self._stop(client.cancelled)

    def _stop(self, session_id: str) -> None:
        self._skipping = True
        idle = {"sessionUpdate": "state_update", "state": "idle", "stopReason": "cancelled"}
        params = {"sessionId": session_id, "update": idle}
        self._client.send(method="session/update", params=params)


def _fields(value: Any) -> Fields:
    return value if isinstance(value, dict) else {}


def _key(message: Fields) -> str:
    return json.dumps(message.get("id"))


def _update(message: Fields) -> Fields:
    return _fields(_fields(message.get("params")).get("update"))


def read_frame(text: bytes) -> Fields:
    """Read a line of a recording; `line` is what was on the wire, to the letter."""
    frame: Fields = json.loads(text)
    _, _, message = text.decode().partition('"message":')
    _, end = json.JSONDecoder().raw_decode(message)
    raw = frame.get("rawBase64")
    return frame | {"line": message[:end].encode() if raw is None else base64.b64decode(raw)}


def ready_results(frames: list[Fields]) -> Fields:
    """Return answers to what every client begins with, where the recording has none."""
    messages = [_fields(frame["message"]) for frame in frames]
    recorded = {message.get("method") for message in messages}
    sessions = (_fields(message.get("params")).get("sessionId") for message in messages)
    info = {"name": "scripted-agent", "version": "1"}
    results = {
        "initialize": {"protocolVersion": 2, "info": info},
        "session/new": {"sessionId": next(filter(None, sessions), "session")},
    }
    return {method: results[method] for method in results if method not in recorded}


def main() -> None:
    """Play a recording to whoever is at the other end of standard input and output."""
    parser = argparse.ArgumentParser(description="An ACP agent that plays a recording.")
    parser.add_argument("recording", type=Path)
    parser.add_argument("--speed", type=float, default=1.0, help="times as fast (0: at once)")
    arguments = parser.parse_args()
    frames = [read_frame(line) for line in arguments.recording.read_bytes().splitlines()]
    # Not sys.stdin: Python wants to close that at the end, while a thread still reads it.
    source = open(0, "rb", closefd=False)  # noqa: SIM115  # the same: nothing may close it
    client = Client(source, sys.stdout.buffer, ready_results(frames))
    with suppress(HungUpError, BrokenPipeError):
        Player(client, frames, arguments.speed).play()


if __name__ == "__main__":
    main()
