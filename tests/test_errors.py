"""The exceptions that callers meet, and the record of what a peer got wrong."""

from __future__ import annotations

from typing import get_args

import pytest

import acp_client
from acp_client import AcpClientError, Problem
from acp_client._errors import PROBLEM_KINDS, ProblemKind

ERRORS = [
    value
    for value in vars(acp_client).values()
    if isinstance(value, type) and issubclass(value, Exception)
]


@pytest.mark.parametrize("error", ERRORS)
def test_one_base_for_all(error: type[Exception]) -> None:
    """Whoever catches `AcpClientError` catches all of them; each says when it is raised."""
    assert issubclass(error, AcpClientError)
    assert error.__doc__
    assert str(error("why")) == "why"


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (acp_client.UnknownSessionError, LookupError),
        (acp_client.UnknownPermissionError, LookupError),
        (acp_client.InvalidValueError, ValueError),
        (acp_client.StoredSnapshotError, ValueError),
    ],
)
def test_errors_are_the_builtin_ones_too(error: type[Exception], builtin: type[Exception]) -> None:
    """An unknown key is a lookup error, a bad value a value error, as elsewhere in Python."""
    assert issubclass(error, builtin)


def test_problems_are_values() -> None:
    """A problem is compared by value and cannot be changed."""
    problem = Problem(1, "rejected", "$.params", "is missing")
    assert problem == Problem(1, "rejected", "$.params", "is missing")
    with pytest.raises(AttributeError):
        problem.line = 2  # type: ignore[misc]  # that is the point


def test_kinds_are_listed_once() -> None:
    """The list of kinds for programs is the one for type checkers."""
    assert get_args(ProblemKind) == PROBLEM_KINDS
    assert len(PROBLEM_KINDS) == 8
