"""What `import acp_client` takes, in fresh processes, byte code being there already."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import acp_client
from benchmarks.measuring import (
    Budget,
    Result,
    Row,
    Scale,
    compared,
    interleaved_clocks,
    ratios,
)

_SUBJECT: Final = "import acp_client"
_BASELINE: Final = "import msgspec, attrs"
_CLOCKS: Final = {"": Budget(1.4), ", with the start of Python": None}
"""What a process prints: the seconds of the import, and those since its start."""

_TIMED: Final = "from time import process_time as t; a = t(); {}; b = t(); print(b - a, b)"


def import_time(scale: Scale) -> Iterator[Result]:
    """Compare importing the package with importing what it is made of."""
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(folder)
        clocks = {
            f"{statement}{which}": partial(_timed, statement, environment, index)
            for index, which in enumerate(_CLOCKS)
            for statement in (_SUBJECT, _BASELINE)
        }
        seconds = interleaved_clocks(clocks, scale.imports)
    for which, budget in _CLOCKS.items():
        subject, baseline = f"{_SUBJECT}{which}", f"{_BASELINE}{which}"
        yield Row(
            f"{_SUBJECT} : {_BASELINE}{which}",
            ratios(seconds, subject, baseline),
            budget,
            note=compared(seconds, subject, baseline, 1),
        )


def _environment(byte_code: str) -> dict[str, str]:
    """Return an environment where this package is found and its byte code is kept in a folder."""
    package = Path(acp_client.__file__).parents[1]
    environment = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    return environment | {"PYTHONPATH": str(package), "PYTHONPYCACHEPREFIX": byte_code}


_LEFT_OUT: Final = frozenset({"PYTHONDONTWRITEBYTECODE", "PYTHONPROFILEIMPORTTIME"})


def _timed(statement: str, environment: dict[str, str], index: int) -> float:
    command = [sys.executable, "-c", _TIMED.format(statement)]
    ended = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return float(ended.stdout.split()[index])
