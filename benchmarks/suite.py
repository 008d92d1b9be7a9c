"""All benchmarks by name, in the order of the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from benchmarks import growth, many, memory, snapshots, startup, terminals, throughput, tolerance
from benchmarks.measuring import Result, Scale

SUITE: Final[dict[str, Callable[[Scale], Iterator[Result]]]] = {
    "decoders": throughput.against_decoders,
    "v1": throughput.first_version_of_the_protocol,
    "hand-written": throughput.against_hand_written,
    "content-chunks": throughput.content_chunks,
    "one-line": throughput.one_line_a_read,
    "million": throughput.at_a_million,
    "read-size": throughput.by_read_size,
    "subscribers": throughput.with_subscribers,
    "apply": snapshots.apply_each,
    "changes": snapshots.changes_by_size,
    "json": snapshots.as_json,
    "unknown": tolerance.unknown,
    "lenient": tolerance.lenient,
    "text": growth.text_after_every_batch,
    **growth.flat_costs(),
    "many": many.near_linear,
    "full-terminal": terminals.full_terminal,
    "text-length": terminals.length_of_text,
    "text-cost": terminals.cost_of_text,
    "memory": memory.retained,
    "resident": memory.resident,
    "pauses": memory.pauses,
    "import": startup.import_time,
    "sdk": throughput.against_sdk,  # the last: its classes stay, and the collector visits them
}
