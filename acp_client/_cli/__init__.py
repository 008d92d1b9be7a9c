"""The command line: the only file I/O of the package, apart from snapshots that are stored.

`commands` parses arguments and runs, and `log_commands` has those for log tools; `replay`, `live`
and `stats` are what the former runs; the other modules lay out what these print.
"""

from __future__ import annotations

from . import log_commands as log_commands  # its commands join the group
from .commands import run

__all__ = ["run"]
