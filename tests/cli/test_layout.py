"""Wrapping, folding, quoting, and the one place that prints."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client._cli.layout import (
    NEWLINE,
    Layout,
    Page,
    after,
    folded,
    length,
    line,
    one_line,
    paragraph,
    quotation,
    titled,
)
from acp_client._widths import display_width

NARROW = Layout(width=24)
ON_TERMINAL = Layout(width=24, fold=24)


def plain(spans: list[tuple[str, str]]) -> str:
    """Give the text of spans."""
    return "".join(text for text, _ in spans)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", ["  "]),
        ("short", ["  short"]),
        ("short, with blanks behind  ", ["  short, with blanks", "  behind"]),
        ("   keeps blanks before", ["     keeps blanks before"]),
        ("two lines of words are needed", ["  two lines of words are", "  needed"]),
        ("exactly as wide as it i", ["  exactly as wide as it", "  i"]),
        ("averylongwordthatdoesnotfit in", ["  averylongwordthatdoesnotfit", "  in"]),
        ("日本語の文は空白がなくても折り返す", ["  日本語の文は空白がなく", "  ても折り返す"]),
        ("ends in 日本", ["  ends in 日本"]),
    ],
)
def test_prose_is_wrapped_at_blanks_and_between_wide_characters(
    text: str, lines: list[str]
) -> None:
    """Words stay whole in a pipe, and no line but that of a long word is too wide."""
    assert plain(paragraph([(text, "")], NARROW)).split("\n") == [*lines, ""]


def test_on_a_terminal_long_words_are_folded() -> None:
    """A word that no line can hold is cut to the width of the terminal."""
    text = plain(paragraph([("a " + "w" * 50, "")], ON_TERMINAL, rest="    "))
    assert text == "  a " + "w" * 20 + "\n    " + "w" * 20 + "\n    " + "w" * 10 + "\n"


WORDS = st.text(st.sampled_from("ab  日é"), max_size=60)


@given(WORDS, st.sampled_from([NARROW, ON_TERMINAL]))
def test_wrapping_loses_nothing_but_blanks(text: str, layout: Layout) -> None:
    """All that is not blank is there, in order, whatever the breaks."""
    wrapped = plain(paragraph([(text, "")], layout))
    assert "".join(wrapped.split()) == "".join(text.split())


@given(WORDS, WORDS, st.sampled_from([NARROW, ON_TERMINAL]))
def test_text_that_ends_at_a_blank_begins_every_longer_text(
    text: str, more: str, layout: Layout
) -> None:
    """What was laid out of the first words stays as it is when more words come."""
    first = plain(paragraph([(text + " ", "")], layout))[:-1]
    if text.strip():
        assert plain(paragraph([(text + " " + more, "")], layout)).startswith(first)


@given(WORDS)
def test_folded_lines_fit_on_a_terminal(text: str) -> None:
    """On a terminal no line is wider than it."""
    for wrapped in plain(paragraph([(text, "")], ON_TERMINAL)).split("\n"):
        assert display_width(wrapped.rstrip()) <= 24


def test_styles_survive_the_breaks() -> None:
    """Each piece of a wrapped text has the style that it had."""
    spans = paragraph([("some words ", ""), ("that are strong and", "strong"), (" x", "")], NARROW)
    assert spans == [
        ("  ", ""),
        ("some words ", ""),
        ("that are", "strong"),
        NEWLINE,
        ("  ", ""),
        ("strong and", "strong"),
        (" x", ""),
        NEWLINE,
    ]


def test_the_beginning_of_spans_can_be_left_out() -> None:
    """What was printed of a line is counted in characters, over all spans."""
    spans = line(("ab", "strong"), ("cd", ""))
    assert length(spans) == 5
    assert after(spans, 0) == spans
    assert after(spans, 3) == [("d", ""), NEWLINE]
    assert after(spans, 9) == []


@pytest.mark.parametrize(
    ("notes", "text"),
    [
        ([], "$ ls\n"),
        ([""], "$ ls\n"),
        (["here", "", "done"], "$ ls · here · done\n"),
        (["a place far off", "done"], "$ ls\n  a place far off · done\n"),
    ],
)
def test_notes_stand_behind_a_title_or_below_it(notes: list[str], text: str) -> None:
    """Notes go to a line of their own rather than be broken, and empty ones nowhere."""
    spans = titled([("$ ", ""), ("ls", "")], [(note, "") for note in notes], NARROW, first="")
    assert plain(spans) == text


@pytest.mark.parametrize(
    ("columns", "pieces"),
    [(None, ["abc日本"]), (7, ["abc日本"]), (4, ["abc", "日本"]), (1, ["a", "b", "c", "日", "本"])],
)
def test_a_line_is_folded_by_columns(columns: int | None, pieces: list[str]) -> None:
    """Pieces are as wide as there is room, and a character that never fits stands alone."""
    assert list(folded("abc日本", columns)) == pieces


def test_quoted_text_keeps_its_lines() -> None:
    """Lines behind a bar are not wrapped; tabs become blanks, and blank lines have no blanks."""
    text = plain(quotation("\tdef f():\r\n\n" + "x" * 40 + "\n", NARROW))
    assert text == "  │     def f():\n  │\n  │ " + "x" * 40 + "\n"


def test_quoted_text_is_folded_on_a_terminal() -> None:
    """On a terminal the bar goes on beside the rest of a long line."""
    assert plain(quotation("x" * 21, ON_TERMINAL)) == "  │ " + "x" * 20 + "\n  │ x\n"


@pytest.mark.parametrize(("count", "shown"), [(40, 40), (41, 12 + 1 + 28), (1000, 12 + 1 + 28)])
def test_long_text_is_shown_in_part(count: int, shown: int) -> None:
    """The beginning and the end of a long text are shown, and how many lines are not."""
    text = "\n".join(map(str, range(count)))
    lines = plain(quotation(text, NARROW)).splitlines()
    assert len(lines) == shown
    assert lines[0].endswith(" 0")
    assert lines[-1].endswith(f" {count - 1}")
    assert (f"  │ … {count - 40} lines left out, --full shows them" in lines) == (count > 40)
    assert len(plain(quotation(text, Layout(full=True))).splitlines()) == count


def test_a_line_that_nobody_would_read_is_cut() -> None:
    """Lines of thousands of characters end early, unless everything is to be shown."""
    assert plain(quotation("x" * 5000, NARROW)).endswith("x… (3000 more characters)\n")
    assert len(plain(quotation("x" * 5000, Layout(full=True)))) == 5005


def test_lines_are_styled_by_how_they_begin() -> None:
    """The first pair that fits gives the style."""
    styles = [("++", "faint"), ("+", "added")]
    spans = quotation("++ a\n+b\nc", NARROW, styles=styles)
    assert [span for span in spans if span[0][0] in "+c"] == [
        ("++ a", "faint"),
        ("+b", "added"),
        ("c", ""),
    ]


def test_titles_are_one_line() -> None:
    """Blanks of all kinds become one, and nothing unsafe stays."""
    assert one_line(" a\n b\t\tc\x1b[31m ") == r"a b c\x1b[31m"


# --- The page ---


class Stream(io.TextIOWrapper):
    """A stream of an encoding that may be a terminal."""

    def __init__(self, encoding: str = "utf-8", *, terminal: bool = False) -> None:
        self.bytes = io.BytesIO()
        self.terminal = terminal
        super().__init__(self.bytes, encoding, errors="backslashreplace", newline="\n")

    def isatty(self) -> bool:
        return self.terminal

    def printed(self) -> str:
        """Give what was printed."""
        self.flush()
        return self.bytes.getvalue().decode(self.encoding)


@pytest.fixture
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("_eighty_columns")
@pytest.mark.parametrize(
    "text",
    ["\x1b[31mred", "a\nb", "\x9b2J", "\u202egnp.exe", "[bold]no markup[/bold]", ":smile:", "a\tb"],
)
def test_the_page_prints_nothing_that_a_terminal_acts_on(text: str) -> None:
    """Whatever comes to the page leaves it on one line, without controls, and as it was written."""
    stream = Stream(terminal=True)
    Page(stream).write([(text, ""), NEWLINE])
    printed = stream.printed()
    assert printed.count("\n") == 1
    assert printed[:-1].isprintable()
    assert printed[:-1] == text or "\\" in printed


@pytest.mark.usefixtures("_eighty_columns")
@pytest.mark.parametrize(
    ("terminal", "no_color", "printed"),
    [
        (True, None, "\x1b[1;36mYou\x1b[0m\n"),
        (True, "1", "You\n"),
        (False, None, "You\n"),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, no_color: str | None, printed: str
) -> None:
    """A pipe gets plain text, and so does a terminal with `NO_COLOR`."""
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    stream = Stream(terminal=terminal)
    Page(stream).write(line(("You", "user")))
    assert stream.printed() == printed


@pytest.mark.usefixtures("_eighty_columns")
@pytest.mark.parametrize(
    ("columns", "terminal", "width", "fold"),
    [
        ("80", True, 80, 80),
        ("120", True, 100, 120),
        ("120", False, 100, None),
        ("7", True, 20, 20),
        ("1", True, 20, 20),
    ],
)
def test_the_layout_follows_the_terminal(
    monkeypatch: pytest.MonkeyPatch, columns: str, terminal: bool, width: int, fold: int | None
) -> None:
    """Prose is never too wide to read, and lines are folded on terminals only."""
    monkeypatch.setenv("COLUMNS", columns)
    layout = Page(Stream(terminal=terminal)).layout
    assert (layout.width, layout.fold) == (width, fold)


@pytest.mark.parametrize("name", ["COLUMNS", "LINES"])
@pytest.mark.parametrize("size", ["0", "00", "-5", "abc", "", " 7", "7.5", "²", "9" * 5000])
@pytest.mark.parametrize("terminal", [False, True])
def test_a_size_that_is_none_is_as_good_as_not_given(
    monkeypatch: pytest.MonkeyPatch, name: str, size: str, terminal: bool
) -> None:
    """What is no positive number changes neither the layout nor what is printed."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("LINES", raising=False)
    layout = Page(Stream(terminal=terminal)).layout
    monkeypatch.setenv(name, size)
    stream = Stream(terminal=terminal)
    page = Page(stream)
    page.write(line(("You", "")))
    assert page.layout == layout
    assert stream.printed() == "You\n"


