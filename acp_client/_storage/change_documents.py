"""Changes as JSON, and back: `change_to_document` and `change_from_document`.

A change is written with the keys of its class in camel case, and its name in `change`. The parts of
a session in it (entries, plans, prompts, content) have the form that they have in the snapshot
document, so that a program in any language that holds that document can apply the changes to it, as
`apply_changes` does. `Position` has its own keys, bytes are base64, `metas` are pairs of an index
and the `_meta`. A `Reset` has the stored form of its snapshot.
"""

from __future__ import annotations

import base64
from collections.abc import Hashable
from functools import cache
from types import MappingProxyType
from typing import Any, Final, get_args, get_type_hints

import attrs

from .. import _changes as changes
from .. import wire
from .._client_state import Turn
from .._content import ChunkMeta, ContentBlocks, ToolCallContents
from .._errors import InvalidValueError, checked
from .._json import encode, parse
from .._snapshot import SessionInfo, Snapshot, Terminal, ToolCall
from .._text import Position
from .documents import ENTRY_CLASSES, RULES, document_key
from .hooks import Hook, Rule, Rules, is_one_of, listed, wire_out
from .serialization import DAMAGES, restored, stored

_KINDS: Final = {
    kind.__name__[0].lower() + kind.__name__[1:]: kind for kind in get_args(changes.Change)
}
_NAMES: Final = {kind: name for name, kind in _KINDS.items()}


def change_to_document(change: changes.Change) -> dict[str, Any]:
    """Return a change as plain dicts, lists, strings, numbers, booleans and `None`, for JSON.

    Raises `InvalidValueError` for a value that is not a change.
    """
    if type(change) not in _NAMES:
        raise InvalidValueError(f"expected a change, not {type(change).__name__}")
    document: dict[str, Any] = parse(encode(raw_change(change)), deepest=None)
    return document


def raw_change(change: changes.Change) -> dict[str, Any]:
    """Return a change with `Json` in it for what is raw."""
    fields = {
        document_key(name): out(getattr(change, name))
        for name, out, _ in _hooks(type(change), _subject(change))
    }
    return {"change": _NAMES[type(change)], **fields}


def change_from_document(document: dict[str, Any]) -> changes.Change:
    """Return the change that `change_to_document` wrote: an equal one.

    Raises `InvalidValueError` for any other value.
    """
    try:
        kind: Any = _KINDS[checked(document, dict, "a document of a change")["change"]]
        subject = _subject_of_key(kind, document.get("key"))
        fields = {
            name: back(document[document_key(name)]) for name, _, back in _hooks(kind, subject)
        }
    except DAMAGES as error:
        raise InvalidValueError(f"not the document of a change: {error!r:.200}") from error
    change: changes.Change = _made(kind, fields)
    return change


def _made(kind: Any, fields: dict[str, Any]) -> Any:
    if kind is not changes.OutputAppended:
        return kind(**fields)
    spliced = fields.pop("start"), fields.pop("text")
    return kind(**fields, _spliced=spliced)


# --- What a change is about ---


def _subject(change: Any) -> Any:
    """Return the class whose fields or content a change has."""
    return _subject_of_key(type(change), getattr(change, "key", None))


def _subject_of_key(kind: Any, key: Any) -> Any:
    if kind is changes.InfoChanged:
        return SessionInfo
    if kind in (changes.TerminalChanged, changes.TerminalAdded):
        return Terminal
    named = key[0] if isinstance(key, tuple | list) else "unknown"
    return ENTRY_CLASSES.get(named)


# --- Hooks ---


@cache
def _hooks(kind: Any, subject: Any) -> list[tuple[str, Hook, Hook]]:
    """Return the fields of a class of changes, each with what writes it and what reads it back."""
    hints = {
        name: hint
        for name, hint in get_type_hints(kind, include_extras=True).items()
        if name[0] != "_"
    }
    if kind is changes.OutputAppended:
        hints |= {"start": Position, "text": str}
    if kind is changes.ContentReplaced:
        hints["new"] = ToolCallContents if subject is ToolCall else ContentBlocks
    return [(name, *_hook(hint, subject)) for name, hint in hints.items()]


