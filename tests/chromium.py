"""A headless Chromium for tests of pages: opened over a pipe, asked in JavaScript, given keys."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
)


class Tab:
    """One page in the browser."""

    def __init__(self, read: int, write: int) -> None:
        self._answers = os.fdopen(read, "rb")
        self._commands = os.fdopen(write, "wb")
        self._numbers = itertools.count(1)
        self._session = ""
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, **params: Any) -> Any:
        """Send a command of the DevTools protocol and return its result."""
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": params}
        if self._session:
            command["sessionId"] = self._session
        self._commands.write(json.dumps(command).encode() + b"\0")
        self._commands.flush()
        while True:
            message = self._message()
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def _message(self) -> dict[str, Any]:
        data = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "the browser has gone"
            data += byte
        found: dict[str, Any] = json.loads(data)
        return found

    def open(self, path: Path) -> None:
        """Open a page in a new tab, and wait until it has loaded."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=path.as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message())

    def ask(self, script: str) -> Any:
        """Evaluate JavaScript; a promise is waited for."""
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """Press a key, and wait until the page was drawn."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code
            )
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def close(self) -> None:
        """Close the pipes."""
        self._answers.close()
        self._commands.close()


@contextmanager
def opened(path: Path, profile: Path) -> Iterator[Tab]:
    """Open a page in a browser of its own."""
    assert PROGRAM is not None
    command_read, command_write = os.pipe()
    answer_read, answer_write = os.pipe()

    def place() -> None:  # the browser reads from descriptor 3 and writes to 4
        first, second = os.dup(command_read), os.dup(answer_write)
        os.dup2(first, 3)
        os.dup2(second, 4)

    process = subprocess.Popen(
        [PROGRAM, *FLAGS, f"--user-data-dir={profile}"],
        preexec_fn=place,
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(command_read)
    os.close(answer_write)
    tab = Tab(answer_read, command_write)
    try:
        tab.open(path)
        yield tab
    finally:
        process.terminate()
        process.wait(timeout=30)
        tab.close()