@pytest.mark.usefixtures("_eighty_columns")
@pytest.mark.parametrize("columns", ["1", "2", "3"])
def test_no_room_is_no_reason_to_leave_anything_out(
    monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    """Lines that are wider than the terminal are printed whole."""
    monkeypatch.setenv("COLUMNS", columns)
    stream = Stream(terminal=True)
    Page(stream).write(line(("twenty characters wide", "")))
    assert stream.printed() == "twenty characters wide\n"


@pytest.mark.usefixtures("_eighty_columns")
def test_signs_are_ascii_where_nothing_else_can_be_written() -> None:
    """An encoding without the signs gets others, and text that it lacks as escapes."""
    stream = Stream("ascii")
    page = Page(stream)
    page.write(quotation("ü… 日", page.layout))
    page.write(line((page.layout.joined(["a", "", "b"]), "")))
    assert stream.printed() == "  | \\xfc... \\u65e5\na - b\n"


def test_nothing_is_printed_of_nothing() -> None:
    """An empty list of spans leaves the stream alone."""
    stream = Stream()
    Page(stream).write([])
    assert stream.printed() == ""


class ClosedPipe(Stream):
    """A pipe whose reader is gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_closed_pipe_is_for_the_command_to_handle() -> None:
    """Rich would end the process; the error reaches the caller instead."""
    with pytest.raises(BrokenPipeError):
        Page(ClosedPipe()).write(line(("a", "")))
