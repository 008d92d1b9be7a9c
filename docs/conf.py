"""How Sphinx builds these pages: `make docs`."""

from acp_client import __version__

project = "acp-client-state"
author = "The acp-client-state developers"
release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.intersphinx"]
myst_heading_anchors = 3
intersphinx_mapping: dict[str, tuple[str, str | None]] = {}  # a build asks the network for nothing
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"acp-client-state {release}"
