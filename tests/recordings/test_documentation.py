"""The page about recordings names every format as its table does, and its code runs."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from recorded_formats import FORMATS as FIXTURES
from traffic import BUNDLED

from acp_client._recordings.formats import FORMATS

PAGE = Path(__file__).parents[2] / "docs" / "recordings.md"


def test_the_page_has_a_row_for_each_format() -> None:
    """Name, origin and shape are those of the table, in its order."""
    _, _, table = PAGE.read_text(encoding="utf-8").partition(
        "| each value is |\n| --- | --- | --- |\n"
    )
    rows = table.partition("\n\n")[0].splitlines()
    assert rows == [f"| `{row.name}` | {row.origin} | {row.shape} |" for row in FORMATS]


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of the page are one program, beside the files that it reads."""
    shutil.copy(FIXTURES / "log-times.log", tmp_path / "session.log")
    shutil.copy(BUNDLED / "coding-session.ndjson", tmp_path / "session.ndjson")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 3
    exec(compile("\n".join(blocks), str(PAGE), "exec"), {"__name__": "page"})
