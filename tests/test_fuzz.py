"""Whatever was found by fuzzing once is tried again, and the engines can be run."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from fuzz import engines
from fuzz.targets import TARGETS, Target
from hypothesis import strategies as st

FOUND = [(name, path) for name in TARGETS for path in engines.seeds(name)]


@pytest.mark.parametrize(("name", "path"), FOUND, ids=lambda part: getattr(part, "name", part))
def test_seeds_are_handled(name: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a target once stumbled over, or what leads it far, does no harm."""
    monkeypatch.setattr("fuzz.targets.THOROUGH", 1)
    TARGETS[name].check(path.read_bytes())


def test_every_target_has_seeds() -> None:
    """No target begins from nothing, and every directory of seeds has a target."""
    assert {name for name, _ in FOUND} == set(TARGETS)
    assert {path.name for path in engines.SEEDS.iterdir()} == set(TARGETS)


@pytest.fixture
def reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Give the lines of a report, while seeds are kept elsewhere."""
    monkeypatch.setattr(engines, "SEEDS", tmp_path)
    monkeypatch.setattr(engines, "_ROUND", 20)
    return []


@pytest.fixture
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the given time be over after one round, however fast it was."""
    clock = SimpleNamespace(monotonic=iter([0.0, 0.0, 1.0]).__next__, time_ns=time.time_ns)
    monkeypatch.setattr(engines, "time", clock)


@pytest.mark.usefixtures("one_round")
def test_a_target_without_findings_is_counted(reported: list[str]) -> None:
    """Inputs are tried for the given time, and the report says how many."""
    assert engines.structured("stored", 0.01, reported.append)
    assert reported[-1].startswith("stored: 20 structured inputs")


@pytest.mark.usefixtures("one_round")
@pytest.mark.parametrize("name", TARGETS)
def test_quick_inputs_are_counted(name: str, reported: list[str]) -> None:
    """A target makes inputs by itself, and the report says of how many parts."""
    assert engines.quick(name, 0.01, reported.append)
    assert reported[-1].startswith(f"{name}: 20 quick inputs of ")


def test_a_quick_finding_is_kept(
    reported: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An input that was made at random and fails is kept as it is."""

    def check(data: bytes) -> None:
        assert len(data) < 3, "too long"

    target = Target(check, st.binary(), lambda chance: chance.randbytes(3), "lines")
    monkeypatch.setitem(TARGETS, "stored", target)
    assert not engines.quick("stored", 5, reported.append)
    assert "too long" in reported[0]
    assert [len(seed.read_bytes()) for seed in engines.seeds("stored")] == [3]


def test_a_finding_is_made_small_and_kept(
    reported: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An input that fails is kept as the least that fails like it."""

    def check(data: bytes) -> None:
        assert len(data) < 3, "too long"

    inputs = st.binary(min_size=2, max_size=9)
    monkeypatch.setitem(TARGETS, "stored", Target(check, inputs, lambda _: b"", "lines"))
    assert not engines.structured("stored", 5, reported.append)
    assert "too long" in reported[0]
    (seed,) = engines.seeds("stored")
    assert seed.read_bytes() == b"\0\0\0"
    assert str(seed) in reported[-1]
    assert seed.parent.parent == tmp_path


def test_hanging_is_a_finding(reported: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """An input that takes longer than anybody would wait is kept too."""

    def hang(data: bytes) -> None:
        while data:
            pass

    monkeypatch.setattr("fuzz.targets.PATIENCE", 0.05)
    monkeypatch.setitem(TARGETS, "stored", Target(hang, st.just(b"x"), lambda _: b"x", "lines"))
    for engine in (engines.structured, engines.quick):
        reported.clear()
        assert not engine("stored", 5, reported.append)
        assert "HangError" in reported[0]
