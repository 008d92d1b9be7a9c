"""Run the targets: `python -m fuzz --seconds 60 [TARGET …]`, in the directory of the tests."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context

from .engines import ENGINES, can_be_guided, tell, tried
from .targets import TARGETS


def main() -> int:
    """Try each target with each engine for a given time; 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="python -m fuzz")
    parser.add_argument("targets", nargs="*", choices=[[], *TARGETS], metavar="TARGET")
    parser.add_argument("--seconds", type=float, default=60, help="for each target and engine")
    parser.add_argument("--engine", choices=ENGINES, help="only this one")
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time")
    chosen = parser.parse_args()
    engines = [chosen.engine] if chosen.engine else list(ENGINES)
    if chosen.engine is None and not can_be_guided():
        engines.remove("guided")
        tell("atheris is not installed: there are no guided inputs")
    with ProcessPoolExecutor(chosen.jobs, get_context("spawn"), max_tasks_per_child=1) as pool:
        tries = list(zip(*product(chosen.targets or TARGETS, engines), strict=True))
        results = list(pool.map(partial(tried, chosen.seconds), *tries))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
