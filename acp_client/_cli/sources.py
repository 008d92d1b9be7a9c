"""What the command line reads: a file or the standard input, as it is or as it grows.

A `Source` is what `read_recording` reads from. It counts bytes, and before each read, which may
wait, it calls `before_read`: whoever shows something while reading does it there. A source that
`follows` a file does not end with it: it waits until more is written, and ends when the file
shrinks or another takes its place, which makes it `restarted`. A pipe ends when its writers do.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final, TextIO, cast

import click

from .._errors import RecordingError
from .._recordings import Recording, Stop, date_and_time, read_recording
from .._text import escape

STANDARD_INPUT: Final = "-"

_STANDARD_OUTPUT: Final = 1
_POLL_SECONDS: Final = 0.1


class Failure(click.ClickException):
    """Something that ends the command with one line and a status."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.exit_code = status  # type: ignore[misc]  # the base has it for the class

    def show(self, file: object = None) -> None:
        """Print the line on standard error."""
        click.echo(f"acp-client: {escape(self.message, keep_newlines=False)}", err=True)


def _nothing() -> None:
    """Do nothing before a read."""


class Moment(click.ParamType[Stop]):
    """A place in a recording: the number of a line, a date and time in ISO form, or `+` seconds."""

    name = "moment"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Stop:
        """Return where to stop."""
        text = str(value)
        if text.isascii() and text.isdigit():
            return Stop(line=int(text))
        if re.fullmatch(r"\+\d+(\.\d+)?", text, re.ASCII):
            return Stop(seconds=float(text))
        time = date_and_time(text)
        if time is None:
            self.fail(f"{text!r} is not a line, a date and time, or +SECONDS", param, ctx)
        return Stop(time=time)


class Source:
    """A stream that counts its bytes and calls `before_read` before each read."""

    def __init__(self, name: str, file: BinaryIO, *, follows: bool = False) -> None:
        self.name = name
        self.bytes = 0
        self.before_read: Callable[[], None] = _nothing
        self.restarted = False
        self._file = file
        self._read = getattr(file, "read1", file.read)
        self._follows = follows and name != STANDARD_INPUT and self._may_grow()

    def _may_grow(self) -> bool:
        """Return whether there may be more behind the end: a pipe has one that is final."""
        return stat.S_ISREG(os.fstat(self._file.fileno()).st_mode)

    @property
    def size(self) -> int | None:
        """How many bytes the file has; unknown for a stream."""
        if self.name == STANDARD_INPUT:
            return None
        return os.fstat(self._file.fileno()).st_size or None

    def is_file(self, other: str | int) -> bool:
        """Return whether a path or a descriptor leads to the file that is read."""
        try:
            here, there = os.fstat(self._file.fileno()), os.stat(other)
        except OSError:  # it is not there, or no file of the system's
            return False
        return os.path.samestat(here, there) and _gives_back(here)

    def read1(self, size: int = -1) -> bytes:
        """Read what is there; nothing means the end, which a followed file has when it is over."""
        self.before_read()
        data = self._read_on(size)
        while not data and self._follows and not self._is_over():
            time.sleep(_POLL_SECONDS)
            data = self._read_on(size)
        self.bytes += len(data)
        return data

    read = read1

    def _read_on(self, size: int) -> bytes:
        try:
            data: bytes = self._read(size)
        except OSError as error:
            raise Failure(f"{self.name}: {reason(error)}") from None
        return data

    def _is_over(self) -> bool:
        """Return whether the file was cut short, or another one has its name now."""
        here = os.fstat(self._file.fileno())
        try:
            there = os.stat(self.name)
        except FileNotFoundError:
            there = here  # it is being replaced, or gone: what is open may still grow
        self.restarted = here.st_size < self.bytes or not os.path.samestat(here, there)
        return self.restarted


def _gives_back(file: os.stat_result) -> bool:
    """Return whether reading a file returns what was written to it, unlike a terminal or a socket.

    Some systems do not distinguish pipes, and number all of them 0.
    """
    mode = file.st_mode
    return file.st_ino != 0 and not stat.S_ISCHR(mode) and not stat.S_ISSOCK(mode)


def refuse_output(source: Source, output: str | int, name: str) -> None:
    """Raise `Failure` rather than write to the file that is read."""
    if source.is_file(output):
        raise Failure(f"{name}: is read and cannot be written at the same time")


@contextmanager
def opened(name: str, *, follows: bool = False) -> Iterator[Source]:
    """Open a file, or the standard input for `-`. Raises `Failure`."""
    with _opened_file(name) as file:
        source = Source(name, file, follows=follows)
        refuse_output(source, _STANDARD_OUTPUT, "the output")
        yield source


@contextmanager
def _opened_file(name: str) -> Iterator[BinaryIO]:
    if name == STANDARD_INPUT:
        yield _standard_input()
        return
    try:
        file = open(name, "rb", buffering=0)  # noqa: SIM115  # closed below, and errors of the body are not this file's
    except OSError as error:
        raise Failure(f"{name}: {reason(error)}") from None
    with file:
        yield cast("BinaryIO", file)


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise Failure("the standard input is closed")
    if sys.stdin.isatty():
        click.echo("acp-client: reading from the terminal; Ctrl-D ends", err=True)
    return sys.stdin.buffer


def reason(error: OSError) -> str:
    """Say why the system refused something."""
    return error.strerror or str(error)


def recording_of(source: Source, format_name: str | None) -> Recording:
    """Read a source as a recording. Raises `Failure` for anything else."""
    try:
        return read_recording(cast("BinaryIO", source), format=format_name)
    except RecordingError as error:
        raise Failure(f"{source.name}: {error}") from None


class Progress:
    """One line on a terminal that shows how far reading has come, once it takes long."""

    def __init__(self, source: Source, stream: TextIO) -> None:
        self._source = source
        self._stream = stream
        self._due = time.monotonic() + 0.5
        self._shown = False

    def tell(self) -> None:
        """Show where reading is, ten times a second at most."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + 0.1
            self._shown = True
            self._stream.write(f"\r{self._words()}\x1b[K")
            self._stream.flush()

    def clear(self) -> None:
        """Take the line away."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _words(self) -> str:
        done, size = self._source.bytes, self._source.size
        if size is None:
            return f"reading: {megabytes(done)}"
        return f"reading: {min(100, 100 * done // size)} % of {megabytes(size)}"


def megabytes(count: int) -> str:
    """Write a number of bytes for a line that changes."""
    return f"{count / 1e6:.1f} MB"


@contextmanager
def progress(source: Source) -> Iterator[None]:
    """Show progress on standard error while a source is read, if that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    line = Progress(source, sys.stderr)
    source.before_read = line.tell
    try:
        yield
    finally:
        line.clear()
        source.before_read = _nothing
