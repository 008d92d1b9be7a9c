"""Transcripts of terminal output: what is honoured, what is dropped, and that splits do not matter.

The naive terminal below is written character by character and knows no rows that are full. It gets
its input as tokens, so that it needs no parser, and its widths from the same table.
"""

import re
from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import acp_client
from acp_client._terminal_text import row as _cells
from acp_client._terminal_text.parser import TranscriptTail, transcript
from acp_client._terminal_text.row import RowState
from acp_client._text import escape
from acp_client._widths import character_width


class NaiveTerminal:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.cells: list[str] = []
        self.cursor = 0

    @property
    def text(self) -> str:
        return "".join(line + "\n" for line in self.lines) + "".join(self.cells)

    def blank(self, column: int) -> None:
        if column < len(self.cells):
            start = max(i for i in range(column + 1) if self.cells[i])
            end = start + 1
            while end < len(self.cells) and not self.cells[end]:
                end += 1
            if start < column:
                self.cells[start:end] = [" "] * (end - start)

    def put(self, character: str, width: int) -> None:
        self.cells += [" "] * (self.cursor - len(self.cells))
        self.blank(self.cursor)
        self.blank(self.cursor + width)
        self.cells[self.cursor : self.cursor + width] = [character] + [""] * (width - 1)
        self.cursor += width

    def write(self, text: str) -> None:
        for character in text:
            if width := character_width(character):
                self.put(character, width)
            elif self.cursor:
                self.combine(character)

    def combine(self, mark: str) -> None:
        self.cells += [" "] * (self.cursor - len(self.cells))
        owner = max(i for i in range(self.cursor) if self.cells[i])
        self.cells[owner] = (self.cells[owner] + mark)[:16]

    def end_line(self) -> None:
        self.lines.append("".join(self.cells))
        self.cells = []
        self.cursor = 0

    def move(self, column: int) -> None:
        self.cursor = max(column, 0)

    def tab(self) -> None:
        width = 8 - self.cursor % 8
        if self.cursor < len(self.cells):
            self.cursor += width
        else:
            self.put("\t", width)

    def clear(self, part: int) -> None:
        if part == 0:
            self.blank(self.cursor)
            del self.cells[self.cursor :]
        elif part == 2 or self.cursor + 1 >= len(self.cells):
            self.cells = []
        else:
            self.blank(self.cursor + 1)
            self.cells[: self.cursor + 1] = [" "] * (self.cursor + 1)


DROPPED = (
    "\x1b[31m \x1b[0;1;38:2:1m \x1b[?25l \x1b[2J \x1b[10;20H \x1b[3A \x1b[>c \x1b[?K \x1b[1$K "
    "\x1b]0;title\x07 \x1b]8;;https://example.com\x1b\\ \x1b]52;c;aGk=\x1b\\ \x9d0;x\x9c "
    "\x1bP1;2q#0\n\x07~\x1b\\ \x1b^pm\x1b\\ \x1b_Gapc\x1b\\ \x1bXsos\x1b\\ \x1b(B \x1b#8 \x1b%G "
    "\x1bc \x1bM \x1b7 \x1b= \x84 \x8d \x9b5n \x07 \x00 \x7f \x05 \x0e \x90q\x9c "
    "\x1b[12\x18 \x1b]0;x\x1a \u200b \u202e \ufeff \ufe0f \U000e0041 \x1b[" + "1" * 99 + "K"
).split(" ")
Token = tuple[str, Callable[[NaiveTerminal], None]]
WORDS = st.text("ab xyzé日本😀✓─\u0301", max_size=12)


def writing(text: str) -> Token:
    return text, partial(NaiveTerminal.write, text=text)


def moving(count: int) -> st.SearchStrategy[Token]:
    return st.sampled_from(
        [
            (f"\x1b[{count}C", lambda t: t.move(t.cursor + max(count, 1))),
            (f"\x1b[{count}D", lambda t: t.move(t.cursor - max(count, 1))),
            (f"\x1b[{count}G", lambda t: t.move(max(count, 1) - 1)),
        ]
    )


