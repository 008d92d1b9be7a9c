"""The Neovim plugin: its drawing for itself, and all of it in a headless Neovim.

There, everything is real but the agent, which plays a recording: keys go in, the buffer is looked at.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st
from recording_tape import Recording, Session, connect, new_session, text_block
from test_changes import FRAMES, LIMITS, histories
from traffic import BUNDLED, ROOT, chunk, event, replayed

import acp_client
from acp_client import Event, Limits, Snapshot
from acp_client._changes import Reset
from acp_client._comparison import changes
from acp_client._recordings import read_recording

PLUGIN = ROOT / "examples" / "neovim"
CODING = BUNDLED / "coding-session.ndjson"
PATIENCE = 30  # seconds until a wait for something that never comes is given up

sys.path.append(str(PLUGIN))
from acp_nvim.document import Document, Extension, Replacement, RowCounts  # noqa: E402  # see above
from acp_nvim.view import View  # noqa: E402  # the same

# --- Drawing: changes to edits ---


class Lines(list[str]):
    """A buffer that takes edits."""

    def take(self, edits: list[Extension | Replacement]) -> None:
        for edit in edits:
            match edit:
                case Extension(row, text):
                    self[row] += text
                case Replacement(start, end, lines):
                    assert 0 <= start <= end < len(self)
                    self[start:end] = lines


class Buffer:
    """A view, and a buffer that sees nothing but its edits."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._view = View()
        self._snapshot = snapshot
        self.lines = Lines([""])
        self._draw(Reset(snapshot))

    def _draw(self, *steps: Any) -> list[Extension | Replacement]:
        self._view.draw(steps)
        edits = self._view.document.take_edits()
        self.lines.take(edits)
        assert self.lines == self._view.document.lines
        return edits

    def follow(self, snapshot: Snapshot) -> list[Extension | Replacement]:
        """Go on to another snapshot; return the edits."""
        steps = changes(self._snapshot, snapshot)
        self._snapshot = snapshot
        return self._draw(*steps)


def drawn(snapshot: Snapshot) -> list[str]:
    """Draw a snapshot at once."""
    return list(Buffer(snapshot).lines)


def after(*events: Event, base: Snapshot = Snapshot("s1")) -> Snapshot:  # noqa: B008  # immutable
    """Give the snapshot after some events."""
    return acp_client.apply_all(base, events)


@given(FRAMES, LIMITS, st.integers(1, 5))
def test_edits_lead_to_what_the_last_snapshot_draws(
    frames: list[strategies.Frame], limits: Limits, stride: int
) -> None:
    """A buffer that takes edits only is never wrong, whatever the agent does."""
    for history in histories(frames, limits).values():
        buffer = Buffer(history[0])
        for _, new in pairwise(history[::stride]):
            buffer.follow(new)
            assert buffer.lines == drawn(new)


@pytest.mark.parametrize(
    "text",
    [
        "one\n\ntwo\n",
        "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL} here",
        "1\ufe0f\u20e3 and \N{HEAVY BLACK HEART}\ufe0f",
        "\N{WAVING HAND SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-4}",
        "a\u202eb\x1b[31m\tc\r\nd",
        "\ud83d\ude00 \ud83d",
    ],
)
@pytest.mark.parametrize("kind", ["agent_message_chunk", "user_message_chunk"])
def test_text_may_be_cut_anywhere(text: str, kind: str) -> None:
    """Text that comes in two or more pieces is drawn as the whole is, emoji and halves included."""
    update = {"sessionUpdate": kind, "messageId": "m"}
    for size in range(1, len(text)):
        new = after(chunk("", **update))
        buffer = Buffer(new)
        for start in range(0, len(text), size):
            piece = text[start : start + size]
            new = after(event(kind, messageId="m", content=text_block(piece)), base=new)
            buffer.follow(new)
        assert buffer.lines == drawn(after(event(kind, messageId="m", content=text_block(text))))
