"""Terminals: what a full one costs, how long a text can become, and what its bytes cost."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from acp_client import Delivery, Limits, OutputAppended, OutputBytes, Store
from benchmarks.measuring import (
    Budget,
    Result,
    Row,
    Scale,
    compared,
    interleaved,
    interleaved_clocks,
    ratios,
    seconds_of,
)
from benchmarks.streams import SESSION, cut, line

_LIMITS: Final = (100_000, 1_000_000)
_LINE: Final = "\x1b[32mINFO\x1b[0m [{:06}] compiling module src/parser/{}.rs \u2713 ok\r\n"
_UPDATES: Final = 200


def _chunk(data: bytes) -> bytes:
    text = base64.b64encode(data).decode()
    return line({"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": text}) + b"\n"


def _log(count: int) -> bytes:
    return "".join(_LINE.format(number, number % 97) for number in range(count)).encode()


# --- A full terminal ---


def full_terminal(scale: Scale) -> Iterator[Result]:
    """Compare updates of full terminals with another limit, text and changes read."""
    updates = [_chunk(_LINE.format(number, number).encode()) for number in range(_UPDATES)]
    stores = {f"{limit:,}": _full(limit) for limit in _LIMITS}
    clocks = {
        name: partial(seconds_of, partial(_received, store, updates))
        for name, store in stores.items()
    }
    seconds = interleaved_clocks(clocks, scale.rounds)
    large, small = (f"{limit:,}" for limit in reversed(_LIMITS))
    yield Row(
        f"an update of a full terminal, {large} B : {small} B",
        ratios(seconds, large, small),
        Budget(2.0),
        note=compared(seconds, large, small, _UPDATES),
    )


def _full(limit: int) -> Store:
    store = Store(protocol="v2", limits=Limits(terminal_bytes=limit))
    for part in cut(_log(limit // 50), 50_000):
        store.receive(_chunk(part))
    store.subscribe(_read_changes)
    return store


def _read_changes(delivery: Delivery) -> None:
    for change in delivery.changes:
        if isinstance(change, OutputAppended):
            len(change.text)


def _received(store: Store, updates: list[bytes]) -> None:
    for update in updates:
        store.receive(update)
        len(store.snapshot(SESSION).terminals[0].text)


# --- Text ---

_MAGNIFYING: Final = {
    "the cursor far to the right": b"\x1b[4095Cx\n",
    "columns": b"\x1b[999Gx\x1b[1Gy\n",
    "tabs that are cleared": b"\t\t\t\t\t\t\t\t\x1b[1Kx\n",
    "inserted blanks": b"x\x1b[D\x1b[900@\n",
}


def length_of_text(scale: Scale) -> Iterator[Result]:
    """Compare the characters of the text with the bytes that made it."""
    for name, unit in _MAGNIFYING.items():
        data = unit * (100_000 // len(unit))
        ratio = len(OutputBytes.of([data]).text) / len(data)
        yield Row(f"characters of text : bytes of output, {name}", (ratio,), Budget(10.0))


_BYTES: Final = 100_000
_PLAIN: Final = b"word word word and a word\n"
_UNITS: Final = {
    "colours": b"\x1b[32mINFO\x1b[0m compiling src/parser.rs ... ok\r\n",
    "a row cleared up to the cursor": b"\x1b[1K",
    "rows cleared whole": b"\x1b[2K",
    "blanks over characters": b"\x1b[5X",
    "blanks inserted": b"\x1b[5@",
    "filled and cleared": b"\x1b[4096Gx\r\x1b[K",
    "written and cleared": b"word\x1b[1K\x1b[3D",
    "progress": b" 10%\r 50%\r100%\n",
    "combining marks": "e\u0301o\u0308 ".encode(),
    "a dense row": ("e" + "\u0301" * 15).encode(),
}


def cost_of_text(scale: Scale) -> Iterator[Result]:
    """Compare the cost of a byte, as the text of a terminal is read, with that of plain text."""
    units = {"plain": _PLAIN, **_UNITS}
    runs = {name: _text_of(unit * (_BYTES // len(unit))) for name, unit in units.items()}
    seconds = interleaved(runs, scale.rounds)
    for name in _UNITS:
        yield Row(
            f"a byte of terminal text, {name} : plain",
            ratios(seconds, name, "plain"),
            Budget(20.0),
            note=compared(seconds, name, "plain", _BYTES),
        )


def _text_of(data: bytes) -> Callable[[], object]:
    chunk = _chunk(data)

    def run() -> object:
        store = Store(protocol="v2")
        store.receive(chunk)
        return store.snapshot(SESSION).terminals[0].text

    return run
