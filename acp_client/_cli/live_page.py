"""The paper of a live transcript: things one after another, of which a message may be unfinished.

A `Roll` puts blank lines between things and a heading where another session goes on. A message is
begun as a `Talk`, whose words are printed as they come; whatever else is printed ends its line.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal

import attrs

from .._snapshot import Message, Snapshot
from ..wire import ContentBlock, TextContent
from .entries import SPEAKERS, speaker_line
from .layout import NEWLINE, Page, Span
from .markdown import Speech
from .transcript import gap, session_heading

Note = Literal["", "(continued)", "(changed)"]


@attrs.define
class Talk:
    """A message that is being printed."""

    snapshot: Snapshot
    key: Hashable
    label: list[Span]
    speech: Speech
    labelled: bool = False

    def is_of(self, snapshot: Snapshot, key: Hashable) -> bool:
        """Return whether this is the message of a session with a key."""
        return (self.snapshot.session_id, self.key) == (snapshot.session_id, key)


class Roll:
    """What was printed last, and how the next thing follows it."""

    def __init__(self, page: Page) -> None:
        self.layout = page.layout
        self._talk: Talk | None = None
        self._page = page
        self._session_id: str | None = None
        self._before: list[Span] = []

    def is_free(self, snapshot: Snapshot) -> bool:
        """Return whether no message of another session is being printed."""
        talk = self._talk
        return talk is None or talk.snapshot.session_id == snapshot.session_id

    def repeats(self, spans: list[Span]) -> bool:
        """Return whether exactly this was printed last."""
        return self._talk is None and self._before == spans

    def begin(self, snapshot: Snapshot, spans: list[Span]) -> None:
        """Print something new of a session."""
        if spans:
            self.interrupt()
            self._print(snapshot, spans)

    def say(self, snapshot: Snapshot, key: Hashable, before: Message | None, now: Message) -> None:
        """Print what is new of a message, of which an earlier version was printed before."""
        blocks, note = _news(before, now)
        talk = self._talk
        if talk is None or note == "(changed)" or not talk.is_of(snapshot, key):
            self.interrupt()
            talk = self._talk = self._new_talk(snapshot, key, now, note)
            blocks = _without_leading_blanks(blocks) if note == "(continued)" else blocks
        self._go_on(talk, talk.speech.feed(blocks))

    def interrupt(self) -> None:
        """End the message that is being printed: something else comes, or nothing."""
        talk, self._talk = self._talk, None
        if talk is not None:
            self._go_on(talk, talk.speech.finish())

    def head(self, snapshot: Snapshot) -> None:
        """Print the heading of a session."""
        heading = session_heading(snapshot, self.layout)
        self._page.write(heading if self._session_id is None else [NEWLINE, *heading])
        self._session_id = snapshot.session_id
        self._before = []

    def _new_talk(self, snapshot: Snapshot, key: Hashable, message: Message, note: Note) -> Talk:
        speech = Speech(self.layout, SPEAKERS[message.type][2])
        return Talk(snapshot, key, speaker_line(message.type, *filter(None, [note])), speech)

    def _go_on(self, talk: Talk, spans: list[Span]) -> None:
        if spans and not talk.labelled:
            talk.labelled = True
            self._before = [] if not self._before else [NEWLINE, NEWLINE]
            self._print(talk.snapshot, talk.label)
            self._before = [NEWLINE, NEWLINE]
        self._page.write(spans)

    def _print(self, snapshot: Snapshot, spans: list[Span]) -> None:
        if snapshot.session_id != self._session_id:
            self.head(snapshot)
        self._page.write(gap(self._before, spans) + spans)
        self._before = spans


def _news(before: Message | None, now: Message) -> tuple[Sequence[ContentBlock], Note]:
    """Tell what a message has that was not printed, and how that follows what was."""
    if before is None:
        return tuple(now.content), ""
    if now.content._grew_from(before.content):
        return now.content[len(before.content) :], "(continued)"
    if _is_text(before) and _is_text(now) and now.text.startswith(before.text):
        return (TextContent(now.text[len(before.text) :]),), "(continued)"
    return tuple(now.content), "(changed)"


def _is_text(message: Message) -> bool:
    return all(isinstance(block, TextContent) for block in message.content)


def _without_leading_blanks(blocks: Iterable[ContentBlock]) -> list[ContentBlock]:
    """Leave out blanks before the first word: they were between two words."""
    rest = list(blocks)
    while rest and isinstance(rest[0], TextContent):
        text = rest[0].text.lstrip(" ")
        if text:
            return [TextContent(text), *rest[1:]]
        rest.pop(0)
    return rest
