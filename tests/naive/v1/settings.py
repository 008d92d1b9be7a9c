"""Modes, models and options of v1 as the one list of options that v2 has."""

from __future__ import annotations

from typing import Any

Settings = dict[str, Any]
Option = dict[str, Any]

# What is listed apart from the options: where the list is, its keys, and which call sets it.
LISTS = {
    "mode": ("modes", "availableModes", "id", "currentModeId"),
    "model": ("models", "availableModels", "modelId", "currentModelId"),
}


def fresh_settings() -> Settings:
    """Return what is configured in a session before anything is said of it."""
    return {"options": [], "lists": {}, "current": {}, "reported": False}


def in_v2(option: Option) -> Option:
    """Return an option of v1 in the shape of v2."""
    kept = {key: value for key, value in option.items() if value is not None and key != "id"}
    kept["configId"] = option["id"]
    if "options" in kept:
        kept["options"] = [
            {("groupId" if key == "group" else key): value for key, value in choice.items()}
            for choice in kept["options"]
        ]
    return kept


def values_of(option: Option) -> set[Any]:
    """Return the values that an option can have."""
    found = set()
    for choice in option.get("options", ()):
        found |= {one["value"] for one in choice.get("options", [choice])}
    return found


def standing_for(settings: Settings, name: str) -> Option | None:
    """Return the option that stands for the mode or the model: by name, or by its values."""
    options = settings["options"]
    named = [one for one in options if name in (one["configId"], one.get("category"))]
    _, list_key, id_key, _ = LISTS[name]
    listed = {one[id_key] for one in settings["lists"].get(name, {}).get(list_key, ())}
    alike = [one for one in options if listed and values_of(one) == listed]
    found = [*named, *alike]
    return found[0] if found else None


def made_option(settings: Settings, name: str) -> Option | None:
    """Return an option made of a list, unless another one stands for it."""
    current = settings["current"].get(name)
    if current is None or standing_for(settings, name) is not None:
        return None
    _, list_key, id_key, _ = LISTS[name]
    choices = [
        {"value": one[id_key]}
        | {key: one[key] for key in ("name", "description") if one.get(key) is not None}
        for one in settings["lists"].get(name, {}).get(list_key, ())
    ]
    return {
        "type": "select",
        "configId": name,
        "name": name.capitalize(),
        "category": name,
        "currentValue": current,
        "options": choices or [{"value": current, "name": current}],
        "_meta": {"setBy": f"session/set_{name}"},
    }


def all_options(settings: Settings) -> list[Option]:
    """Return the one list: what is made of modes and models, then the options."""
    made = [made_option(settings, name) for name in LISTS]
    return [*(one for one in made if one is not None), *settings["options"]]


def opened(settings: Settings, result: dict[str, Any]) -> bool:
    """Take the lists of a result; what was reported before stays. Return whether there are any."""
    early = dict(settings["current"])
    for name, (key, _, _, current_key) in LISTS.items():
        if result.get(key) is not None:
            settings["lists"][name] = result[key]
            settings["current"].setdefault(name, result[key][current_key])
    if result.get("configOptions") is not None and not settings["reported"]:
        settings["options"] = [in_v2(option) for option in result["configOptions"]]
    for name, value in early.items():
        switch(settings, name, value)
    return bool(settings["lists"] or settings["options"])


def replace(settings: Settings, options: list[Option]) -> None:
    """Take a new list of options, for good."""
    settings["reported"] = True
    settings["options"] = [in_v2(option) for option in options]
    for name in LISTS:
        standing = standing_for(settings, name)
        if standing is not None:
            settings["current"][name] = standing.get("currentValue")


def switch(settings: Settings, name: str, value: Any) -> None:
    """Set the mode or the model, and the option that stands for it."""
    settings["current"][name] = value
    standing = standing_for(settings, name)
    if standing is not None and (name == "mode" or value in values_of(standing)):
        choose(settings, standing["configId"], value)


def choose(settings: Settings, config_id: str, value: Any) -> None:
    """Set the value of an option."""
    if config_id in LISTS and standing_for(settings, config_id) is None:
        settings["current"][config_id] = value
    settings["options"] = [
        one | {"currentValue": value} if one["configId"] == config_id else one
        for one in settings["options"]
    ]
