"""The configuration of a v1 session: options, mode and model as the one list that v2 has.

v1 has three ways to say what can be chosen: configuration options, modes, and models, the older two
of which an agent may send beside the options or instead of them. They become options of their own,
`mode` and `model`, unless the options have one of that category already; then that one follows what
is said of the current mode or model. What comes early, before the lists, is kept for them.
"""

from __future__ import annotations

from typing import Any, Final

from . import shapes

_LISTS: Final = {
    "mode": ("modes", "availableModes", "id", "currentModeId"),
    "model": ("models", "availableModels", "modelId", "currentModelId"),
}
"""By the option that they become: the key of a list's object, and the keys in it."""


class Settings:
    """What is configured in one session."""

    def __init__(self) -> None:
        self._options: list[Any] = []
        self._listed: dict[str, Any] = {}
        self._current: dict[str, Any] = {}
        self._reported = False

    def opened(self, result: dict[str, Any]) -> bool:
        """Take the lists of a new or loaded session; tell whether there were any."""
        options = result.get("configOptions")
        if isinstance(options, list) and not self._reported:
            self._options = shapes.each(options, shapes.config_option)
        for name, (key, _, _, current) in _LISTS.items():
            listed = result.get(key)
            if isinstance(listed, dict):
                self._listed[name] = listed
                self._follow(name)
                self._current.setdefault(name, listed.get(current))
        return bool(self._options or self._listed)

    def replace(self, options: list[Any]) -> None:
        """Take a whole new list of options."""
        self._reported = True
        self._options = shapes.each(options, shapes.config_option)
        for name in _LISTS:
            chosen = self._option_of(name)
            if chosen is not None:
                self._current[name] = chosen.get("currentValue")

    def replace_one(self, option: Any) -> None:
        """Take one option, which replaces that of its id or is a new one."""
        shaped = shapes.config_option(option)
        ids = [_id(known) for known in self._options]
        place = ids.index(_id(shaped)) if _id(shaped) in ids else len(ids)
        self.replace([*self._options[:place], shaped, *self._options[place + 1 :]])

    def choose(self, option_id: Any, value: Any) -> None:
        """Take note that a value of an option was chosen."""
        if not isinstance(option_id, str) or value is None:
            return
        if option_id in _LISTS and self._option_of(option_id) is None:
            self._current[option_id] = value
        for place, option in enumerate(self._options):
            if _id(option) == option_id:
                self.replace_one({**self._options[place], "currentValue": value})

    def switch(self, name: str, value: Any) -> None:
        """Take note of the current mode or model."""
        self._current[name] = value
        self._follow(name)

    def listed(self) -> list[Any]:
        """Return all options in the shape of v2, as parsed JSON."""
        made = (self._made(name) for name in _LISTS if self._option_of(name) is None)
        return [*(option for option in made if option is not None), *self._options]

    def _made(self, name: str) -> dict[str, Any] | None:
        _, listed, key, _ = _LISTS[name]
        choices = self._listed.get(name, {}).get(listed)
        return shapes.choices(name, key, self._current.get(name), choices)

    def _option_of(self, name: str) -> dict[str, Any] | None:
        """Return the option that stands for the mode or the model, if the agent has one."""
        for option in self._options:
            if isinstance(option, dict) and name in (option.get("category"), _id(option)):
                return option
        return None

    def _follow(self, name: str) -> None:
        """Let the option that stands for the mode or the model have what is current."""
        option = self._option_of(name)
        current = self._current.get(name)
        if option is not None and current is not None and _fits(option, current, name):
            changed = {**option, "currentValue": current}
            self._options = [changed if known is option else known for known in self._options]


def _fits(option: dict[str, Any], value: str, name: str) -> bool:
    """Tell whether an option can have a value; models often have other ids than the option."""
    return name == "mode" or value in _values(option.get("options"))


def _values(choices: Any) -> list[Any]:
    if not isinstance(choices, list):
        return []
    found = [choice for choice in choices if isinstance(choice, dict)]
    inner = [value for choice in found for value in _values(choice.get("options"))]
    return [choice.get("value") for choice in found] + inner


def _id(option: Any) -> Any:
    return option.get("configId") if isinstance(option, dict) else None
