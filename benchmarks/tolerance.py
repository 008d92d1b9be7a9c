"""What a peer does not get right, or knows and we do not: unknown variants, forgiven mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Final

import acp_client
from benchmarks.baselines import decode_typed
from benchmarks.measuring import Budget, Result, Row, Scale, compared, interleaved, ratios
from benchmarks.streams import cut, joined, long_message, malformed, unknown_variants, well_formed
from benchmarks.subjects import snapshot_of
from benchmarks.throughput import READ_SIZE

Lines = Callable[[], Iterator[bytes]]

_UNKNOWN: Final = Budget(6)
_LENIENT: Final = Budget(20)


def unknown(scale: Scale) -> Iterator[Result]:
    """Compare an unknown variant with the typed decode of a chunk of the same length."""
    return _compared("an unknown variant", unknown_variants, long_message, _UNKNOWN, scale)


def lenient(scale: Scale) -> Iterator[Result]:
    """Compare a message with a forgiven mistake with the typed decode of it without."""
    return _compared("a lenient message", malformed, well_formed, _LENIENT, scale)


def _compared(name: str, odd: Lines, even: Lines, budget: Budget, scale: Scale) -> Iterator[Result]:
    odd_lines = list(islice(odd(), scale.odd))
    even_lines = list(islice(even(), scale.odd))
    runs: dict[str, Callable[[], object]] = {
        "received": partial(snapshot_of, cut(joined(odd_lines), READ_SIZE)),
        "decoded": partial(_decoded, odd_lines),
        "typed decode": partial(decode_typed, even_lines),
    }
    seconds = interleaved(runs, scale.rounds)
    for subject in ("received", "decoded"):
        yield Row(
            f"{name}, {subject} : typed decode",
            ratios(seconds, subject, "typed decode"),
            budget,
            note=compared(seconds, subject, "typed decode", scale.odd),
        )


def _decoded(lines: list[bytes]) -> list[object]:
    return [acp_client.decode(line) for line in lines]
