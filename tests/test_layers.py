"""The layers of the package: imports point down only, and nothing is imported behind one's back."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from fnmatch import fnmatch
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import acp_client

MODULES = sorted(Path(acp_client.__file__).parent.glob("*.py"))
NAMES = {path.stem for path in MODULES}

LAYERS: tuple[tuple[str, ...], ...] = (
    ("_errors", "_value", "_locks", "_json", "_text", "_cells", "_transcript", "_limits",
     "_containers", "_version", "wire"),
    ("_leniency", "_lenient", "_lenient_values", "_decode", "_framing", "_content", "_snapshot",
     "_events", "_v1_diffs", "_v1_shapes"),
    ("_prompts", "_changes", "_growth", "_comparison", "_document*", "_memory",
     "_outgoing", "_serialization", "_storage",
     "_recording*", "_v1_*"),
    ("_entity_drafts", "_draft", "_reducer"),
    ("_intake", "_correlation", "_protocol", "_v1", "_delivery", "_reader", "_subscriptions",
     "_store"),
    ("_playback", "_cli*", "__main__", "__init__"),
)  # fmt: skip
"""From the bottom; a module may import from its own layer and from those below."""

EXTRAS = ("click", "rich")
NOT_NAMES = ("utils", "helpers", "common", "core", "manager", "base")


def layer(name: str) -> int:
    """Give the layer of a module; the first name or pattern that fits counts."""
    for height, patterns in enumerate(LAYERS):
        if any(fnmatch(name, pattern) for pattern in patterns):
            return height
    raise LookupError(f"{name} is in no layer")


def tree(path: Path) -> ast.Module:
    """Parse a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> set[str]:
    """Give the modules of the package that a module imports, wherever it does."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.level:
            found |= {node.module} if node.module else {alias.name for alias in node.names}
    return found & NAMES


def foreign(path: Path) -> set[str]:
    """Give what a module imports from elsewhere."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_imports_point_down(path: Path) -> None:
    """A module imports only from its own layer and from those below."""
    above = {name for name in imported(path) if layer(name) > layer(path.stem)}
    assert above == set()


def test_imports_make_no_circle() -> None:
    """Within a layer, and with what is imported late, no module needs itself."""
    graph = {path.stem: imported(path) for path in MODULES}
    assert len(list(TopologicalSorter(graph).static_order())) == len(NAMES)


def test_every_pattern_is_needed() -> None:
    """The table names no module that is not there."""
    for pattern in (pattern for patterns in LAYERS for pattern in patterns):
        assert any(fnmatch(name, pattern) for name in NAMES), pattern


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_libraries_are_where_they_belong(path: Path) -> None:
    """The package imports itself by relative names, and those of the command line only there."""
    libraries = foreign(path)
    assert "acp_client" not in libraries
    assert path.stem.startswith("_cli") or libraries.isdisjoint(EXTRAS)
    assert libraries.isdisjoint({"pickle", "marshal", "shelve"})


def inner_imports(path: Path) -> Iterator[tuple[ast.FunctionDef, ast.stmt]]:
    """Give the imports inside functions."""
    for function in ast.walk(tree(path)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield function, node  # type: ignore[misc]  # or an async one


def comments(path: Path) -> set[int]:
    """Give the lines that have a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return {token.start[0] for token in tokens if token.type == tokenize.COMMENT}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_imports_inside_functions_say_why(path: Path) -> None:
    """What is imported late has a comment in its function, above it or beside it."""
    commented = comments(path)
    for function, node in inner_imports(path):
        lines = range(function.lineno, (node.end_lineno or node.lineno) + 1)
        assert commented.intersection(lines), f"{path.stem}.{function.name}: {ast.unparse(node)}"


def test_modules_are_private() -> None:
    """The only public submodule is `wire`; names that say nothing are not used."""
    public = {name for name in NAMES if not name.startswith("_")}
    assert public == {"wire"}
    assert NAMES.isdisjoint({f"_{name}" for name in NOT_NAMES})


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_modules_say_their_job(path: Path) -> None:
    """Every module begins with what it is for."""
    assert ast.get_docstring(tree(path)) or path.stem == "_version"
