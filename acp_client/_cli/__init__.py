"""The command line: the only file I/O of the package, apart from snapshots that are stored.

`commands` parses arguments and runs; `replay`, `live` and `stats` are what it runs; the other
modules lay out what these print.
"""

from __future__ import annotations

from .commands import run

__all__ = ["run"]
