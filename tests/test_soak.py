"""A soak: an editor and its agents for a long time, and what the process takes stays level.

`ACP_CLIENT_SOAK_SECONDS` is how long it goes on, as fast as it can; two seconds unless it says
otherwise. Sessions are opened, replayed from recordings, damaged, watched, asked about, stored,
cut off, resumed, closed and evicted. Every session that nothing damaged must end as it did the
first time. With `-s` the figures are printed.
"""

from __future__ import annotations

import base64
import io
import os
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import attrs
import pytest
from msgspec.structs import replace
from toy_renderer import ToyRenderer, drawn
from traffic import BUNDLED, permission_line, text, update_line

import acp_client
from acp_client import Limits, Reader, Snapshot, Store
from acp_client._delivery import Delivery
from acp_client._recordings.frames import Frame
from acp_client._recordings.reading import read_recording

SECONDS = float(os.environ.get("ACP_CLIENT_SOAK_SECONDS", "2"))
LIVE = 20
"""Sessions that are open at a time."""

BUDGET = 400_000
"""Bytes by `Store.memory` over which the oldest sessions are evicted."""

MEMORY = Path("/proc/self/statm")
SAMPLES = 12

LIMITS = Limits(terminal_bytes=10_000, problems=50, line_length=100_000)
LOUD = base64.b64encode(b"loud\n" * 200).decode()
RECORDED = ("coding-session", "resume-replay", "two-sessions", "malformed")
JUNK = (
    b"Traceback (most recent call last):\n",
    b"\x1b[31mnot json\xff\xfe\n",
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":5}}\n',
    b"[" * 2_000 + b"\n",
    b"x" * 150_000 + b"\n",
)


