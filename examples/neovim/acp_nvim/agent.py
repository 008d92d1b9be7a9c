"""The agent's process, and the pipes to it."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import acp_client as acp
from acp_client import wire


class Agent:
    """Runs an agent, feeds all that it writes to a store, and writes what the store queues.

    A thread of its own writes: no other one ever waits for an agent that does not read.
    """

    def __init__(self, command: list[str], store: acp.Store) -> None:
        self._store = store
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe)
        self._something_to_send = threading.Event()
        store.on_data_to_send = self._something_to_send.set
        threading.Thread(target=self._write, daemon=True).start()

    def open_session(
        self, directory: str, opened: Callable[[str], object], refused: Callable[[str], object]
    ) -> None:
        """Ask for a session in a directory; call one of the functions when the answer is there."""

        def opened_or_refused(answer: wire.NewSessionResponse | wire.Error) -> None:
            if isinstance(answer, wire.Error):
                refused(answer.message)
            else:
                opened(answer.session_id)

        def initialized(answer: wire.InitializeResponse | wire.Error) -> None:
            if isinstance(answer, wire.Error):
                refused(answer.message)
            else:
                self._store.new_session(directory, on_answer=opened_or_refused)

        self._store.initialize("acp-client-neovim", acp.__version__, on_answer=initialized)

    def listen(self) -> None:
        """Read until the agent ends."""
        output: Any = self._process.stdout
        while data := os.read(output.fileno(), 65536):
            self._store.receive(data)

    def _write(self) -> None:
        pipe: Any = self._process.stdin
        with suppress(OSError, ValueError):  # the agent is gone, which `listen` notices too
            while True:
                self._something_to_send.wait()
                self._something_to_send.clear()
                pipe.write(self._store.data_to_send())
                pipe.flush()

    def stop(self) -> None:
        """End the process."""
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
