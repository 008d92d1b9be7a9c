"""`acp-client replay`: a recording as documents, as a transcript, or printed while it goes on."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import attrs
import click

from .._connection import connection_document
from .._json import encode
from .._limits import Limits
from .._recordings import Feeder, Frame, Recording, Stop
from .._snapshot import Snapshot
from .._storage import raw_document
from .._store import Store
from .._text import escape_json
from .._versions import Protocol
from .sources import Failure, opened, progress, recording_of

if TYPE_CHECKING:
    from .layout import Page

LIMITS: Final = Limits(problems=100_000)
_LONGEST_PAUSE: Final = 2.0


def _nothing(_: Frame) -> None:
    """Do nothing before a frame is taken."""


@attrs.frozen
class Wish:
    """What `replay` was asked for."""

    format_name: str | None
    protocol: Protocol | None
    session: str | None
    until: Stop | None
    full: bool
    follow: bool
    speed: float | None


def show_documents(file: str, wish: Wish) -> None:
    """Print the snapshots and the problems as one JSON document."""
    played = _play_to_the_end(file, wish)
    document = {
        "sessions": [raw_document(snapshot) for snapshot in _chosen(played.store, wish.session)],
        "problems": [attrs.asdict(problem) for problem in played.store.problems],
        "connection": connection_document(played.store.connection),
    }
    print_json(document)
    played.raise_if_interrupted()


def print_json(document: Any) -> None:
    """Print a document on one line, with what a terminal may act on as escapes."""
    text = escape_json(encode(document).decode())
    sys.stdout.buffer.write(text.encode() + b"\n")


def show_transcript(file: str, wish: Wish) -> None:
    """Print the sessions as they are at the end."""
    from .transcript import print_transcript  # it imports Rich

    played = _play_to_the_end(file, wish)
    page = open_page(full=wish.full)
    print_transcript(page, _chosen(played.store, wish.session))
    _print_closing(page, played)


def show_live(file: str, wish: Wish) -> None:
    """Print what happens when it happens, and how each session stands at the end."""
    from .live import Live  # it imports Rich

    page = open_page(full=wish.full)
    restarted = True
    while restarted:
        played = _Played(wish)
        live = Live(page, played.store, wish.session)
        pace = Pace(wish.speed, played.showing(live.update))
        played.play(file, wish, before_read=pace.show, before_frame=pace.wait)
        live.finish()
        _chosen(played.store, wish.session)
        _print_closing(page, played)
        pace.excuse()
        played.raise_if_interrupted()
        restarted = played.restarted
        if restarted:
            page.write([("\n", ""), (f"{file} begins again", "faint"), ("\n", "")])


def _play_to_the_end(file: str, wish: Wish) -> _Played:
    """Play a file, and again if it is followed and begins again."""
    while True:
        played = _Played(wish)
        played.play(file, wish)
        if not played.restarted:
            return played


class _Played:
    """A recording that is played into a store of its own."""

    recording: Recording

    def __init__(self, wish: Wish) -> None:
        self.store = Store(limits=LIMITS, protocol=wish.protocol)
        self.feeder = Feeder(self.store)
        self.restarted = False
        self._interrupted = False

    def play(
        self,
        file: str,
        wish: Wish,
        *,
        before_read: Callable[[], None] | None = None,
        before_frame: Callable[[Frame], None] = _nothing,
    ) -> None:
        """Play a file to its end; one that is followed, or played slowly, until Ctrl-C."""
        with opened(file, follows=wish.follow) as source, progress(source):
            self.recording = recording_of(source, wish.format_name)
            source.before_read = before_read or source.before_read
            try:
                self.feeder.play(self.recording, stop=wish.until, before=before_frame)
            except KeyboardInterrupt:
                if not wish.follow and wish.speed is None:
                    raise
                self._interrupted = True
            self.restarted = source.restarted
        self.feeder.end()

    def showing(self, update: Callable[[], None]) -> Callable[[], None]:
        """Make a function that feeds what was taken and then calls `update`."""

        def show() -> None:
            self.feeder.flush()
            update()

        return show

    def raise_if_interrupted(self) -> None:
        """End as the interrupt wants it, after what was to be printed before."""
        if self._interrupted:
            raise KeyboardInterrupt


class Pace:
    """Waits before each frame until its time has come, and shows what there is before it waits."""

    def __init__(self, speed: float | None, show: Callable[[], None]) -> None:
        self.show = show
        self._speed = speed
        self._last: float | None = None
        self._due = time.monotonic()

    def wait(self, frame: Frame) -> None:
        """Wait as long as the recording did, by the speed, but never longer than two seconds."""
        if self._speed is None or frame.time is None:
            return
        gap = 0.0 if self._last is None else (frame.time - self._last) / self._speed
        self._last = frame.time
        self._due += max(0.0, min(gap, _LONGEST_PAUSE))
        if self._due > time.monotonic():
            self.show()
            time.sleep(max(0.0, self._due - time.monotonic()))

    def excuse(self) -> None:
        """Report that the recording has no times, if so."""
        if self._speed is not None and self._last is None:
            click.echo("acp-client: the recording tells no times, so it was not slowed", err=True)


def _chosen(store: Store, session: str | None) -> list[Snapshot]:
    """Return the snapshots to show. Raises `Failure` for a session that is not there."""
    if session is not None and session not in store.sessions:
        known = ", ".join(store.sessions) or "none"
        raise Failure(f"no session {session!r} in the recording; it has: {known}")
    chosen = store.sessions if session is None else (session,)
    return [store.snapshot(session_id) for session_id in chosen]


def open_page(*, full: bool = False) -> Page:
    """Make a page of the standard output."""
    from .layout import Page  # it imports Rich

    if isinstance(sys.stdout, io.TextIOWrapper):
        # Its encoding may be one that cannot write all there is.
        sys.stdout.reconfigure(errors="backslashreplace")
    return Page(sys.stdout, full=full)


def _print_closing(page: Page, played: _Played) -> None:
    from .transcript import Closing, closing_lines  # it imports Rich

    closing = Closing(
        messages=played.feeder.frames,
        sessions=len(played.store.sessions),
        problems=played.store.problems,
        problem_counts=played.store.problem_counts,
        passed_over=played.recording.passed_over,
        torn=played.recording.torn,
        refused=played.store.connection.errors,
    )
    page.write(closing_lines(closing, page.layout))
