"""What was said, as lines: at once, and in pieces."""

from __future__ import annotations

import time
from itertools import accumulate, groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client import wire
from acp_client._cli.layout import Layout
from acp_client._cli.markdown import Prose, Speech, speech

NARROW = Layout(width=30)

Spans = list[tuple[str, str]]


def plain(spans: Spans) -> str:
    """Give the text of spans."""
    return "".join(text for text, _ in spans)


def said(text: str, layout: Layout = NARROW) -> str:
    """Show a text."""
    return plain(speech([wire.TextContent(text)], layout))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("\n \n", ""),
        ("One.", "  One.\n"),
        ("\n\nOne.\n\n", "  One.\n"),
        ("One.\n\n\nTwo.", "  One.\n\n\n  Two.\n"),
        (
            "- an item that is longer than a line",
            "  - an item that is longer\n    than a line\n",
        ),
        (
            "12. an item that is longer than that",
            "  12. an item that is longer\n      than that\n",
        ),
        ("> quoted words that go on and on", "  > quoted words that go on\n    and on\n"),
        ("    indented words that go on and", "      indented words that go\n      on and\n"),
        (
            "| a table | is wider than the page | stays |",
            "  | a table | is wider than the page | stays |\n",
        ),
        (
            "```\nsome code that is wider than the page\n\nmore\n```\nback to prose of many words",
            "  ```\n  some code that is wider than the page\n\n  more\n  ```\n"
            "  back to prose of many words\n",
        ),
        ("~~~\ncode", "  ~~~\n  code\n"),
        ("a\tb", "  a   b\n"),
        ("\x1b[2Jboo", "  \\x1b[2Jboo\n"),
        ("[bold]no[/bold] :smile:", "  [bold]no[/bold] :smile:\n"),
    ],
)
def test_markdown_stays_as_it_was_written(text: str, shown: str) -> None:
    """Lines are indented and prose is wrapped; nothing else happens to a text."""
    assert said(text) == shown


def test_code_is_folded_on_a_terminal() -> None:
    """Lines of code go on in the next line where the terminal ends."""
    assert said("```\n" + "x" * 12, Layout(width=10, fold=10)) == (
        "  ```\n  " + "x" * 8 + "\n  xxxx\n"
    )


@pytest.mark.parametrize(
    ("text", "styled"),
    [
        ("# Title `x`", [("# Title `x`", "heading")]),
        ("#hashtag", []),
        ("a `b c` d **e** f", [("`b c`", "code"), ("**e**", "strong")]),
        ("a ` b ** c", []),
        ("```python\nx = 1\n```", [("```python", "faint"), ("x = 1", "code"), ("```", "faint")]),
        ("| `a` |", []),
    ],
)
def test_headings_code_and_strong_words_are_styled(text: str, styled: Spans) -> None:
    """A few words of Markdown get a style, and keep their marks."""
    spans = speech([wire.TextContent(text)], NARROW)
    runs = groupby(spans, lambda span: span[1])
    assert [("".join(text for text, _ in run), style) for style, run in runs if style] == styled


def test_a_style_for_all_is_the_only_one() -> None:
    """A thought is faint throughout, its code too."""
    spans = speech([wire.TextContent("# a `b`\n```\nc")], NARROW, "thought")
    assert {style for text, style in spans if text.strip()} == {"thought"}


MARKDOWN = st.lists(
    st.sampled_from(
        [
            *("word", " ", "  ", "\n", "\n\n", "- ", "1. ", "> ", "# ", "```", "|", "`a b`", "**"),
            *("\t", "日本", "\x1b[m", "averyveryverylongwordindeed", "é", "\u200d", "👨\u200d👩"),
        ]
    ),
    max_size=30,
)


@given(MARKDOWN, st.sampled_from([NARROW, Layout(width=30, fold=30)]))
def test_pieces_give_what_the_whole_gives(pieces: list[str], layout: Layout) -> None:
    """However a text is cut, the lines that were given out piece by piece are those of the text."""
    prose = Prose(layout)
    given_out = [plain(prose.feed(piece)) for piece in pieces] + [plain(prose.finish())]
    assert "".join(given_out) == said("".join(pieces), layout)


@given(MARKDOWN)
def test_words_are_given_out_as_soon_as_they_are_whole(pieces: list[str]) -> None:
    """Of a line of prose only the last word waits, and of code only the last line."""
    prose = Prose(NARROW)
    shown = ""
    for text, piece in zip(accumulate(pieces), pieces, strict=True):
        shown += plain(prose.feed(piece))
        last_line = text[text.rfind("\n") + 1 :]
        waiting = "".join(said(text).split())[len("".join(shown.split())) :]
        assert len(waiting) <= len("".join(said(last_line).split()))


def test_a_character_that_was_cut_in_two_is_whole() -> None:
    """The two halves of a surrogate pair meet, also when a word was given out between."""
    prose = Prose(NARROW)
    assert plain(prose.feed("a \ud83d")) == "  a"
    assert plain(prose.feed("\ude80 b")) == " 🚀"
    assert plain(prose.finish()) == " b\n"


def test_what_is_no_text_stands_between() -> None:
    """A block that is no text ends the line before it."""
    link = wire.ResourceLink(name="a", uri="file:///a")
    blocks: list[wire.ContentBlock] = [
        wire.TextContent("see "),
        wire.TextContent("this"),
        link,
        wire.TextContent("there"),
    ]
    assert plain(speech(blocks, NARROW)) == "  see this\n  [link] a · file:///a\n  there\n"
    piecemeal = Speech(NARROW)
    shown = [plain(piecemeal.feed([block])) for block in blocks] + [plain(piecemeal.finish())]
    assert "".join(shown) == plain(speech(blocks, NARROW))


@pytest.mark.parametrize(
    "line", ["a" * 300_000 + " b", "` " * 60_000, "**a** `b` " * 20_000, "a " * 150_000]
)
def test_a_long_line_takes_its_length_in_time(line: str) -> None:
    """A word, or a line, of some hundred thousand characters takes a second and no minutes."""
    start = time.process_time()
    assert len(said(line)) >= len(line)
    prose = Prose(NARROW)
    prose.feed(line)
    prose.finish()
    assert time.process_time() - start < 10
