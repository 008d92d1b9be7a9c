"""Texts that are sent whole again and again: equal to strings, and shared between versions."""

from __future__ import annotations

import pickle
import tracemalloc
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from traffic import event

from acp_client import Snapshot, apply, dumps, loads
from acp_client import _grown_text as module
from acp_client._grown_text import GrownText, grown

STEPS = st.lists(st.tuples(st.integers(0, 12), st.text("ab", max_size=6)), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
def test_versions_are_the_texts_that_came(
    monkeypatch: pytest.MonkeyPatch, steps: list[tuple[int, str]]
) -> None:
    """However a text goes on from the one before, each version is what came."""
    monkeypatch.setattr(module, "_SHORTEST", 4)
    monkeypatch.setattr(module, "_ENDING", 2)
    whole, old = "", grown(None, "")
    versions: list[tuple[str, Any]] = []
    for kept, more in steps:
        whole = whole[: len(whole) - min(kept, len(whole)) // 2] + more
        old = grown(old, whole)
        versions.append((whole, old))
    for text, version in versions:
        assert str(version) == text
        assert version == text
        assert text == version
        assert version != text + "x"
        assert pickle.loads(pickle.dumps(version)) == text


def snapshots(count: int, line: str, ending: str) -> list[Snapshot]:
    """Keep a version after each line of a tool call that sends all of its output each time."""
    kept, snapshot = [], Snapshot("s1")
    for number in range(count):
        text = "```\n" + line * number + ending
        content = [{"type": "content", "content": {"type": "text", "text": text}}]
        snapshot = apply(snapshot, event("tool_call_update", toolCallId="c", content=content))
        kept.append(snapshot)
    return kept


@pytest.mark.parametrize("ending", ["", "\n```"])
def test_kept_versions_share_the_text(ending: str) -> None:
    """All versions together take a small part of what their texts would."""
    tracemalloc.start()
    kept = snapshots(1_000, "a line of output 1234567\n", ending)
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    texts = [snapshot.entries[0].text for snapshot in kept]  # type: ignore[union-attr]
    assert size < sum(map(len, texts)) / 5
    assert texts == ["```\n" + "a line of output 1234567\n" * n + ending for n in range(1_000)]
    assert loads(dumps(kept[-1])) == kept[-1]


def test_short_texts_are_strings() -> None:
    """What costs little is kept as it came, and what is no continuation too."""
    assert type(grown("ab", "abc")) is str
    assert type(grown("x" * 5_000, "y" * 5_000)) is str
    assert type(grown(None, "y" * 5_000)) is str
    assert type(grown("x" * 5_000, "x" * 5_001)) is GrownText
