"""Run the targets: `python -m fuzz --seconds 60 [TARGET …]`, in the directory of the tests."""

from __future__ import annotations

import argparse
import sys

from .engines import can_be_guided, guided, structured
from .targets import TARGETS


def main() -> int:
    """Try each target with each engine for a given time; 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=60, help="for each target and engine")
    parser.add_argument("--engine", choices=["structured", "guided"], help="only this one")
    chosen = parser.parse_args()
    engines = [structured, guided] if can_be_guided() else [structured]
    if chosen.engine is not None:
        engines = [guided if chosen.engine == "guided" else structured]
    elif len(engines) == 1:
        print("atheris is not installed: only structured inputs are tried")  # noqa: T201  # a command
    results = [
        engine(name, chosen.seconds, lambda line: print(line, flush=True))  # noqa: T201  # a command
        for name in chosen.targets or TARGETS
        for engine in engines
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
