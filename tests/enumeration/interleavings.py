"""Every way to merge the scripts of a cast."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

Script = tuple[str, ...]


def merged(scripts: Sequence[Script]) -> Iterator[Script]:
    """Return every merge of the scripts, each in its own order."""
    if not any(scripts):
        yield ()
    for place, script in enumerate(scripts):
        if script:
            rest = [*scripts[:place], script[1:], *scripts[place + 1 :]]
            for tail in merged(rest):
                yield (script[0], *tail)


def interleavings(cast: Sequence[Sequence[Script]]) -> Iterator[Script]:
    """Return every merge of every choice of one script for each actor, without doubles."""
    seen: set[Script] = set()
    for scripts in product(*cast):
        for steps in merged(scripts):
            if steps not in seen:
                seen.add(steps)
                yield steps


def without_prefixes(sequences: Iterable[Script]) -> list[Script]:
    """Return the sequences that no other one goes on from: each step is compared anyway."""
    ordered = sorted(sequences)
    following: list[Script] = [*ordered[1:], ()][: len(ordered)]
    return [
        steps
        for steps, after in zip(ordered, following, strict=True)
        if after[: len(steps)] != steps
    ]