def _hook(hint: Any, subject: Any) -> tuple[Hook, Hook]:
    if hint == changes.Fields:
        return _fields_hooks(subject)
    if hint == tuple[str, ...]:
        keys = {name: document_key(name) for name in get_type_hints(subject)}
        keys["status"] = "status"
        names = {key: name for name, key in keys.items()}
        return (lambda given: [keys[one] for one in given]), lambda given: tuple(
            names[one] for one in listed(given)
        )
    if hint == tuple[changes.ContentItem, ...]:
        item: Any = wire.ToolCallContent if subject is ToolCall else wire.ContentBlock
        hint = tuple[item, ...]
    if hint in (ContentBlocks, ToolCallContents):
        return _content_hooks(hint)
    return _CHANGE_RULES.out(hint), _CHANGE_RULES.back(hint)


def _fields_hooks(subject: Any) -> tuple[Hook, Hook]:
    hints = {**get_type_hints(subject, include_extras=True), "status": str}
    names = {document_key(name): name for name in hints}

    def out(fields: changes.Fields) -> dict[str, Any]:
        return {document_key(name): RULES.out(hints[name])(value) for name, value in fields.items()}

    def back(document: dict[str, Any]) -> changes.Fields:
        given = {names[key]: value for key, value in document.items()}
        return MappingProxyType(
            {name: RULES.back(hints[name])(value) for name, value in given.items()}
        )

    return out, back


def _content_hooks(kind: Any) -> tuple[Hook, Hook]:
    items, metas = RULES.back(kind), tuple[ChunkMeta, ...]
    metas_out, metas_back = _CHANGE_RULES.out(metas), _CHANGE_RULES.back(metas)

    def out(content: Any) -> dict[str, Any]:
        return {"items": RULES.out(kind)(content), "metas": metas_out(content.metas)}

    def back(document: dict[str, Any]) -> Any:
        content = items(document["items"])
        return content._made(content._stored(), metas_back(document["metas"]))

    return out, back


def _pair(hook: Any) -> Any:
    return lambda kind, rules: hook


def _key_back(key: Any) -> Hashable:
    return tuple(key) if isinstance(key, list) else key


def _meta_back(pair: Any) -> ChunkMeta:
    index, meta = listed(pair)
    return int(index), wire.JsonObject(meta)


def _position_out(position: Position) -> dict[str, int]:
    return {document_key(name): value for name, value in position._asdict().items()}


def _position_back(document: dict[str, int]) -> Position:
    return Position(*(document[document_key(name)] for name in Position._fields))


def _turn_out(kind: Any, rules: Rules) -> Hook:
    """Make the hook of turns, with the cost before them, which no snapshot document has."""
    hook = RULES.out(Turn)

    def out(turn: Turn) -> dict[str, Any]:
        cost = {} if turn.cost_before is None else {"costBefore": wire_out(turn.cost_before)}
        return {**hook(turn), **cost}

    return out


def _turn_back(kind: Any, rules: Rules) -> Hook:
    hook, cost = RULES.back(Turn), RULES.back(wire.Cost)

    def back(document: dict[str, Any]) -> Turn:
        turn: Turn = hook({key: document[key] for key in document if key != "costBefore"})
        before = document.get("costBefore")
        return turn if before is None else attrs.evolve(turn, cost_before=cost(before))

    return back


_CHANGE_RULES: Final = Rules(
    (
        Rule(is_one_of(Turn), _turn_out, _turn_back),
        Rule(is_one_of(Snapshot), _pair(stored), _pair(restored)),
        Rule(is_one_of(Hashable), _pair(lambda key: key), _pair(_key_back)),
        Rule(is_one_of(ChunkMeta), _pair(list), _pair(_meta_back)),
        Rule(is_one_of(Position), _pair(_position_out), _pair(_position_back)),
        Rule(
            is_one_of(bytes),
            _pair(lambda data: base64.b64encode(data).decode()),
            _pair(lambda text: base64.b64decode(text, validate=True)),
        ),
        *RULES,
    )
)
"""How parts of a change are written that no snapshot has."""
