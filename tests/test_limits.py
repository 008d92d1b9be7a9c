"""Limits: their defaults, and what is refused."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
import pytest
from traffic import update_line

from acp_client import InvalidValueError, Limits, Store

NAMES = ("line_length", "problems", "notices", "terminal_bytes", "open_requests")


def test_defaults() -> None:
    """The defaults are those in the documentation."""
    assert msgspec.structs.asdict(Limits()) == {
        "line_length": 32 * 1024 * 1024,
        "problems": 1_000,
        "notices": 100,
        "terminal_bytes": None,
        "open_requests": 1_000,
    }
    assert Limits.__doc__ is not None
    assert all(name in Limits.__doc__ for name in msgspec.structs.asdict(Limits()))


def test_limits_are_values() -> None:
    """Limits are compared by value, and cannot be changed."""
    limits = Limits(notices=0, problems=0, terminal_bytes=0, line_length=1)
    assert limits == msgspec.structs.replace(
        Limits(), notices=0, problems=0, terminal_bytes=0, line_length=1
    )
    with pytest.raises(AttributeError):
        limits.notices = 5  # type: ignore[misc]  # that is the point


@pytest.mark.parametrize(
    "wrong",
    [
        {"line_length": 0},
        {"line_length": None},
        {"line_length": 1.5},
        {"line_length": True},
        {"problems": -1},
        {"notices": "100"},
        {"terminal_bytes": -1},
        *({name: sys.maxsize + 1} for name in NAMES),
    ],
)
def test_what_is_no_limit(wrong: dict[str, Any]) -> None:
    """Limits are whole numbers from a least one to the largest that memory can hold."""
    (name,) = wrong
    with pytest.raises(InvalidValueError, match=f"{name} must be .* to {sys.maxsize}: "):
        Limits(**wrong)


@pytest.mark.parametrize("name", NAMES)
def test_the_largest_limit_is_one(name: str) -> None:
    """A store takes every limit that `Limits` takes, and keeps all that comes."""
    store = Store(limits=Limits(**{name: sys.maxsize}))
    for line in (
        b"nonsense\n",
        update_line("notice", severity="info", title="Hello"),
        update_line("terminal_output_chunk", terminalId="t", data="aGk="),
    ):
        store.receive(line)
    assert len(store.problems) == 1
    assert len(store.snapshot("s1").notices) == 1
    assert store.snapshot("s1").terminals[0].output == b"hi"
