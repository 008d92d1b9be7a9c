"""How much a process grows by a session: `python -m benchmarks.resident snapshot 1000000`.

Prints one JSON object: the bytes that are kept, and the most at any time.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.streams import batches, coding_session
from benchmarks.subjects import decoded_texts, snapshot_of

STATM: Final = Path("/proc/self/statm")
_READ_LINES: Final = 300


def _snapshot(updates: int) -> object:
    return snapshot_of(batches(coding_session(updates), _READ_LINES))


def _texts(updates: int) -> object:
    return decoded_texts(coding_session(updates))


KINDS: Final[dict[str, Callable[[int], object]]] = {"snapshot": _snapshot, "texts": _texts}


def _size() -> int:
    return int(STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _peak() -> int:
    """Return the largest size so far; unlike `ru_maxrss` it does not know the parent's."""
    found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) * 1024 if found else 0


def main(kind: str, updates: str) -> None:
    """Print what one kind of result needs."""
    KINDS[kind](100)  # loads and warms up all that is needed
    gc.collect()
    before = _size()
    kept = KINDS[kind](int(updates))
    gc.collect()
    after = _size()
    del kept
    print(json.dumps({"kept": after - before, "peak": _peak() - before}))


if __name__ == "__main__":
    main(*sys.argv[1:])
