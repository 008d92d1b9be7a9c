r"""What terminals show at the end of a conversation: `python emulated_terminal.py [RECORDING]`.

Without a recording, it reads what an agent writes from the standard input. It needs an emulator of
terminals, pyte (`pip install pyte`). To try it, from the root of the checkout:

    python examples/emulated_terminal.py examples/recordings/coding-session.ndjson

Each terminal has a screen, which is fed from changes. What it is fed is not trusted: sizes, screens
and time are bounded, and where there is no screen, the transcript is shown.
"""

from __future__ import annotations

import copy
import sys
import time
from typing import Any

import pyte

import acp_client
from acp_client import wire

DEFAULT_SIZE = wire.TerminalSize(cols=80, rows=24)
MOST_COLUMNS, MOST_ROWS = 200, 60  # an agent may say 65535, and a cell may take 200 bytes
MOST_SCREENS = 100  # the oldest go
MOST_SECONDS = 30.0  # of emulation in all: three bytes can rewrite a whole screen
MOST_BYTES = 100_000  # of each output that the store keeps: screens do not need them again
ALTERNATE_SCREEN = {47, 1047, 1049}
UNREADABLE = (TypeError, ValueError, UnboundLocalError, AssertionError)  # what pyte 0.8 raises


class Screen(pyte.Screen):
    """A screen of pyte's that takes any bytes, and has an alternate one."""

    unreadable = 0
    _main: Any = None  # cursor and rows of the main screen, while the alternate one is shown

    def __init__(self) -> None:
        super().__init__(DEFAULT_SIZE.cols, DEFAULT_SIZE.rows)
        self._stream = pyte.ByteStream(self)

    def feed(self, byte: bytes) -> None:
        """Take one byte: pyte drops what is behind the one that it raises for."""
        try:
            self._stream.feed(byte)
        except UNREADABLE:
            self.unreadable += 1
            self.ensure_vbounds()  # where it raises, it may have left the cursor outside
        del self.savepoints[:-9]  # pyte remembers any number

    def linefeed(self) -> None:
        """Begin a line: output that has passed no terminal has no carriage returns."""
        super().linefeed()
        self.carriage_return()

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        """Keep the row with the cursor; pyte would keep the lowest rows, even if empty."""
        self.set_margins()
        self.lines = max(lines or self.lines, self.cursor.y + 1)
        super().resize(lines, columns)
        self.tabstops = set(range(8, self.columns, 8))
        self.ensure_hbounds()
        self.ensure_vbounds()

    def set_mode(self, *modes: int, **private: bool) -> None:
        """Put the main screen aside where the alternate one is asked for."""
        super().set_mode(*modes, **private)
        if private and not self._main and ALTERNATE_SCREEN.intersection(modes):
            self._main = copy.copy(self.cursor), dict(self.buffer)
            self.buffer.clear()

    def reset_mode(self, *modes: int, **private: bool) -> None:
        """Take up the main screen again."""
        super().reset_mode(*modes, **private)
        if private and self._main and ALTERNATE_SCREEN.intersection(modes):
            (self.cursor, rows), self._main = self._main, None
            self.buffer.clear()
            self.buffer.update(rows)
            self.resize(self.lines, self.columns)  # it may have had another size

    @property
    def text(self) -> str:
        """The rows; pyte's `display` raises where half of a wide character is left."""
        rows = []
        for y in range(self.lines):
            cells = [self.buffer[y][x].data for x in range(self.columns)]
            wide = [False, *(acp_client.display_width(cell) == 2 for cell in cells)]
            rows.append("".join(cell or " " * (not wide[x]) for x, cell in enumerate(cells)))
        return "\n".join(map(str.rstrip, rows))


class Screens:
    """The screens of all sessions, by session and terminal."""

    def __init__(self) -> None:
        self._screens: dict[tuple[str, str], Screen] = {}
        self._seconds = MOST_SECONDS

    def draw(self, delivery: acp_client.Delivery) -> None:
        """Apply the changes that concern terminals."""
        session = delivery.session_id
        for change in delivery.changes:
            match change:
                case acp_client.Reset():
                    for key in [key for key in self._screens if key[0] == session]:
                        del self._screens[key]
                    for terminal in change.new.terminals:
                        self._begin(session, terminal)
                case acp_client.TerminalAdded() | acp_client.OutputReplaced():
                    self._begin(session, delivery.new.terminals[change.place])
                case acp_client.OutputAppended():  # the bytes that are `dropped` were fed long ago
                    self._feed(session, change.key, change.data)
                case acp_client.TerminalChanged() if "size" in change.fields:
                    self._resize(session, delivery.new.terminals[change.place])

    def text(self, session: str, terminal: acp_client.Terminal) -> str:
        """Return a line that says what a terminal is, and what it shows, safe to print."""
        about, shown = "not emulated: this is its transcript", terminal.text
        if screen := self._screens.get((session, terminal.terminal_id)):
            about, shown = f"{screen.columns} x {screen.lines}", screen.text
            about += f", unreadable sequences: {screen.unreadable}" * bool(screen.unreadable)
        name = acp_client.escape(terminal.command or terminal.terminal_id, keep_newlines=False)
        return f"[{name}, {about}]\n{acp_client.escape(shown.rstrip())}"

    def _begin(self, session: str, terminal: acp_client.Terminal) -> None:
        self._screens[session, terminal.terminal_id] = Screen()
        if len(self._screens) > MOST_SCREENS:
            del self._screens[next(iter(self._screens))]
        self._resize(session, terminal)
        self._feed(session, terminal.terminal_id, terminal.output)

    def _resize(self, session: str, terminal: acp_client.Terminal) -> None:
        size = terminal.size or DEFAULT_SIZE
        if screen := self._screens.get((session, terminal.terminal_id)):
            screen.resize(min(size.rows, MOST_ROWS), min(size.cols, MOST_COLUMNS))

    def _feed(self, session: str, terminal_id: str, data: bytes) -> None:
        end = time.monotonic() + self._seconds
        if screen := self._screens.get((session, terminal_id)):
            for place in range(len(data)):
                screen.feed(data[place : place + 1])
                if time.monotonic() > end:
                    del self._screens[session, terminal_id]
                    break
        self._seconds = end - time.monotonic()


def main() -> None:
    """Read a recording, and print what its terminals show at its end."""
    if len(sys.argv) > 2:
        sys.exit("usage: python emulated_terminal.py [RECORDING]")
    store = acp_client.Store(limits=acp_client.Limits(terminal_bytes=MOST_BYTES))
    screens = Screens()
    store.subscribe(screens.draw)
    try:
        with open(sys.argv[1] if sys.argv[1:] else 0, "rb") as stream:
            player = acp_client.Player(store, acp_client.read_recording(stream))
            # Line by line: a batch does not say which output came before a new size.
            while player.play(until=player.line + 1):
                pass
    except (OSError, acp_client.RecordingError) as error:
        sys.exit(acp_client.escape(str(error), keep_newlines=False))
    for session in store.sessions:
        for terminal in store.snapshot(session).terminals:
            print(screens.text(session, terminal), end="\n\n")


if __name__ == "__main__":
    main()
