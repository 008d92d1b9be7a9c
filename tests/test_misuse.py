"""Misuse by the caller: whatever is given that cannot be used, one of our exceptions tells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import acp_client
from acp_client import AcpClientError, Store, wire
from acp_client._content import ContentBlocks

NO: Any = None
HI = [wire.TextContent("hi")]


@pytest.mark.parametrize(
    "misuse",
    [
        lambda store: store.receive("text"),
        lambda store: store.receive(5),
        lambda store: store.receive(NO),
        lambda store: store.sent("text"),
        lambda store: store.snapshot([]),
        lambda store: store.prompt("s", NO),
        lambda store: store.prompt("s", "text"),
        lambda store: store.prompt(5, HI),
        lambda store: store.cancel(NO),
        lambda store: store.cancel(b"s"),
        lambda store: store.answer_permission([], 1, None),
        lambda store: store.subscribe(NO),
        lambda store: store.disconnect("lost"),
        lambda _: Store(limits=NO),
        lambda _: Store(protocol="v3"),  # type: ignore[arg-type]  # that is the point
        lambda _: acp_client.decode(NO),
        lambda _: acp_client.loads(NO),
        lambda _: acp_client.dumps(NO),
        lambda _: acp_client.to_document(NO),
        lambda _: acp_client.apply(acp_client.Snapshot("s"), NO),
        lambda _: acp_client.Snapshot("s").terminals["t"],  # type: ignore[call-overload]  # same
        lambda _: acp_client.Snapshot("s").entries[1.0],  # type: ignore[call-overload]  # same
        lambda _: ContentBlocks.made(())[NO],
    ],
)
def test_misuse_raises_an_exception_of_the_package(misuse: Callable[[Any], object]) -> None:
    """Nothing is taken for something else, and nothing foreign is raised."""
    store = Store()
    with pytest.raises(AcpClientError):
        misuse(store)
    assert store.sessions == ()
    assert store.problems == ()
