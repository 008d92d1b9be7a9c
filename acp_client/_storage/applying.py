"""`apply_changes`: changes onto the plain snapshot document, as a renderer in any language would.

It is the law of changes as code: `apply_changes(to_document(old), changes(old, new))` is
`to_document(new)`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeAlias

from .._changes import Change
from .._errors import InvalidValueError, checked
from .change_documents import change_to_document

Document: TypeAlias = dict[str, Any]


def apply_changes(document: Document, changes: Iterable[Change | Document]) -> Document:
    """Return the snapshot document after some changes; the one that is given stays as it is.

    `document` is what `to_document` returns, and the changes are those of `changes` or of a
    delivery, or what `change_to_document` made of them. Raises `InvalidValueError` for anything
    else, and for changes that do not fit the document.
    """
    after = dict(checked(document, dict, "a snapshot document"))
    try:
        for change in checked(changes, Iterable, "changes"):
            step = change if isinstance(change, dict) else change_to_document(change)
            after = _APPLY[step["change"]](after, step)
    except (LookupError, TypeError, ValueError) as error:
        raise InvalidValueError(f"the change does not fit the document: {error!r:.200}") from error
    return after


# --- Entries ---


def _changed(document: Document, key: str, place: int, new: Any) -> Document:
    """Return a document with another value in a place of one of its lists, or behind the last."""
    items = list(document[key])
    items[place : place + 1] = [new]
    return {**document, key: items}


def _entry_added(document: Document, change: Document) -> Document:
    return _changed(document, "entries", change["place"], change["new"])


def _content_key(entry: Document) -> str:
    return "summary" if entry["type"] == "compaction" else "content"


def _content_spliced(document: Document, change: Document) -> Document:
    """Replace the items from `index` on; the first may go on with a text that was there."""
    entry = document["entries"][change["place"]]
    key, index = _content_key(entry), change["index"]
    held, items = entry[key], list(change["items"])
    if change.get("kept"):
        begun = _text(held[index])[: change["kept"]]
        items[0] = _with_text(items[0], begun + _text(items[0]))
    metas = {at: meta for at, meta in entry.get("chunkMeta", {}).items() if int(at) < index}
    after = {**entry, key: [*held[:index], *items]}
    return _changed(
        document, "entries", change["place"], _with_metas(after, metas, change["metas"])
    )


def _content_replaced(document: Document, change: Document) -> Document:
    entry, new = document["entries"][change["place"]], change["new"]
    after = {**entry, _content_key(entry): new["items"]}
    return _changed(document, "entries", change["place"], _with_metas(after, {}, new["metas"]))


def _with_metas(entry: Document, metas: Document, brought: list[Any]) -> Document:
    metas = {**metas, **{str(index): meta for index, meta in brought}}
    rest = {key: value for key, value in entry.items() if key != "chunkMeta"}
    return {**rest, "chunkMeta": metas} if metas else rest


def _text(item: Document) -> str:
    text: str = item["content"]["text"] if item["type"] == "content" else item["text"]
    return text


def _with_text(item: Document, text: str) -> Document:
    if item["type"] == "content":
        return {**item, "content": {**item["content"], "text": text}}
    return {**item, "text": text}


_EMPTY: Final[Document] = {
    "locations": [],
    "droppedBytes": 0,
    "elicitations": [],
    "cancelRequested": False,
    "cancelling": False,
}
"""Values other than `null` with which a field is left out."""


def _with_fields(held: Document, new: Document) -> Document:
    after = {**held, **new}
    return {key: value for key, value in after.items() if value != _EMPTY.get(key)}


def _entry_changed(document: Document, change: Document) -> Document:
    entry, new = document["entries"][change["place"]], dict(change["new"])
    marked = new.pop("cancelMarked", "reportedStatus" in entry)
    reported = new.pop("reportedStatus", entry.get("reportedStatus", entry.get("status")))
    new["reportedStatus"] = reported if marked else None
    return _changed(document, "entries", change["place"], _with_fields(entry, new))


# --- Terminals ---


def _terminal_added(document: Document, change: Document) -> Document:
    return _changed(document, "terminals", change["place"], change["new"])


def _output_appended(document: Document, change: Document) -> Document:
    terminal = document["terminals"][change["place"]]
    output, data = terminal["output"], base64.b64decode(change["data"])
    if change["dropped"]:
        begun, last = "", base64.b64decode(output)[change["dropped"] :]
    else:  # only the last three bytes may share a group with what comes
        begun, last = output[:-4], base64.b64decode(output[-4:])
    output = begun + base64.b64encode(last + data).decode()
    return _changed(document, "terminals", change["place"], {**terminal, "output": output})


def _output_replaced(document: Document, change: Document) -> Document:
    terminal = document["terminals"][change["place"]]
    return _changed(document, "terminals", change["place"], {**terminal, "output": change["new"]})


def _terminal_changed(document: Document, change: Document) -> Document:
    terminal = _with_fields(document["terminals"][change["place"]], change["new"])
    return _changed(document, "terminals", change["place"], terminal)


# --- The rest of the session ---


def _reset(document: Document, change: Document) -> Document:
    return {key: value for key, value in change["new"].items() if key != "bookkeeping"}


def _plan_changed(document: Document, change: Document) -> Document:
    plans, place = list(document["plans"]), change["place"]
    if change["old"] is not None:
        del plans[place]
    if change["new"] is not None:
        plans.insert(place, change["new"])
    return {**document, "plans": plans}


def _prompt_changed(document: Document, change: Document) -> Document:
    return _changed(document, "prompts", change["place"], change["new"])


def _turn_changed(document: Document, change: Document) -> Document:
    turn = {key: value for key, value in change["new"].items() if key != "costBefore"}
    return _changed({"turns": [], **document}, "turns", change["place"], turn)


def _notices_added(document: Document, change: Document) -> Document:
    notices = [*document["notices"][change["dropped"] :], *change["new"]]
    return {**document, "notices": notices}


def _info_changed(document: Document, change: Document) -> Document:
    return {**document, "info": _with_fields(document["info"], change["new"])}


def _replaces(key: str) -> Callable[[Document, Document], Document]:
    """Return what replaces a value of the document; `null` leaves it out."""
    return lambda document, change: _with_fields(document, {key: change["new"]})


_APPLY: Final[dict[str, Callable[[Document, Document], Document]]] = {
    "reset": _reset,
    "entryAdded": _entry_added,
    "textAppended": _content_spliced,
    "textReplaced": _content_spliced,
    "itemsAppended": _content_spliced,
    "contentReplaced": _content_replaced,
    "entryChanged": _entry_changed,
    "terminalAdded": _terminal_added,
    "outputAppended": _output_appended,
    "outputReplaced": _output_replaced,
    "terminalChanged": _terminal_changed,
    "planChanged": _plan_changed,
    "promptChanged": _prompt_changed,
    "turnChanged": _turn_changed,
    "noticesAdded": _notices_added,
    "infoChanged": _info_changed,
    "availableCommandsChanged": _replaces("availableCommands"),
    "configOptionsChanged": _replaces("configOptions"),
    "permissionsChanged": _replaces("permissions"),
    "elicitationsChanged": _replaces("elicitations"),
    "cancellingChanged": _replaces("cancelling"),
    "connectionLostChanged": _replaces("connectionLost"),
    "stateChanged": _replaces("state"),
    "usageChanged": _replaces("usage"),
}
"""By the name of a change, what it does to the document."""
