"""How Sphinx builds these pages: `make docs`.

The page `api` is made from `acp_client.__all__`, so that every public name is on it.
"""

from __future__ import annotations

import inspect
from collections import defaultdict
from typing import TYPE_CHECKING

import acp_client

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "acp-client-state"
author = "The acp-client-state developers"
release = acp_client.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
html_theme = "furo"
html_title = f"acp-client-state {release}"
html_extra_path = ["llms.txt"]

SECTIONS = {
    "Store and connection": (
        "_store _client_calls _connection _agent_calls _outgoing _limits _preload _text_files"
    ),
    "Deliveries": "_delivery _subscriptions _reader",
    "Snapshots": (
        "_snapshot _entries _client_state _content _terminal_output _items _keyed _grown_text"
        " _patches _files_touched _diffs _session_queries"
    ),
    "Changes": "_changes _compare _apply_changes _change_documents",
    "Reducer and events": "_reducer _fact_reducer _events _decode",
    "Stored snapshots": "_storage _memory",
    "Recordings": "_recordings",
    "Log tools": "_log_tools",
    "Text": "_text _terminal_text _widths _v1",
    "Exceptions and problems": "_errors",
}
"""The private modules behind each section of the reference."""

_OPTIONS_OF_CLASSES = """\
   :members:
   :undoc-members:
   :inherited-members: BaseException, Exception, Struct, Sequence, object, tuple
"""

_TITLES = {module: title for title, modules in SECTIONS.items() for module in modules.split()}


def section_of(name: str) -> str:
    """Return the section that a public name belongs to."""
    module = getattr(getattr(acp_client, name), "__module__", "") or ""
    parts = module.split(".")
    is_ours = parts[0] == "acp_client" and len(parts) > 1
    return _TITLES.get(parts[1], "More") if is_ours else "Types"


def directive_of(name: str) -> str:
    """Return the lines that document a name."""
    value = getattr(acp_client, name)
    if inspect.isclass(value):
        return f".. autoclass:: acp_client.{name}\n{_OPTIONS_OF_CLASSES}\n"
    kind = "function" if callable(value) and inspect.isroutine(value) else "data"
    return f".. auto{kind}:: acp_client.{name}\n"


def write_reference(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the reference of all public names into its page."""
    if page != "api":
        return
    found = defaultdict(list)
    for name in acp_client.__all__:
        if name not in ("wire", "__version__"):
            found[section_of(name)].append(name)
    titles = [title for title in (*SECTIONS, "Types", "More") if title in found]
    parts = [f"## {title}\n\n" + _in_rst(map(directive_of, found[title])) for title in titles]
    source[0] = source[0].replace("<!-- every public name -->", "\n".join(parts))


def _in_rst(directives: object) -> str:
    return "```{eval-rst}\n" + "\n".join(directives) + "```\n"  # type: ignore[arg-type]  # an iterable


def setup(app: Sphinx) -> None:
    """Let names that are only imported for type checkers be resolved, and write the reference."""
    from acp_client import _delivery

    vars(_delivery)["Change"] = acp_client.Change
    app.connect("source-read", write_reference)
