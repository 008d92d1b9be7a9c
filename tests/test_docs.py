"""The documentation site: its reference names everything that is public."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import acp_client

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def conf() -> Any:
    """Return the configuration of Sphinx as a module."""
    spec = importlib.util.spec_from_file_location("conf", DOCS / "conf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_has_its_section(conf: Any) -> None:
    """The reference has a section for the module of each public name."""
    names = [name for name in acp_client.__all__ if name not in ("wire", "__version__")]
    assert [name for name in names if conf.section_of(name) == "More"] == []


def test_the_reference_has_every_public_name(conf: Any) -> None:
    """The page is made from the list of public names."""
    source = [(DOCS / "api.md").read_text(encoding="utf-8")]
    conf.write_reference(None, "api", source)
    for name in acp_client.__all__:
        assert f"acp_client.{name}\n" in source[0] or name == "__version__"


def test_every_page_is_in_the_contents() -> None:
    """The first page and the page for language models link to all others."""
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    contents = (DOCS / "index.md").read_text(encoding="utf-8").split()
    assert pages <= set(contents)
    links = (DOCS / "llms.txt").read_text(encoding="utf-8")
    assert all(f"({page}.html)" in links for page in pages)