TOKENS = st.one_of(
    WORDS.map(writing),
    st.sampled_from(DROPPED).map(lambda text: (text, lambda t: None)),
    st.integers(0, 12).flatmap(moving),
    st.sampled_from(
        [
            ("\n", NaiveTerminal.end_line),
            ("\r\n", NaiveTerminal.end_line),
            ("\f", NaiveTerminal.end_line),
            ("\r", lambda t: t.move(0)),
            ("\b", lambda t: t.move(t.cursor - 1)),
            ("\t", NaiveTerminal.tab),
            ("\x1b[K", lambda t: t.clear(0)),
            ("\x1b[0K", lambda t: t.clear(0)),
            ("\x1b[1K", lambda t: t.clear(1)),
            ("\x1b[2K", lambda t: t.clear(2)),
            ("\x1b[9K", lambda t: None),
            ("\x9bD", lambda t: t.move(t.cursor - 1)),
        ]
    ),
)
PARTS = [
    *("\n", "\r", "\r\n", "\b", "\t", "\x1b", "\x1b[", "\x1b]", "\x1bP", "\x1b\\", "\x07", "\x18"),
    *("\x9b", "\x9d", "\x9c", "\x85", *"KDCG;m[(?12 "),
    *("a", "b", "é", "日", "😀", "\u0301", "\u200b", "\u202e", "א", "✓"),
    *("abcdefghij", "abcdefghij", "日本語中文", "\x1b[31m", "line\nline\nli"),
]
TORN = [b"\x80", b"\xc2", b"\xe6\x97", b"\xf0\x9f", b"\xff", b"\xed\xa0\x80"]
FRAGMENTS = st.lists(
    st.sampled_from([*(part.encode() for part in PARTS), *TORN]) | st.binary(max_size=6),
    max_size=40,
).map(b"".join)


FAR = st.lists(
    st.sampled_from(
        [
            *(b"\x1b[4095C", b"\x1b[90C", b"\x1b[999G", b"\x1b[900@", b"\x9b5@", b"\x1b[3P"),
            *(b"\t", b"\n", b"x", b"\r", b"\b", b"\x1b[K", b"\x1b[1K", b"\x1b[2K", b"\x1b[9X"),
            *("日".encode(), "\u0301".encode(), b"word", b"line\nline\nli"),
        ]
    ),
    max_size=30,
).map(b"".join)


def fed(pieces: Iterable[bytes]) -> tuple[str, TranscriptTail]:
    tail, parts = TranscriptTail(), []
    for piece in pieces:
        tail, settled = tail.fed(piece)
        parts.append(settled)
    return "".join(parts) + tail.line, tail._replace(row=comparable(tail.row))


def comparable(row: RowState) -> RowState:
    """Leave out what stands for marked characters, which depends on how they came."""
    return row if row.marks is None else row._replace(cells="", marks=None)


