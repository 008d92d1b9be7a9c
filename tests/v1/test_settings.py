"""Modes, models and options of ACP v1 as one list."""

from __future__ import annotations

from typing import Any

import pytest
from v1_traffic import (
    CHOICES,
    MODE_OPTION,
    MODELS,
    MODES,
    SESSION,
    Frame,
    Json,
    agent,
    asks,
    document,
    opened,
    options,
    patch,
    play,
    said,
    told,
)

from acp_client._v1.settings import setting_method


def test_modes_and_models_become_options() -> None:
    """Older lists are select options of their own."""
    found = document(told(*opened(modes=MODES, models=MODELS)))["configOptions"]
    assert found == [
        {
            "type": "select",
            "configId": "mode",
            "name": "Mode",
            "category": "mode",
            "_meta": {"setBy": "session/set_mode"},
            "currentValue": "ask",
            "options": [{"value": "ask", "name": "Ask", "description": "Ask first"}, CHOICES[1]],
        },
        {
            "type": "select",
            "configId": "model",
            "name": "Model",
            "category": "model",
            "_meta": {"setBy": "session/set_model"},
            "currentValue": "s",
            "options": [{"value": "s", "name": "Small"}],
        },
    ]


def test_options_get_the_shape_of_v2() -> None:
    """Ids are renamed, missing types are seen from the value, and groups are kept."""
    group = {"group": "g", "name": "G", "options": CHOICES}
    given = [
        {"id": "a", "name": "A", "currentValue": True},
        {"id": "b", "name": "B", "currentValue": "ask", "options": [group]},
        {"id": "c", "name": "C", "currentValue": "x", "options": [], "description": None},
        {"type": "_x", "id": "d", "name": "D"},
    ]
    found = document(told(*opened(configOptions=given)))["configOptions"]
    assert found == [
        {"type": "boolean", "configId": "a", "name": "A", "currentValue": True},
        {
            "type": "select",
            "configId": "b",
            "name": "B",
            "currentValue": "ask",
            "options": [{"groupId": "g", "name": "G", "options": CHOICES}],
        },
        {
            "type": "select",
            "configId": "c",
            "name": "C",
            "currentValue": "x",
            "options": [{"value": "x", "name": "x"}],
        },
        {"type": "_x", "configId": "d", "name": "D"},
    ]


MODE_CHANGES: dict[str, list[Frame]] = {
    "the agent says so": [said("current_mode_update", currentModeId="code")],
    "an older agent says so": [said("current_mode_update", modeId="code")],
    "the client sets it": [
        asks(2, "session/set_mode", modeId="code"),
        agent(id=2, result={}),
    ],
    "the client sets it, and nothing is answered": [
        asks(2, "session/set_mode", modeId="code"),
        agent(id=2, result=None),
    ],
    "the client sets the option": [
        asks(2, "session/set_config_option", configId="mode", value="code"),
        agent(id=2, result={}),
    ],
}


@pytest.mark.parametrize("case", MODE_CHANGES)
@pytest.mark.parametrize("lists", [{"modes": MODES}, {"configOptions": [MODE_OPTION]}])
def test_the_mode_changes(case: str, lists: Json) -> None:
    """However the mode changes, the option has the new one, be it made of modes or given."""
    assert options(told(*opened(**lists), *MODE_CHANGES[case])) == [("mode", "code")]


def test_a_mode_that_comes_early_is_kept() -> None:
    """A mode that is reported before the result of the new session is the current one."""
    asked, answer = opened(modes=MODES, configOptions=[{**MODE_OPTION, "id": "m"}])
    early = said("current_mode_update", currentModeId="code")
    assert options(told(early)) == [("mode", "code")]
    assert options(told(asked, early, answer)) == [("m", "code")]
    assert options(told(early, *opened(modes=MODES))) == [("mode", "code")]


def test_a_refused_change_changes_nothing() -> None:
    """An error leaves the mode, and so does a mode that is none."""
    refused = [asks(2, "session/set_mode", modeId="code")]
    refused += [agent(id=2, error={"code": 1, "message": "no"})]
    assert options(told(*opened(modes=MODES), *refused)) == [("mode", "ask")]
    store = play([*opened(modes=MODES), said("current_mode_update", currentModeId=5)])
    assert options(store.snapshot(SESSION)) == [("mode", "ask")]
    assert store.problem_counts["rejected"] == 1


def test_a_model_changes() -> None:
    """A model is set like a mode; an id that the option does not know is none of its values."""
    change = [asks(2, "session/set_model", modelId="l"), agent(id=2, result={})]
    assert options(told(*opened(models=MODELS), *change)) == [("model", "l")]
    option = {**MODE_OPTION, "id": "model", "category": "model"}
    assert options(told(*opened(configOptions=[option]), *change)) == [("model", "ask")]


