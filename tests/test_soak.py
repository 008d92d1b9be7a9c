"""A soak: sessions come and go for a long time, and what the process takes stays level.

`ACP_CLIENT_SOAK_SECONDS` is how long it goes on; two seconds unless it says otherwise.
"""

from __future__ import annotations

import io
import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from traffic import BUNDLED

from acp_client import Limits, Store
from acp_client._delivery import Delivery
from acp_client._recordings import Frame, read_recording

SECONDS = float(os.environ.get("ACP_CLIENT_SOAK_SECONDS", "2"))
LIVE = 20
"""Sessions that are open at a time."""

MEMORY = Path("/proc/self/statm")


def resident() -> float:
    """Tell the mebibytes that this process has in memory."""
    return int(MEMORY.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def recorded() -> tuple[list[Frame], bytes]:
    """Give a recorded session, and its id."""
    frames = list(read_recording(io.BytesIO((BUNDLED / "coding-session.ndjson").read_bytes())))
    update = next(frame.data for frame in frames if b"session/update" in frame.data)
    name: str = json.loads(update)["params"]["sessionId"]
    return frames, name.encode()


def lives(store: Store, seconds: float) -> Iterator[str]:
    """Live through sessions for some time, each under a name of its own; give the names."""
    frames, name = recorded()
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        number += 1
        new = b"soak %d" % number
        for frame in frames:
            (store.sent if frame.sent else store.receive)(frame.data.replace(name, new) + b"\n")
        store.receive(b"junk %d\n" % number)
        yield new.decode()


@pytest.mark.skipif(not MEMORY.exists(), reason="the system does not tell the memory of a process")
def test_memory_stays_level() -> None:
    """After thousands of sessions the process takes hardly more than after the first ones."""
    store = Store(limits=Limits(terminal_bytes=10_000, problems=50), protocol="v2")
    chance, told = random.Random(6), [0]

    def count(delivery: Delivery) -> None:
        told[0] += len(delivery.changes)

    store.subscribe(count)
    live: list[str] = []
    early, after = 0.0, time.monotonic() + SECONDS / 3
    for name in lives(store, SECONDS):
        live.append(name)
        if len(live) > LIVE:
            store.close_session(live.pop(chance.randrange(len(live))))
        if not early and time.monotonic() > after:
            early = resident()
    assert len(store.sessions) <= LIVE
    assert len(store.problems) == 50
    assert told[0] > 0
    assert 0 < resident() < early + 10