CASES = [
    (b"", ""),
    (b"plain\ntext", "plain\ntext"),
    (b"dos\r\nlines\r\r\n", "dos\nlines\n"),
    (b"\r 10%\r 50%\r100%\n", "100%\n"),
    (b"downloading\r\x1b[Kdone\n", "done\n"),
    (b"downloading\x1b[2K\rdone\n", "done\n"),
    (b"abcdef\x1b[3D\x1b[Kx", "abcx"),
    (b"abcdef\x1b[3D\x1b[1Kx", "   xef"),
    (b"abc\b\b\x1b[C!", "ab!"),
    (b"abc\x1b[2GX\x1b[5GY", "aXc Y"),
    (b"ab\b \bc", "ac"),
    (b"spinner |\b/\b-\b\\\b \n", "spinner  \n"),
    (b"a\x1b[31mb\x1b[0mc", "abc"),
    (b"a\x1b]0;title\x07b\x1b]2;title\x1b\\c", "abc"),
    (b"\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
    (b"a\x1b]52;c;aGVsbG8=\x07b", "ab"),
    (b"a\x1bPq#0;2\x07\n~\x1b\\b\x1b_x\x1b\\c\x1b^x\x1b\\d\x1bXx\x1b\\e", "abcde"),
    (b"a\x1b(Bb\x1b#8c\x1b=d\x1b7e\x1bcf", "abcdef"),
    ("a\x9b31mb\x9d0;t\x9cc\x90q\x9cd\x84e".encode(), "abcde"),
    (b"a\x9b31mb", "a\ufffd31mb"),
    (b"a\x1b[3\nC!", "a\n   !"),
    (b"a\x1b[31\x18mb", "amb"),
    (b"a\x1b[31\x1b[1mb", "ab"),
    (b"a\x1b]0;t\x1b[1mb", "ab"),
    ("a\x1b[3日".encode(), "a日"),
    ("a\x1b日".encode(), "a日"),
    (b"a\x1b[", "a"),
    (b"a\x1b]0;never ended\nb", "a"),
    (b"a\x1b[1;2Kb", " b"),
    (b"a\x1b[?Kb\x1b[1!Kc", "abc"),
    (b"a\vb\fc", "a\nb\nc"),
    (b"a\x00\x07\x0e\x7fb", "ab"),
    (b"\xe6\x97", ""),
    (b"\xe6\x97x", "\ufffdx"),
    ("日本\rx".encode(), "x 本"),
    ("e\u0301\u200b\u202ex\ufe0f".encode(), "e\u0301x"),
    (b"a\tb\rxy", "xy      b"),
    (b"x\x1b[999999999999999999999Cy", "x" + " " * 199 + "y"),
    (b"word " * 200 + b"\nx\x1b[99999Cy", "word " * 200 + "\nx" + " " * 4094 + "y"),
    (b"abcdef\x1b[3G\x1b[2Xx", "abx" + " ef"),
    (b"abcdef\x1b[3G\x1b[9Xx", "abx"),
    (b"abcdef\x1b[3G\x1b[Px", "abxef"),
    (b"abcdef\x1b[3G\x1b[2@x", "abx cdef"),
    ("日本\x1b[2G\x1b[@x".encode(), " x 本"),
    ("日本\x1b[2G\x1b[Px".encode(), " x "),
    (b"x\x1b[99999999999999999999999999999999999999Cy", "xy"),
    (b"x" * 5000 + b"\ry", "x" * 4096 + "y" + "x" * 903),
]
DELIVERIES = {
    "whole": lambda data: [data],
    "byte by byte": lambda data: [data[i : i + 1] for i in range(len(data))],
    "in twos": lambda data: [data[i : i + 2] for i in range(0, len(data), 2)],
    "with nothing between": lambda data: [b"", data[:3], b"", data[3:], b""],
}


@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize(("data", "text"), CASES)
def test_transcript(data: bytes, text: str, delivery: str) -> None:
    """A transcript shows what a terminal would show, however its bytes arrive."""
    assert fed(DELIVERIES[delivery](data))[0] == text


def test_transcript_of_whole_output() -> None:
    """The whole output can be given at once."""
    assert transcript(b"one\n1%\r2%") == "one\n2%"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[01;34mdir\x1b[0m\n10%\r100%\nplain", "dir\n100%\nplain"),
        ("dos\r\nlines\r\n", "dos\nlines\n"),
        ("\x9b1mbold\x9b0m\ud83d", "bold"),
        ("\r\u202etext", "text"),
    ],
)
def test_text_with_control_sequences(text: str, shown: str) -> None:
    """Text is shown as a terminal would show it."""
    assert acp_client.terminal_text(text) == shown


@given(st.text("ab\t\n日é\u0301\ud83d\u200d\u202e😀"))
def test_text_without_controls_is_returned_itself(text: str) -> None:
    """Where there is nothing to obey, nothing is changed."""
    assert acp_client.terminal_text(text) is text


def test_terminal_text_of_something_else() -> None:
    """Misuse is an error of ours."""
    with pytest.raises(acp_client.InvalidValueError):
        acp_client.terminal_text(b"x")  # type: ignore[arg-type]  # on purpose


@given(st.lists(TOKENS, max_size=30))
def test_transcript_agrees_with_naive_terminal(tokens: list[Token]) -> None:
    """Tokens have the effect that a naive terminal gives them, and those to drop have none."""
    terminal = NaiveTerminal()
    for _, action in tokens:
        action(terminal)
    assert transcript("".join(text for text, _ in tokens).encode()) == terminal.text


@given(FRAGMENTS, st.lists(st.integers(0, 200)), st.sampled_from([8, 16, 4096]))
@example(b"x" * 20 + "日\r".encode() + b"\tab", [9, 17, 21, 22], 8)
def test_any_split_gives_the_same(data: bytes, cuts: list[int], columns: int) -> None:
    """Bytes may be cut anywhere, and the tail is the same too."""
    ends = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    pieces = [data[start:end] for start, end in pairwise(ends)]
    with patch.object(_cells, "COLUMNS", columns):
        assert fed(pieces) == fed([data]) == fed(data[i : i + 1] for i in range(len(data)))


@given(FRAGMENTS, st.sampled_from([8, 4096]))
def test_transcript_is_safe(data: bytes, columns: int) -> None:
    """A transcript holds no control character but line feeds and tabs, nor anything unsafe."""
    with patch.object(_cells, "COLUMNS", columns):
        text, tail = fed([data])
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
    assert escape(text) == text
    assert 0 <= tail.row.cursor <= columns
    assert tail.row.width <= columns


@given(FAR, st.lists(st.integers(0, 200)))
@example(b"\x1b[4095Cx\n" * 50, [])
@example(b"\t" * 400 + b"\x1b[1K", [])
@example("e\u0301\x1b[9G\u0301\n".encode() * 50, [])
@example(b"\x1b[4000Gx" + "日".encode() * 99 + b"\r10%", [30])
@example(b"\x9b5@\xcc\x81\r\x1b[K\x9b5@", [6])
@example(b"x\x1b[D\x1b[900@" * 20, [])
def test_text_is_not_much_longer_than_output(data: bytes, cuts: list[int]) -> None:
    """Ten characters for each byte are the most, whatever moves the cursor, however it is cut."""
    ends = sorted({min(cut, len(data)) for cut in cuts} | {0, len(data)})
    text, tail = fed(data[start:end] for start, end in pairwise(ends))
    assert len(text) <= 10 * len(data)
    assert (text, tail) == fed([data])


@given(FRAGMENTS, FRAGMENTS, FRAGMENTS)
def test_two_continuations_grow_from_one_tail(first: bytes, one: bytes, other: bytes) -> None:
    """A tail never changes, so two outputs may go on from it."""
    tail, settled = TranscriptTail().fed(first)
    for rest in (one, other, one):
        end, more = tail.fed(rest)
        assert settled + more + end.line == transcript(first + rest)


@given(st.text("ab é日✓\t\n", max_size=60))
def test_plain_text_is_its_own_transcript(text: str) -> None:
    """Text without control sequences is kept exactly."""
    assert transcript(text.encode()) == text


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b]0;" + b"x" * 100_000,
        b"\x1bP" + b"x" * 100_000,
        b"\x1b[" + b"1" * 100_000,
        b"\x1b(" + b" " * 100_000,
        b"a" + "\u0301".encode() * 100_000,
        b"x" * 100_000,
        "日".encode() * 100_000,
        b"\x1b[9999C" * 10_000,
    ],
)
def test_tail_stays_small(data: bytes) -> None:
    """What has to be remembered is bounded, whatever never ends."""
    _, tail = fed(data[i : i + 1000] for i in range(0, len(data), 1000))
    assert len(tail.line) <= _cells.COLUMNS
    assert len(tail.unfinished) + len(tail.undecoded) < 40


def test_plain_lines_are_written_at_once() -> None:
    """Lines without controls are one step, not one for each line or character."""
    with patch.object(_cells.Row, "write", autospec=True, side_effect=_cells.Row.write) as write:
        assert transcript(b"some words\r\n" * 1000) == "some words\n" * 1000
    assert write.call_count == 1
