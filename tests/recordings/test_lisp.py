"""Printed Emacs Lisp becomes JSON, object by object, and nothing is evaluated."""

from __future__ import annotations

import io
import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_formats import CONVERSATION, Trickle, fixture, read, said

from acp_client._recordings import lisp
from acp_client._recordings.frames import Tally
from acp_client._recordings.lisp import objects


def parsed(*texts: str) -> list[Any]:
    """Return the values of the objects in a printed list."""
    printed = "(" + " ".join(texts) + ")"
    return [json.loads(data) for _, data in objects(io.BytesIO(printed.encode()).read, Tally())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("((a . 1) (b . 2.5) (c . -3))", {"a": 1, "b": 2.5, "c": -3}),
        ("((a . t) (b . :false) (c . :null) (d . nil) (e))",
         {"a": True, "b": False, "c": None, "d": None, "e": None}),
        ("((a (b (c . 1))))", {"a": {"b": {"c": 1}}}),
        ("((a . [1 [] (b)]))", {"a": [1, [], ["b"]]}),
        ("((a . [((b . 1)) ((c . 2))]))", {"a": [{"b": 1}, {"c": 2}]}),
        ('((a . "x\\"y\\\\z\\n\\t\\e"))', {"a": 'x"y\\z\n\t\x1b'}),
        ('((a . "\\303\\251 \\351 \\x41 \\u00e9 \\U0001F600"))',
         {"a": "\u00e9 \ufffd A \u00e9 \U0001f600"}),
        ('((a . "one \\\ntwo"))', {"a": "one two"}),
        ('((a . #("bold" 0 4 (face bold))))', {"a": "bold"}),
        ("((Which\\ one\\? . 1))", {"Which one?": 1}),
        ('(("key" . 1))', {"key": 1}),
        ("(:a 1 :b (:c 2))", {"a": 1, "b": {"c": 2}}),
        ("((a . 1) (a . 2))", {"a": 1}),
        ("((a . outgoing) (b . :outgoing))", {"a": "outgoing", "b": "outgoing"}),
        ("((a . 1) ; a remark ) \n (b . 2))", {"a": 1, "b": 2}),
        ("((a quote b))", {"a": ["quote", "b"]}),
        ("[1 2]", [1, 2]),
        ("((t . 1) (nil . 2))", {"t": 1, "nil": 2}),
        ("((a . 1.0e+INF))", {"a": "1.0e+INF"}),
    ],
)  # fmt: skip  # a table
def test_objects(text: str, expected: Any) -> None:
    """Association lists, property lists, vectors, strings and constants have JSON forms."""
    assert parsed(text) == [expected]


def test_shared_structure_is_repeated() -> None:
    """A name stands for its object wherever it comes again, in other objects too."""
    first = '((a . #1=[1 #2="x"]) (b . #1#))'
    assert parsed(first, "((c . #2#) (d . #3= [#1#]))", "((e . #3#))") == [
        {"a": [1, "x"], "b": [1, "x"]},
        {"c": "x", "d": [[1, "x"]]},
        {"e": [[1, "x"]]},
    ]  # fmt: skip  # a table


@pytest.mark.parametrize(
    "text",
    ["((a . #9#))", "((a . #1=[#1#]))", "((a . " + "9" * 500 + "))", '((a . "x" "', "((a . 'b \\"],
)
def test_what_cannot_be_read_is_passed_over(text: str) -> None:
    """An unknown name, an object that contains itself, a broken one: the next ones are read."""
    tally = Tally()
    printed = f"({text}) ((b . 1)))" if text.count("(") > text.count(")") else f"({text} ((b . 1)))"
    found = [json.loads(data) for _, data in objects(io.BytesIO(printed.encode()).read, tally)]
    assert {"b": 1} in found or tally.torn
    assert tally.passed_over or tally.torn


def test_names_stand_for_no_more_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few bytes of names cannot stand for any amount of memory."""
    monkeypatch.setattr(lisp, "_MOST_REPEATED", 10_000)
    doubled = [f"((a . #{place + 1}=[#{place}# #{place}#]))" for place in range(1, 60)]
    found = parsed("((a . #1=[1 2 3 4]))", *doubled, "((b . 1))")
    assert found[-1] == {"b": 1}
    assert sum(len(json.dumps(value)) for value in found) < 100_000


def test_objects_without_a_list_around_them() -> None:
    """Entries one after another are read as those of a list."""
    printed = fixture("agent-shell.traffic").strip()[1:-1]
    assert said(read(printed)[1]) == CONVERSATION


@given(st.integers(1, 40))
def test_blocks_do_not_matter(size: int) -> None:
    """However few bytes come at a time, the objects are the same."""
    data = fixture("agent-shell.traffic")
    found = list(objects(cast("Any", Trickle(data, size)).read, Tally()))
    assert found == list(objects(io.BytesIO(data).read, Tally()))
    assert [number for number, _ in found] == list(range(1, 15))


@given(st.text(st.sampled_from("()[]\"\\;#=1. \nabt:'"), max_size=60))
def test_any_text_is_read_or_passed_over(text: str) -> None:
    """Nothing that looks like Lisp makes anything but JSON."""
    for _, data in objects(io.BytesIO(f"((({text}".encode()).read, Tally()):
        json.loads(data)
