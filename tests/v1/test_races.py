"""Races of prompts, answers, echoes and histories in v1, against the second implementation."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import Frame, v1_sessions
from v1_comparison import compare

LOSS = st.one_of(st.none(), st.integers(1, 60))


@settings(max_examples=200)
@given(v1_sessions(60), LOSS)
def test_some_races(frames: list[Frame], lost_at: int | None) -> None:
    """Whatever the order, both give the same documents."""
    compare(frames, lost_at)


@pytest.mark.long
@settings(max_examples=5_000)
@given(v1_sessions(80), LOSS)
def test_many_races(frames: list[Frame], lost_at: int | None) -> None:
    """The same, many times and longer."""
    compare(frames, lost_at)
