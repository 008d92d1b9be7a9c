"""The shape of the package: a flat core, satellites in folders, and imports that point down.

`ls acp_client` is the table below. A module may import from its own layer and from those beneath
it; a folder is one room of the table, and is entered through its `__init__` alone.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import acp_client

PACKAGE = Path(acp_client.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}

LAYERS: tuple[frozenset[str], ...] = tuple(
    frozenset(line.split())
    for line in """
        _errors _limits _value _locks _json _text _version _sequence_diff wire
        _widths _persistent _items _keyed _grown_text
        _terminal_text
        _typed _jsonrpc _lenient _lenient_containers _lenient_scalars _decode _framing
        _content _terminal_output _lifecycles _client_state _forms _snapshot _events
        _diffs _files_touched
        _prompts _outgoing _changes _continuation _compare _memory
        _session_draft _entity_drafts _patches _fact_reducer _reducer
        _chunk_runs _requests _conversation _connection _v1 _versions _storage
        _agent_calls _client_calls _delivery _subscriptions _reader _batches _store _text_files
        _preload _recordings
        _log_tools
        _cli testing
        __init__ __main__
    """.strip().splitlines()
)
"""The rooms of the package from the ground up."""

EXTRAS = ("click", "rich")
NOT_NAMES = ("utils", "helpers", "common", "core", "manager", "base")


def named(path: Path) -> str:
    """Return a module's dotted name within the package, such as `_v1.echo`."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


def room(name: str) -> str:
    """Return the room that a module is in: its folder, or itself."""
    return name.partition(".")[0]


def layer(name: str) -> int:
    """Return the height of a module's room."""
    return next(height for height, rooms in enumerate(LAYERS) if room(name) in rooms)


def tree(path: Path) -> ast.Module:
    """Parse a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


NAMES = {named(path) for path in MODULES}


def imported(path: Path) -> set[str]:
    """Return the modules of the package that a module imports, wherever it does."""
    here = path.relative_to(PACKAGE).parts[:-1]
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom) and node.level:
            folder = here[: len(here) - node.level + 1]
            base = ".".join([*folder, *([node.module] if node.module else [])])
            inside = {".".join(filter(None, [base, alias.name])) for alias in node.names} & NAMES
            found |= inside or {base if base in NAMES else f"{base}.__init__".lstrip(".")}
    return found


def foreign(path: Path) -> set[str]:
    """Return the packages from elsewhere that a module imports."""
    found: set[str] = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


each_module = pytest.mark.parametrize("path", MODULES, ids=named)


@each_module
def test_imports_point_down(path: Path) -> None:
    """A module imports only from its own layer and from those below."""
    assert {name for name in imported(path) if layer(name) > layer(named(path))} == set()


@each_module
def test_folders_are_entered_through_their_door(path: Path) -> None:
    """Nothing outside a folder imports one of its modules."""
    outside = {name for name in imported(path) if room(name) != room(named(path))}
    assert {name for name in outside if "." in name and not name.endswith(".__init__")} == set()


def test_imports_make_no_circle() -> None:
    """No module needs itself, late imports included."""
    graph = {named(path): imported(path) for path in MODULES}
    assert set(TopologicalSorter(graph).static_order()) == NAMES


def test_the_table_names_every_room() -> None:
    """The table of layers is what `ls` shows."""
    assert {name for rooms in LAYERS for name in rooms} == {room(name) for name in NAMES}


@each_module
def test_libraries_are_where_they_belong(path: Path) -> None:
    """The package imports itself by relative names, and those of the command line only there."""
    libraries = foreign(path)
    assert "acp_client" not in libraries
    assert room(named(path)) == "_cli" or libraries.isdisjoint(EXTRAS)
    assert libraries.isdisjoint({"pickle", "marshal", "shelve"})


def inner_imports(path: Path) -> Iterator[tuple[ast.FunctionDef, ast.stmt]]:
    """Return the imports inside functions."""
    for function in ast.walk(tree(path)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    yield function, node  # type: ignore[misc]  # or an async one


def comments(path: Path) -> set[int]:
    """Return the lines that have a comment."""
    tokens = tokenize.generate_tokens(io.StringIO(path.read_text(encoding="utf-8")).readline)
    return {token.start[0] for token in tokens if token.type == tokenize.COMMENT}


@each_module
def test_imports_inside_functions_say_why(path: Path) -> None:
    """What is imported late has a comment in its function, above it or beside it."""
    commented = comments(path)
    for function, node in inner_imports(path):
        lines = range(function.lineno, (node.end_lineno or node.lineno) + 1)
        assert commented.intersection(lines), f"{named(path)}.{function.name}: {ast.unparse(node)}"


def test_modules_are_private() -> None:
    """The public submodules are `testing` and `wire`; names that say nothing are not used."""
    public = {room(name) for name in NAMES if not name.startswith("_")}
    assert public == {"testing", "wire"}
    assert {name.split(".")[-1].lstrip("_") for name in NAMES}.isdisjoint(NOT_NAMES)


@each_module
def test_modules_say_their_job(path: Path) -> None:
    """Every module begins with what it is for."""
    assert ast.get_docstring(tree(path)) or path.stem == "_version"


def test_the_picture_in_architecture_has_every_room() -> None:
    """ARCHITECTURE shows what `ls` shows."""
    page = Path(__file__).parents[1] / "ARCHITECTURE.md"
    picture = page.read_text(encoding="utf-8").split("```")[1]
    drawn = {word.rstrip("/,)") for word in picture.replace("(+ ", "").split()}
    assert {room(name) for name in NAMES} - {"__init__"} <= drawn
