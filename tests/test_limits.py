"""Limits: their defaults, and what is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from acp_client import InvalidValueError, Limits


def test_defaults() -> None:
    """The defaults are those that the documentation tells."""
    assert msgspec.structs.asdict(Limits()) == {
        "line_length": 32 * 1024 * 1024,
        "problems": 1_000,
        "notices": 100,
        "terminal_bytes": None,
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
    ],
)
def test_what_is_no_limit(wrong: dict[str, Any]) -> None:
    """Limits are whole numbers from a least one on."""
    with pytest.raises(InvalidValueError, match=f"{next(iter(wrong))} must be"):
        Limits(**wrong)
