"""The agent's process, and the pipes to it."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from contextlib import suppress
from typing import IO, Any, cast

import acp_client as acp
from acp_client import wire

NOT_FOUND = -32601


class AgentError(Exception):
    """The agent refused what every session begins with, or has ended."""


class Agent:
    """Runs an agent, and gives all that it writes to a store.

    What is to be written waits in an outbox for a thread of its own: whoever reads or draws must
    never wait for an agent that does not read.
    """

    def __init__(self, command: list[str], store: acp.Store) -> None:
        self._store = store
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe)
        self._output = cast("IO[bytes]", self._process.stdout)
        self._outbox: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.write = self._outbox.put
        threading.Thread(target=self._empty_outbox, daemon=True).start()

    def _empty_outbox(self) -> None:
        pipe = cast("IO[bytes]", self._process.stdin)
        with suppress(OSError):  # the agent is gone: whoever reads finds that out
            while True:
                pipe.write(self._outbox.get())
                pipe.flush()

    def open_session(self, directory: str) -> str:
        """Begin a session in a directory; return its id."""
        info = {"name": "acp-client-neovim", "version": acp.__version__}
        self._ask("initialize", protocolVersion=2, info=info, capabilities={})
        result = self._ask("session/new", cwd=directory, mcpServers=[])
        return str(result["sessionId"])

    def _ask(self, method: str, **params: Any) -> Any:
        """Make a request, and read until its result comes."""
        request = _line(id=method, method=method, params=params)
        self._store.sent(request)  # before it is written: the answer must find it
        self.write(request)
        for line in self._output:
            message = self._receive(line)
            if isinstance(message, wire.Response) and message.id == method:
                if message.result is not None:
                    return message.result.value
                raise AgentError(message.error.message if message.error else f"bad {method}")
        raise AgentError("the agent has ended")

    def listen(self) -> None:
        """Read until the agent ends."""
        for line in self._output:
            self._receive(line)

    def _receive(self, line: bytes) -> wire.Message | None:
        """Give the store a line; refuse a request that is none of its business."""
        self._store.receive(line)
        if b'"session/update"' in line:
            return None
        message, _ = acp.decode(line)
        if isinstance(message, wire.Request) and message.method != "session/request_permission":
            error = {"code": NOT_FOUND, "message": f"{message.method} is not offered"}
            self.write(_line(id=message.id, error=error))
        return message

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()


def _line(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"
