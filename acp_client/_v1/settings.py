"""The configuration of one ACP v1 session: options, modes and models as the one list that v2 has.

v1 has three ways to say what can be chosen: configuration options, modes, and models. An agent may
send the older two instead of options, or beside them for clients that know no options. So:

- Modes and models are the option of that category or id, or else the one with the same values.
- If there is none, they become an option of their own, `mode` or `model`. Its `_meta` names the
  call that sets it (`setting_method` reads it); what agents send as options is set as an option.
- What is said of the current mode or model changes the option that stands for it.

What comes early, before the lists, is kept for them.
"""

from __future__ import annotations

from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from .. import wire
from . import shapes
from .parser import ReaderV1

SET_OPTION: Final = "session/set_config_option"


class _Choice(Struct, frozen=True):
    """One of the older two ways: where its list is, and which call sets it."""

    name: str
    lists_key: str
    list_key: str
    id_key: str
    current_key: str
    method: str


_CHOICES: Final = (
    _Choice("mode", "modes", "availableModes", "id", "currentModeId", "session/set_mode"),
    _Choice("model", "models", "availableModels", "modelId", "currentModelId", "session/set_model"),
)


def setting_method(option: wire.SessionConfigOption) -> str:
    """Return the method of the call that sets an option."""
    meta = None if isinstance(option, wire.Unknown) else option.meta
    method = None if meta is None else meta.value.get(shapes.SET_BY)
    return method if isinstance(method, str) else SET_OPTION


class Settings:
    """What is configured in one session."""

    def __init__(self) -> None:
        self._options: dict[str, Any] = {}
        self._standing: dict[str, tuple[bool, str]] = {}  # by category or id, and the option's id
        self._lists: dict[str, dict[str, Any]] = {}
        self._current: dict[str, Any] = {}
        self._reported = False

    def opened(self, result: dict[str, Any], reader: ReaderV1) -> bool:
        """Take the lists of a new or loaded session; return whether there were any."""
        early = dict(self._current)
        for choice in _CHOICES:
            lists = result.get(choice.lists_key)
            if isinstance(lists, dict):
                self._lists[choice.name] = lists
                self._current.setdefault(choice.name, lists.get(choice.current_key))
        given = result.get("configOptions")
        if isinstance(given, list) and not self._reported:
            self._replace_all(reader.options(given, "$.result"))
        else:
            self._place_all()
        for name, value in early.items():
            self.switch(name, value)
        return bool(self._options or self._lists)

    def replace(self, given: list[Any], reader: ReaderV1, path: str) -> None:
        """Take a new list of options."""
        self._reported = True
        self._replace_all(reader.options(given, path))

    def replace_one(self, given: Any, reader: ReaderV1, path: str) -> None:
        """Take one option, which replaces the one with its id or is a new one."""
        self._reported = True
        for option in reader.options([given], path):
            self._put(option)

    def choose(self, config_id: Any, value: Any) -> None:
        """Set the value of an option; a value that the option cannot have is ignored."""
        option = self._options.get(config_id) if isinstance(config_id, str) else None
        if option is not None:
            self._put(_with_value(option, value))
        elif value is not None and config_id in self._own_choices():
            self._current[config_id] = value

    def switch(self, name: str, value: Any) -> None:
        """Set the current mode or model, and the option that stands for it."""
        self._current[name] = value
        if name in self._standing:
            key = self._standing[name][1]
            option = self._options[key]
            if name == "mode" or value in _values(option):
                self._options[key] = _with_value(option, value)

    def call(self, config_id: str, value: Any) -> tuple[str, dict[str, Any]]:
        """Return the method that sets an option, and the parameters that say so."""
        choice = self._own_choices().get(config_id)
        if choice is not None:
            return choice.method, {f"{choice.name}Id": value}
        given = {"type": "boolean", "value": value} if isinstance(value, bool) else {"value": value}
        return SET_OPTION, {"configId": config_id, **given}

    def wanted(self, method: str, params: dict[str, Any]) -> tuple[str, Any] | None:
        """Return which option a request sets, and to what; `None` if it does not say."""
        for choice in _CHOICES:
            if method == choice.method:
                standing = self._standing.get(choice.name)
                option = choice.name if standing is None else standing[1]
                value = params.get(f"{choice.name}Id")
                return (option, value) if isinstance(value, str) else None
        config_id = params.get("configId")
        is_whole = isinstance(config_id, str) and "value" in params
        return (str(config_id), params["value"]) if is_whole else None

    def listed(self, reader: ReaderV1) -> tuple[wire.SessionConfigOption, ...]:
        """Return all options."""
        made = [self._made(choice) for choice in self._own_choices().values()]
        own = reader.options([option for option in made if option is not None], "$.result")
        return (*own, *self._options.values())

    # --- Which option stands for the mode and the model ---

    def _own_choices(self) -> dict[str, _Choice]:
        """Return the older ways that no option stands for, by name."""
        return {choice.name: choice for choice in _CHOICES if choice.name not in self._standing}

    def _made(self, choice: _Choice) -> dict[str, Any] | None:
        listed = self._lists.get(choice.name, {}).get(choice.list_key)
        return shapes.choices(
            choice.name, choice.id_key, self._current.get(choice.name), listed, choice.method
        )

    def _replace_all(self, options: tuple[Any, ...]) -> None:
        self._options = {_key(option, at): option for at, option in enumerate(options)}
        self._place_all()

    def _put(self, option: Any) -> None:
        key = _key(option, len(self._options))
        self._options[key] = option
        if key in (standing for _, standing in self._standing.values()):
            self._place_all()
        else:
            self._place(key, option)

    def _place_all(self) -> None:
        self._standing.clear()
        for key, option in self._options.items():
            self._place(key, option)

    def _place(self, key: str, option: Any) -> None:
        """Let an option stand for the mode or the model if no better one does."""
        for choice in _CHOICES:
            found = self._standing.get(choice.name)
            by_name = choice.name in (key, getattr(option, "category", None))
            is_better = by_name and (found is None or not found[0])
            if is_better or (found is None and self._has_same_values(option, choice)):
                self._standing[choice.name] = (by_name, key)
                self._current[choice.name] = getattr(option, "current_value", None)

    def _has_same_values(self, option: Any, choice: _Choice) -> bool:
        listed = self._lists.get(choice.name, {}).get(choice.list_key)
        values = shapes.ids_of(listed, choice.id_key)
        return bool(values) and values == _values(option)


def _key(option: Any, place: int) -> str:
    """Return what an option is found by; one without an id is found by its place."""
    found = option.value.get("configId") if isinstance(option, wire.Unknown) else option.config_id
    return found if isinstance(found, str) else f"\0{place}"


def _with_value(option: Any, value: Any) -> Any:
    match option:
        case wire.SessionConfigSelect() if isinstance(value, str):
            return replace(option, current_value=value)
        case wire.SessionConfigBoolean() if isinstance(value, bool):
            return replace(option, current_value=value)
        case wire.Unknown() if value is not None:
            return wire.Unknown({**option.value, "currentValue": value})
    return option


def _values(option: Any) -> set[str]:
    """Return the values that a select option can have."""
    found: set[str] = set()
    for item in option.options if isinstance(option, wire.SessionConfigSelect) else ():
        group = item.options if isinstance(item, wire.SessionConfigSelectGroup) else (item,)
        found.update(choice.value for choice in group)
    return found