def resident() -> float:
    """Tell the mebibytes that this process has in memory."""
    return int(MEMORY.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class Tape:
    """A recording that can be played under other session ids, again and again."""

    def __init__(self, name: str) -> None:
        data = (BUNDLED / f"{name}.ndjson").read_bytes()
        self.frames = list(read_recording(io.BytesIO(data)))
        store = Store(limits=LIMITS, protocol="v2")
        play(store, self.frames)
        self.names = list(store.sessions)
        self.ends = {name: store.snapshot(name) for name in self.names}

    def under(self, suffix: str) -> list[Frame]:
        """Give the frames with other session ids."""
        return [
            attrs.evolve(frame, data=self._renamed(frame.data, suffix)) for frame in self.frames
        ]

    def _renamed(self, data: bytes, suffix: str) -> bytes:
        for name in self.names:
            data = data.replace(f'"{name}"'.encode(), f'"{name}{suffix}"'.encode())
        return data


def play(store: Store, frames: list[Frame]) -> None:
    """Give a store what both peers said."""
    for frame in frames:
        (store.sent if frame.sent else store.receive)(frame.data + b"\n")


@dataclass
class Editor:
    """An editor that lives through sessions, each under a name of its own."""

    folder: Path
    chance: random.Random = field(default_factory=lambda: random.Random(6))
    store: Store = field(default_factory=lambda: Store(limits=LIMITS, protocol="v2"))
    tapes: list[Tape] = field(default_factory=lambda: [Tape(name) for name in RECORDED])
    live: list[str] = field(default_factory=list)
    readers: dict[str, Reader] = field(default_factory=dict)
    renderer: ToyRenderer = field(default_factory=lambda: ToyRenderer(Snapshot("nothing")))
    messages: int = 0
    sessions: int = 0
    evicted: int = 0

    def live_once(self) -> None:
        """Live through one recording: watch it, trouble it, look at its end, and tidy up."""
        tape, suffix = self.chance.choice(self.tapes), f" #{self.sessions}"
        names = [name + suffix for name in tape.names]
        watched = self.store.subscribe(self._draw(names[0]))
        troubled = self._played(tape.under(suffix))
        self.live += names
        self.sessions += len(names)
        if not troubled:
            self._compare(tape, suffix)
        for name in names:
            self._use(name)
        watched.close()
        self._tidy()

    def _draw(self, name: str) -> Callable[[Delivery], None]:
        self.renderer = ToyRenderer(Snapshot("nothing"))

        def draw(delivery: Delivery) -> None:
            if delivery.session_id == name:
                self.renderer.apply(delivery.changes)

        return draw

    def _played(self, frames: list[Frame]) -> bool:
        """Play frames, at times with trouble between them; tell whether there was any."""
        self.messages += len(frames)
        place = self.chance.randrange(len(frames))
        trouble = self.chance.choice((None, None, None, *TROUBLES))
        play(self.store, frames[:place])
        if trouble is not None:
            trouble(self, frames[place])
        play(self.store, frames[place:])
        return trouble in (TORN, LOST)

    def junk(self, _: Frame) -> None:
        """Let the agent's output hold what is no message."""
        self.store.receive(self.chance.choice(JUNK))

    def torn(self, frame: Frame) -> None:
        """Let a line be cut in its middle."""
        self.store.receive(frame.data[: len(frame.data) // 2] + b"\n")

    def lost(self, frame: Frame) -> None:
        """Lose the connection in the middle of a line."""
        self.store.receive(frame.data[: len(frame.data) // 2])
        self.store.disconnect()

    def _compare(self, tape: Tape, suffix: str) -> None:
        for name in tape.names:
            ended = self.store.snapshot(name + suffix)
            assert replace(ended, session_id=name) == tape.ends[name]
        assert self.renderer.drawn == drawn(self.store.snapshot(tape.names[0] + suffix))

    def _use(self, name: str) -> None:
        """Do with a session what a user does."""
        self.chance.choice(USES)(self, name)

    def prompt(self, name: str) -> None:
        """Send a prompt, allow what the agent asks, and cancel."""
        self.store.prompt(name, [text("more")])
        request = f"{name} asks"
        self.store.receive(permission_line(request, name))
        self.store.answer_permission(name, request, "yes")
        self.store.cancel(name)

    def shout(self, name: str) -> None:
        """Let a terminal say more than is kept."""
        lines = [
            update_line("terminal_output_chunk", name, terminalId="t", data=LOUD) for _ in range(50)
        ]
        self.store.receive(b"".join(lines))
        self.messages += len(lines)
        terminal = self.store.snapshot(name).terminals.get("t")
        assert terminal is not None
        assert len(terminal.output) <= 10_000
        assert terminal.text.endswith("loud\n")

    def read(self, name: str) -> None:
        """Draw at one's own pace, or not at all."""
        self.readers[name] = self.store.reader(name)
        self.readers[name].take()

    def keep(self, name: str) -> None:
        """Store a session and restore it."""
        path = self.folder / "session.json"
        snapshot = self.store.snapshot(name)
        acp_client.save(snapshot, path)
        assert acp_client.load(path) == snapshot

    def nothing(self, _: str) -> None:
        """Leave it alone."""

    def _tidy(self) -> None:
        """Close sessions by chance when there are many, and the oldest when they take too much."""
        while len(self.live) > LIVE:
            self._close(self.chance.randrange(len(self.live)))
        measured = self.chance.random() < 0.1
        while measured and self.live and self.store.memory().total > BUDGET:
            self._close(0)
            self.evicted += 1

    def _close(self, place: int) -> None:
        name = self.live.pop(place)
        self.store.forget_session(name)
        reader = self.readers.pop(name, None)
        if reader is not None:
            reader.close()


TORN, LOST = Editor.torn, Editor.lost
TROUBLES = (Editor.junk, TORN, LOST)
USES = (Editor.prompt, Editor.shout, Editor.read, Editor.keep, Editor.nothing, Editor.nothing)


def samples(editor: Editor, seconds: float) -> Iterator[float]:
    """Live for some time, and tell what the process takes at equal distances."""
    start = time.monotonic()
    for number in range(1, SAMPLES + 1):
        while time.monotonic() < start + seconds * number / SAMPLES:
            editor.live_once()
        yield resident()


@pytest.mark.timeout(SECONDS + 600)
@pytest.mark.skipif(not MEMORY.exists(), reason="the system does not tell the memory of a process")
def test_memory_stays_level(tmp_path: Path) -> None:
    """After thousands of sessions the process takes hardly more than after the first ones."""
    editor = Editor(tmp_path)
    taken = list(samples(editor, SECONDS))
    levels = ", ".join(f"{one:.1f}" for one in taken)
    print(  # noqa: T201  # the figures, for whoever asks with -s
        f"\n{SECONDS:.0f} s: {editor.messages:,} messages in {editor.sessions:,} sessions, of which"
        f" {editor.evicted:,} were evicted; MiB at each {SECONDS / SAMPLES:.0f} s: {levels}"
    )
    assert len(editor.store.sessions) == len(editor.live) <= LIVE
    assert len(editor.store.problems) == 50
    assert taken[-1] < taken[SAMPLES // 3] + 10
