"""The public face: one explicit, sorted list, and everything in it documented."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import acp_client

EXPORTS = {name: getattr(acp_client, name) for name in acp_client.__all__}
CLASSES = [value for value in EXPORTS.values() if isinstance(value, type)]
FUNCTIONS = [value for value in EXPORTS.values() if inspect.isfunction(value)]


def test_the_list_is_sorted_and_whole() -> None:
    """`__all__` is sorted, without doubles, and names all that the package imports for users."""
    source = Path(acp_client.__file__).read_text(encoding="utf-8")
    imported = {
        alias.asname or alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.level
        for alias in node.names
    }
    assert acp_client.__all__ == sorted(set(acp_client.__all__))
    assert set(acp_client.__all__) == imported


def test_nothing_else_is_public() -> None:
    """What has no underscore and is no module of the package is exported."""
    public = {
        name
        for name, value in vars(acp_client).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert public <= set(acp_client.__all__)


def test_completion_shows_what_is_public() -> None:
    """`dir`, and so `help` and completion, show all public names and no private module."""
    assert dir(acp_client) == sorted(acp_client.__all__)


PROMISED = {
    "Store",
    "Snapshot",
    "apply",
    "apply_all",
    "decode",
    "dumps",
    "loads",
    "wire",
    "Limits",
    "Problem",
}


def test_what_users_were_promised_is_there() -> None:
    """The names that the documentation uses exist."""
    assert set(acp_client.__all__) >= PROMISED


@pytest.mark.parametrize("value", [*CLASSES, *FUNCTIONS], ids=lambda value: value.__name__)
def test_everything_is_documented(value: Any) -> None:
    """Public classes and functions, and their public methods and properties, say what they do."""
    assert value.__doc__
    for name, member in vars(value).items():
        if not name.startswith("_") and (
            inspect.isfunction(member) or isinstance(member, property)
        ):
            assert inspect.getdoc(member), f"{value.__name__}.{name}"


@pytest.mark.parametrize("value", CLASSES, ids=lambda value: value.__name__)
def test_classes_know_their_names(value: type) -> None:
    """A public class is shown by its own name, and is the one that its module defines."""
    assert getattr(acp_client, value.__name__) is value
    assert value.__module__.startswith("acp_client")


def test_the_version_is_a_version() -> None:
    """The version is that of a release: numbers with dots."""
    assert all(part.isdigit() for part in acp_client.__version__.split(".")[:2])


def test_no_name_is_both_loaded_at_once_and_later() -> None:
    """What is loaded later is not imported with the package, too."""
    body = ast.parse(Path(acp_client.__file__).read_text(encoding="utf-8")).body
    imports = [node for node in body if isinstance(node, ast.ImportFrom)]
    at_once = {alias.asname or alias.name for node in imports for alias in node.names}
    assert at_once.isdisjoint(acp_client._LATER)
