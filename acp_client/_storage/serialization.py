"""Snapshots to and from JSON.

`to_document` returns the snapshot document, the form that `acp-client replay --json` prints: the
words of the wire, with everything left out that is unset. `dumps` stores a snapshot losslessly as
the same document in an envelope that names its version, with what a document has no words for (the
snapshot from before a replay, the reducer's bookkeeping) beside it; `loads` restores it.

A stored snapshot is read for ever: a change of the document is a new version, with a function in
`_UPGRADES` that turns the old one into the next.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import attrs
from msgspec.structs import replace

from .. import wire
from .._client_state import Turn, WantedOption
from .._errors import InvalidValueError, StoredSnapshotError, checked
from .._json import MAX_DEPTH, NotJson, encode, parse, text_bytes
from .._snapshot import BOOKKEEPING, Snapshot
from .._typed import convert

if TYPE_CHECKING:
    from .documents import Documents

FORMAT: Final = "acp-client-snapshot"
VERSION: Final = 2


def _with_nothing_more(document: dict[str, Any]) -> dict[str, Any]:
    """Version 2 has keys that version 1 had not: turns, elicitations, what is being cancelled."""
    return document


_UPGRADES: Final[dict[int, Callable[[dict[str, Any]], dict[str, Any]]]] = {1: _with_nothing_more}
"""By version: what turns a document of that version into one of the next."""


def _documents() -> Documents:
    # Only those who store or print snapshots need to load what is behind it.
    from .documents import documents

    return documents()


DAMAGES: Final = (LookupError, TypeError, ValueError, AttributeError)
"""What is raised where a document is not what it should be."""


_LEVELS_AROUND: Final = 16
"""Levels that a stored snapshot may have around a value, more than a message has around it."""

_LONGEST_TOLD: Final = 300
"""The most characters of a reason, which may quote the file."""


def to_document(snapshot: Snapshot) -> dict[str, Any]:
    """Return the snapshot document as plain dicts, lists, strings, numbers, booleans and `None`.

    It is what `acp-client replay --json` prints of a session, so `json.dumps` writes it. Raises
    `InvalidValueError` for a value that is not a snapshot.
    """
    document: dict[str, Any] = parse(encode(raw_document(snapshot)), deepest=None)
    return document


def to_json(document: Any) -> bytes:
    """Write documents, in lists and dicts or alone, as compact JSON in UTF-8.

    Text that is not Unicode (lone surrogates) is written as escapes. Raises `InvalidValueError` for
    a value that JSON has no form for.
    """
    try:
        return encode(document)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValueError(f"not a JSON document: {error!s:.200}") from None


def raw_document(snapshot: Snapshot) -> dict[str, Any]:
    """Return the snapshot document with `Json` in it for what is raw, to be written exactly."""
    checked(snapshot, Snapshot, "a snapshot")
    document: dict[str, Any] = _documents().out(snapshot)
    return document


def dumps(snapshot: Snapshot) -> bytes:
    """Store a snapshot as JSON text. `loads(dumps(snapshot)) == snapshot`."""
    checked(snapshot, Snapshot, "a snapshot")
    return encode({"format": FORMAT, "version": VERSION, "snapshot": stored(snapshot)})


def loads(data: bytes | str) -> Snapshot:
    """Restore a snapshot that `dumps` stored, in this version of the package or an earlier one.

    Raises `StoredSnapshotError` for any other text, and for a document of a newer version.
    """
    text = text_bytes(data)
    try:
        return restored(_current(_parsed(text)))
    except StoredSnapshotError:
        raise
    except DAMAGES as error:
        told = repr(error)[:_LONGEST_TOLD]
        raise StoredSnapshotError(f"the stored snapshot is damaged: {told}") from error


def _parsed(text: bytes) -> dict[str, Any]:
    try:
        value = parse(text, deepest=MAX_DEPTH + _LEVELS_AROUND)
    except NotJson as error:
        raise StoredSnapshotError(f"not a stored snapshot: {error}") from None
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise StoredSnapshotError(f'not a stored snapshot: the format is not "{FORMAT}"')
    return value


def _current(envelope: dict[str, Any]) -> dict[str, Any]:
    """Return the document inside an envelope, upgraded to the current version."""
    version = envelope.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        told = repr(version) if isinstance(version, str | int | None) else type(version).__name__
        raise StoredSnapshotError(
            f"the stored snapshot has no version that exists: {told[:_LONGEST_TOLD]}"
        )
    if version > VERSION:
        raise StoredSnapshotError(
            f"the stored snapshot has version {version}; this package reads up to {VERSION}"
        )
    document: dict[str, Any] = envelope["snapshot"]
    for older in range(version, VERSION):
        document = _UPGRADES[older](document)
    return document


def stored(snapshot: Snapshot) -> dict[str, Any]:
    """Return the document of a snapshot and what a document has no words for."""
    document = raw_document(snapshot)
    around = snapshot._fields
    notes: dict[str, Any] = {key: getattr(around, name) for name, key in BOOKKEEPING.items()}
    notes["stateReported"] = around.state is not None
    if around.wanted:
        notes["confirmedOptions"] = list(map(wire.to_builtins, around.config_options))
        notes["wantedOptions"] = [
            [one.request_id, one.config_id, one.value] for one in around.wanted
        ]
    costs = [wire.to_builtins(turn.cost_before) for turn in around.turns]
    if any(costs):
        notes["turnCosts"] = costs
    if around.before_replay is not None:
        notes["beforeReplay"] = stored(around.before_replay)
    return {**document, "bookkeeping": notes}


def restored(document: dict[str, Any]) -> Snapshot:
    """Return the snapshot of a stored document."""
    notes = document["bookkeeping"]
    snapshot: Snapshot = _documents().back(document)
    blank = snapshot._fields
    changes = {name: _note(notes, key, getattr(blank, name)) for name, key in BOOKKEEPING.items()}
    if changes["foreground_start"] > len(snapshot.entries):
        raise ValueError("the foreground work begins behind the last entry")
    if not _note(notes, "stateReported", True):
        changes["state"] = None
    if "wantedOptions" in notes:
        options = {"configOptions": notes["confirmedOptions"]}
        changes["config_options"] = _documents().back({**document, **options}).config_options
        changes["wanted"] = tuple(map(_wanted, notes["wantedOptions"]))
    if "turnCosts" in notes:
        changes["turns"] = tuple(
            _with_cost(turn, cost)
            for turn, cost in zip(blank.turns, notes["turnCosts"], strict=True)
        )
    if "beforeReplay" in notes:
        changes["before_replay"] = restored(_alone(notes["beforeReplay"]))
    return replace(snapshot, _fields=attrs.evolve(blank, **changes))


def _wanted(stored: list[Any]) -> WantedOption:
    request_id, config_id, value = stored
    if type(request_id) not in (str, int) or type(config_id) is not str:
        raise ValueError("an option is wanted by a request, under its id")
    return WantedOption(request_id, config_id, wire.Json(value))


def _with_cost(turn: Turn, cost: Any) -> Turn:
    before: wire.Cost | None = None if cost is None else convert(cost, wire.Cost)
    return attrs.evolve(turn, cost_before=before)


def _alone(document: dict[str, Any]) -> dict[str, Any]:
    """Return what was there before a replay, which had none before it."""
    if "beforeReplay" in document["bookkeeping"]:
        raise ValueError("a replay within a replay")
    return document


def _note(notes: dict[str, Any], key: str, blank: Any) -> Any:
    """Return a note of the bookkeeping, which must be of the kind that `blank` is of."""
    note = notes[key]
    if type(note) is not type(blank) or note < 0:
        raise ValueError(f"{key} is none")
    return note
