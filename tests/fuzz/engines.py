"""The engines: three ways to make inputs.

`structured` draws inputs from a target's strategy (Hypothesis), which also makes a finding as small
as it can. `quick` lets the target make them at random, which is several times as fast. `guided`
changes inputs a little at a time and keeps those that reach new code (atheris, where it is
installed); it runs in a process of its own, because it never returns.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path
from random import Random

from hypothesis import HealthCheck, Phase, given, seed, settings

from .targets import PATIENCE, TARGETS, Target, impatience

SEEDS = Path(__file__).parent / "seeds"

_ROUND = 200
"""Inputs between two looks at the clock."""

_LONGEST = 8192
_MEMORY = 2048
"""Bytes of an input, and mebibytes of memory, for the guided engine."""

_PHASES = (Phase.explicit, Phase.generate, Phase.shrink)


def seeds(name: str) -> list[Path]:
    """Give the files of a target's seeds."""
    return sorted(path for path in (SEEDS / name).glob("*") if path.is_file())


def keep(name: str, data: bytes) -> Path:
    """Keep an input as a seed of a target."""
    path = SEEDS / name / sha1(data, usedforsecurity=False).hexdigest()[:12]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def structured(name: str, seconds: float, report: Callable[[str], None]) -> bool:
    """Try inputs of a target's strategy for some time; tell whether all went well."""
    end, tried, started = time.monotonic() + seconds, _Tried(TARGETS[name]), time.time_ns()
    memory: list[int] = []
    while time.monotonic() < end:
        memory.append(_resident())
        try:
            seed(started + tried.count)(tried.round())()
        except Exception:  # noqa: BLE001  # whatever a target raises is a finding
            report(traceback.format_exc(limit=-6))
            report(f"{name}: kept as {keep(name, tried.last)}")
            return False
    report(f"{name}: {tried.count} structured inputs, {_growth(memory)}, no finding")
    return True


def _resident() -> int:
    """Tell the mebibytes of this process, where the system says so; else nothing."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 2**20


def _growth(memory: list[int]) -> str:
    """Tell what memory the process took early on and in the end."""
    quarter, end = memory[len(memory) // 4], memory[-1]
    return f"{quarter} MiB at a quarter of the time and {end} MiB at its end"


def quick(name: str, seconds: float, report: Callable[[str], None]) -> bool:
    """Try inputs that a target makes at random for some time; tell whether all went well."""
    end, target, started = time.monotonic() + seconds, TARGETS[name], time.time_ns()
    chance, count, parts, data = Random(started), 0, 0, b""
    memory: list[int] = []
    while time.monotonic() < end:
        memory.append(_resident())
        try:
            for _ in range(_ROUND):
                data = target.made(chance)
                with impatience():
                    target.check(data)
                parts += target.count(data)
        except Exception:  # noqa: BLE001  # whatever a target raises is a finding
            report(traceback.format_exc(limit=-6))
            report(f"{name}: kept as {keep(name, data)}")
            return False
        count += _ROUND
    told = f"{count} quick inputs of {parts} {target.parts}, from seed {started}"
    report(f"{name}: {told}, {_growth(memory)}, no finding")
    return True


class _Tried:
    """Tries inputs of one target; knows how many, and the last."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.count = 0
        self.last = b""

    def round(self) -> Callable[[], None]:
        """Make a function that tries some inputs."""

        def one(data: bytes) -> None:
            self.count += 1
            self.last = data
            with impatience():
                self.target.check(data)

        rounds = settings(
            max_examples=_ROUND,
            database=None,
            deadline=None,
            phases=_PHASES,
            suppress_health_check=[HealthCheck(kind) for kind in HealthCheck],
        )
        tried: Callable[[], None] = rounds(given(self.target.inputs)(one))
        return tried


def can_be_guided() -> bool:
    """Tell whether the guided engine is installed."""
    return importlib.util.find_spec("atheris") is not None


def guided(name: str, seconds: float, report: Callable[[str], None]) -> bool:
    """Let the guided engine try a target for some time; tell whether all went well."""
    with tempfile.TemporaryDirectory() as corpus:
        command = [sys.executable, "-m", "fuzz.guided", name, corpus, str(SEEDS / name)]
        command += [f"-max_total_time={round(seconds)}", f"-timeout={PATIENCE}"]
        command += [f"-rss_limit_mb={_MEMORY}", f"-max_len={_LONGEST}", "-print_final_stats=1"]
        command += [f"-artifact_prefix={corpus}/finding-", "-verbosity=1"]
        (SEEDS / name).mkdir(parents=True, exist_ok=True)
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace")
        findings = sorted(Path(corpus).glob("finding-*"))
        for finding in findings:
            report(f"{name}: kept as {keep(name, finding.read_bytes())}")
    stats = [line for line in ran.stderr.splitlines() if line.startswith("stat::")]
    if ran.returncode or findings:
        report("\n".join([*ran.stdout.splitlines()[-40:], *ran.stderr.splitlines()[-20:]]))
        return False
    report(f"{name}: guided, no finding, {', '.join(' '.join(line[6:].split()) for line in stats)}")
    return True


ENGINES = {"structured": structured, "quick": quick, "guided": guided}
"""The engines by name."""


def tried(seconds: float, name: str, engine: str) -> bool:
    """Try a target with an engine and print what came of it; tell whether all went well."""
    return ENGINES[engine](name, seconds, tell)


def tell(line: str) -> None:
    """Print a line of the report at once."""
    print(line, flush=True)  # noqa: T201  # a command
