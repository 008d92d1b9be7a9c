"""Which message a chunk of ACP v1 belongs to.

A chunk with an id belongs to the message of that id. A chunk without one goes on with the message
of its kind that is open, or begins a new one. The rules for what is open:

- A new entry (a message of another kind, a tool call, an unknown update) closes the open messages
  of whoever reports it: the agent, or one of its subagents. So the chunks of subagents may come in
  turns. An update of an entry that is there already closes nothing: agents patch earlier tool calls
  in the middle of a sentence.
- A prompt closes all of them, unless another prompt is open: then the text of that one goes on, and
  its answer closes them.
- After the answer to the only open prompt a late tail still belongs to its message, as long as no
  other update comes in between.
- An empty chunk neither begins nor closes a message.

A message without an id gets one: `inferred:` and its number among the messages of its kind. The
same stream always leads to the same ids, and a history that is loaded again keeps its ids.
"""

from __future__ import annotations

from typing import Final

INFERRED: Final = "inferred:"
"""How the ids begin that agents did not send."""


def is_inferred(message_id: str) -> bool:
    """Return whether a message id was made for a message that came without one."""
    return message_id.startswith(INFERRED)


class OpenMessages:
    """The messages of one session that a chunk may go on with."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], str] = {}
        self._entries: set[tuple[str, str]] = set()
        self._numbers: dict[str, int] = {}
        self._in_tail = False

    def message_of(self, kind: str, speaker: str, given: str | None) -> str:
        """Return the id of the message that a chunk belongs to, which is open from now on.

        `speaker` is the subagent that wrote it, empty for the agent itself.
        """
        message_id = given or self._open.get((kind, speaker)) or self._new_id(kind)
        self.note_entry(kind, message_id, speaker)
        self._open[kind, speaker] = message_id
        return message_id

    def prompt(self, given: str | None) -> str:
        """Return the id of the message that a prompt makes, which no chunk goes on with."""
        message_id = given or self._new_id("user_message")
        self._entries.add(("user_message", message_id))
        return message_id

    def existing(self, kind: str, speaker: str, given: str | None) -> str | None:
        """Return the id of the message that an empty chunk belongs to, if it is there already."""
        if given:
            return given if (kind, given) in self._entries else None
        return self._open.get((kind, speaker))

    def note_entry(self, kind: str, entry_id: str, speaker: str = "") -> None:
        """Close the speaker's messages if this entry is a new one."""
        if (kind, entry_id) not in self._entries:
            self._entries.add((kind, entry_id))
            closed = [voice for voice in self._open if voice[1] == speaker]
            for voice in closed:
                del self._open[voice]

    def note_update(self) -> None:
        """Close the messages whose tail an update ends that is not a chunk of them."""
        if self._in_tail:
            self.close()

    def begin_tail(self) -> None:
        """Let what comes next be the tail of the open messages: their turn is over."""
        self._in_tail = True

    def close(self) -> None:
        """Close all messages."""
        self._open.clear()
        self._in_tail = False

    def _new_id(self, kind: str) -> str:
        number = self._numbers[kind] = self._numbers.get(kind, 0) + 1
        return f"{INFERRED}{number}"
