"""A store that speaks v1 and the second implementation, fed alike and compared."""

from __future__ import annotations

from naive import LANDED_V1
from naive.v1 import NaiveV1
from strategies import Frame
from traffic import documents

from acp_client import Store, wire


def compare(frames: list[Frame], lost_at: int | None) -> None:
    """Feed frames to both, and compare at a loss and at the end."""
    store, second = Store(protocol="v1", observer=True), NaiveV1(rules=LANDED_V1)
    for number, frame in enumerate(frames, 1):
        if number == lost_at:
            assert documents(store) == second.document()["sessions"]
            store.disconnect(wire.Error(-1, "gone"))
            second.disconnect({"code": -1, "message": "gone"})
            assert documents(store) == second.document()["sessions"]
        if frame.sent:
            store.sent(frame.data + b"\n")
            second.sent(frame.data)
        else:
            store.receive(frame.data + b"\n")
            second.receive(frame.data)
    document = second.document()
    assert documents(store) == document["sessions"]
    kinds = [problem.kind for problem in store.problems]
    assert kinds == [problem["kind"] for problem in document["problems"]]