OTHER = [*CHOICES, {"value": "plan", "name": "Plan"}]
UPDATES: dict[str, tuple[Json, list[tuple[str, Any]]]] = {
    "all": ({"configOptions": [{**MODE_OPTION, "id": "z"}]}, [("z", "ask")]),
    "none": ({"configOptions": []}, [("mode", "ask")]),
    "one of them": (
        {
            "configOption": {
                **MODE_OPTION,
                "id": "b",
                "category": "x",
                "currentValue": "code",
                "options": OTHER,
            }
        },
        [("mode", "ask"), ("a", True), ("b", "code")],
    ),
    "a new one": (
        {"configOption": {"id": "n", "name": "N", "currentValue": False}},
        [("mode", "ask"), ("a", True), ("b", "ask"), ("n", False)],
    ),
    "one in the place of all": (
        {"configOptions": {"id": "n", "name": "N", "currentValue": False}},
        [("mode", "ask"), ("a", True), ("b", "ask"), ("n", False)],
    ),
    "a value": (
        {"configId": "a", "value": False},
        [("mode", "ask"), ("a", False), ("b", "ask")],
    ),
    "a value of an option that nobody knows": (
        {"id": "q", "currentValue": False},
        [("mode", "ask"), ("a", True), ("b", "ask")],
    ),
}


@pytest.mark.parametrize("case", UPDATES)
def test_options_are_updated(case: str) -> None:
    """An update replaces all options, or one, or the value of one."""
    fields, expected = UPDATES[case]
    given = [{"id": "a", "name": "A", "currentValue": True}]
    given += [{**MODE_OPTION, "id": "b", "category": "x", "options": OTHER}]
    before = opened(modes=MODES, configOptions=given)
    assert options(told(*before, said("config_option_update", **fields))) == expected


def test_an_update_without_options_is_refused() -> None:
    """An update that names nothing is a problem."""
    store = play([said("config_option_update"), *opened()])
    assert store.problem_counts["rejected"] == 1
    assert options(store.snapshot(SESSION)) == []


def test_the_result_of_a_change_replaces_the_list() -> None:
    """The answer to a changed option has the new list."""
    change = [asks(2, "session/set_config_option", configId="mode", value="code")]
    change += [agent(id=2, result={"configOptions": [{**MODE_OPTION, "currentValue": "code"}]})]
    assert options(told(*opened(configOptions=[MODE_OPTION]), *change)) == [("mode", "code")]


def test_items_that_are_no_objects_are_left_out() -> None:
    """Junk in the lists of v1 is skipped by the decoder of v2, and the rest is there."""
    junk: list[Any] = [5, None, [], "x"]
    options_ = [*junk, MODE_OPTION, {**MODE_OPTION, "id": "b", "category": "x", "options": junk}]
    frames = [*opened(configOptions=options_), said("plan", entries=junk)]
    frames += [said("available_commands_update", availableCommands=[*junk, {"name": "a"}])]
    frames += [patch(locations=junk, content=[5, None]), said("config_option_update", id="mode")]
    frames += [asks(2, "session/set_config_option", configId=5), agent(id=2, result={})]
    store = play(frames)
    found = document(store.snapshot(SESSION))
    assert options(store.snapshot(SESSION)) == [("mode", "ask")]
    assert [command["name"] for command in found["availableCommands"]] == ["a"]
    assert [entry["type"] for entry in found["entries"]] == ["tool_call"]
    assert found["plans"][0]["entries"] == []
    assert {problem.kind for problem in store.problems} == {"skipped"}


def select(name: str, *values: str, **fields: Any) -> Json:
    """Write an option with some values, the first of which is chosen."""
    choices = [{"value": value, "name": value} for value in values]
    return {"id": name, "name": name, "currentValue": values[0], "options": choices, **fields}


LISTS: dict[str, tuple[Json, list[str]]] = {
    "an option of the category": (
        {"modes": MODES, "configOptions": [select("o", "x", category="mode")]},
        ["o"],
    ),
    "an option of the id": ({"modes": MODES, "configOptions": [select("mode", "x")]}, ["mode"]),
    "an option with the same values": (
        {"modes": MODES, "configOptions": [select("effort", "code", "ask", category="effort")]},
        ["effort"],
    ),
    "an option with other values": (
        {"modes": MODES, "configOptions": [select("effort", "code", "low")]},
        ["mode", "effort"],
    ),
    "options for both": (
        {
            "modes": MODES,
            "models": MODELS,
            "configOptions": [select("m", "s"), select("o", "x", category="mode")],
        },
        ["m", "o"],
    ),
    "an option twice": ({"configOptions": [select("a", "x"), select("a", "x")]}, ["a"]),
    "no options": ({"modes": MODES, "models": MODELS, "configOptions": []}, ["mode", "model"]),
}


@pytest.mark.parametrize("case", LISTS)
def test_the_older_lists_do_not_repeat_an_option(case: str) -> None:
    """A list is an option of its own only where no option stands for it."""
    lists, expected = LISTS[case]
    assert [name for name, _ in options(told(*opened(**lists)))] == expected


def test_an_option_knows_the_call_that_sets_it() -> None:
    """Options made of older lists are set by the older calls, the others as options."""
    lists = {"modes": MODES, "models": MODELS, "configOptions": [select("o", "x")]}
    found = told(*opened(**lists)).config_options
    assert [setting_method(option) for option in found] == [
        "session/set_mode",
        "session/set_model",
        "session/set_config_option",
    ]


def test_the_option_that_stands_for_the_mode_follows_it() -> None:
    """A mode is the value of whichever option stands for it, and the others are kept."""
    lists = {"modes": MODES, "configOptions": [select("effort", "ask", "code"), select("o", "x")]}
    frames = [*opened(**lists), said("current_mode_update", currentModeId="code")]
    assert options(told(*frames)) == [("effort", "code"), ("o", "x")]
