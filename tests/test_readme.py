"""The pages for users: their code runs and prints what stands there, and what they name exists."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest

import acp_client
from acp_client import wire
from acp_client._recordings.formats import FORMAT_NAMES

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
EMBEDDING = ROOT / "docs" / "embedding.md"
PAGES = [README, EMBEDDING, ROOT / "examples" / "README.md", ROOT / "CHANGELOG.md"]
PATIENCE = 60  # seconds until a program that hangs is ended

pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


class Block(NamedTuple):
    """A fenced block of a page: its language, the number of its first line, and its lines."""

    language: str
    line: int
    lines: list[str]


def blocks(page: Path) -> Iterator[Block]:
    """Give the fenced blocks of a page."""
    block: Block | None = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if block is None and line.startswith("```"):
            block = Block(line[3:], number + 1, [])
        elif block is not None and line == "```":
            yield block
            block = None
        elif block is not None:
            block.lines.append(line)


def run(program: str, place: Path) -> str:
    """Run a program from the root of the checkout, warnings being errors; return what it prints."""
    place.write_text(program, encoding="utf-8")
    paths = [str(Path(acp_client.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(place)],
        cwd=ROOT,
        env=environment | {"PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


# --- Code ---


def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    """The first example is ten lines that run as they stand there."""
    example = next(block for block in blocks(README) if block.language == "python")
    statements = [line for line in example.lines if line and not line.startswith("#")]
    assert len(statements) <= 10
    printed = run("\n".join(example.lines), tmp_path / "readme.py")
    assert printed == "1 changes\n" * 3 + "Done. pending\n"


def promised() -> list[tuple[int, str]]:
    """Give the line of each Python block of the how-to, and what stands below it as its output."""
    found: list[tuple[int, str]] = []
    for block in blocks(EMBEDDING):
        if block.language == "python":
            found.append((block.line, ""))
        elif block.language == "text":
            found[-1] = (found[-1][0], "".join(f"{line}\n" for line in block.lines))
    return found


def as_program(page: Path) -> str:
    """Make one program of the Python blocks of a page, each line in its place.

    Before the output of a block comes a form feed and the number of its first line.
    """
    lines = [""] * len(page.read_text(encoding="utf-8").splitlines())
    for block in blocks(page):
        if block.language == "python":
            lines[block.line - 2] = f"print('\\f{block.line}')"
            lines[block.line - 1 : block.line - 1 + len(block.lines)] = block.lines
    return "\n".join(lines)


def test_the_how_to_runs(tmp_path: Path) -> None:
    """The blocks of the how-to are one program, and below each stands what it prints."""
    printed = run(as_program(EMBEDDING), tmp_path / "embedding.py").split("\f")[1:]
    parts = (part.partition("\n") for part in printed)
    assert [(int(line), output) for line, _, output in parts] == promised()


def test_the_how_to_has_every_change() -> None:
    """The table of what to do has a row for each class of change, and for nothing else."""
    text = EMBEDDING.read_text(encoding="utf-8")
    _, _, table = text.partition("| change | do this |\n| --- | --- |\n")
    rows = re.findall(r"^\| `(\w+)` \|", table.partition("\n\n")[0], re.MULTILINE)
    assert sorted(rows) == sorted(kind.__name__ for kind in get_args(acp_client.Change))


# --- Names ---

SPOKEN_OF = {
    "acp_client": acp_client,
    "wire": wire,
    "store": acp_client.Store(),
    "snapshot": acp_client.Snapshot,
    "delivery": acp_client.Delivery,
    "reader": acp_client.Reader,
    "subscription": acp_client.Subscription,
    "terminal": acp_client.Terminal,
    "message": acp_client.Message,
}
"""What the pages mean by these words, where an attribute follows."""

_NAMES = re.compile(rf"(?<![\w./-])({'|'.join(SPOKEN_OF)})((?:\.[A-Za-z]\w*)+)(?![\w/]|\.\w)")
_MISSING = object()


def attribute(value: Any, name: str) -> Any:
    """Give what a name means; what a class only says of its instances has no attributes to ask."""
    if value is None:
        return None
    found = getattr(value, name, _MISSING)
    if found is _MISSING:
        raise AttributeError(name)
    is_about_instances = isinstance(value, type) and not isinstance(found, type)
    return None if is_about_instances else found


@pages
def test_names_exist(page: Path) -> None:
    """Whatever a page says of the package, its protocol and their objects is there."""
    found = set(_NAMES.findall(page.read_text(encoding="utf-8")))
    for word, names in found:
        try:
            reduce(attribute, names.strip(".").split("."), SPOKEN_OF[word])
        except AttributeError as error:
            pytest.fail(f"{word}{names}: there is no {error}")


@pages
def test_names_of_the_package_are_public(page: Path) -> None:
    """A page names nothing of the package that it does not export."""
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"\bacp_client\.(\w+)", text)) <= set(acp_client.__all__)


def test_the_pages_name_something() -> None:
    """The look for names finds them."""
    found = _NAMES.findall(EMBEDDING.read_text(encoding="utf-8"))
    assert {("acp_client", ".Store"), ("store", ".snapshot"), ("reader", ".take")} <= set(found)


# --- Options, files, formats ---


def options_of_commands() -> dict[str, set[str]]:
    """Give the options of each command of the command line."""
    pytest.importorskip("click")
    from acp_client._cli.commands import commands  # only with the extra

    return {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in commands.commands.items()
    }


def options_of_programs() -> set[str]:
    """Give the options of the examples and of the benchmarks."""
    found: set[str] = set()
    for program in [*(ROOT / "examples").glob("*.py"), ROOT / "benchmarks" / "__main__.py"]:
        found |= set(re.findall(r'"(--[a-z-]+)"', program.read_text(encoding="utf-8")))
    return found


@pages
def test_options_exist(page: Path) -> None:
    """Every option that a page mentions is one of ours, but for those of pytest."""
    commands = options_of_commands()
    known = options_of_programs().union(*commands.values())
    lines = page.read_text(encoding="utf-8").splitlines()
    for line in (line for line in lines if "-m pytest" not in line):
        mentioned = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", line))
        command = re.search(r"acp-client (\w+)", line)
        assert mentioned <= (commands[command[1]] if command else known), line


def test_the_readme_has_every_format() -> None:
    """The table of recorded formats has all that `--format` takes."""
    _, _, table = README.read_text(encoding="utf-8").partition("| format | written by | form |\n")
    cells = re.findall(r"^\| (`[^|]*) \|", table.partition("\n\n")[0], re.MULTILINE)
    assert sorted(name for cell in cells for name in re.findall(r"`([\w-]+)`", cell)) == sorted(
        FORMAT_NAMES
    )


@pages
def test_links_lead_somewhere(page: Path) -> None:
    """Links to files and to headings have what they point at."""
    text = page.read_text(encoding="utf-8")
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    headings = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
    for link in re.findall(r"\]\(([^)]+)\)", text):
        if link.startswith("#"):
            assert link[1:] in headings, link
        elif "://" not in link:
            assert (page.parent / link).exists(), link


@pages
def test_make_targets_exist(page: Path) -> None:
    """A page names no target that the Makefile does not have."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = re.findall(r"\bmake ([a-z]+)\b[ `]*[#`]", page.read_text(encoding="utf-8"))
    assert set(named) <= set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
