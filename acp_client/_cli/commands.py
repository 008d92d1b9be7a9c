"""The command line: what `acp-client` takes and does; the modules beside it say how it looks.

Everything that goes wrong outside of a recording (a file that is not there, a closed pipe, Ctrl-C)
ends in one line on standard error and a status; what is wrong inside a recording is a problem that
is counted, and no reason to stop. Statuses: 1 for what cannot be read or is not there, 2 for a
command that is misspelt, 130 for Ctrl-C, 141 for a closed pipe.

Rich is imported by what prints for people, and only when that is asked for: `--json` starts faster.
"""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from math import isfinite
from typing import Any, BinaryIO, Final, cast

import click

from .._errors import RecordingError
from .._recordings import FORMAT_NAMES, Feeder, write_envelope
from .._store import Store
from .._text import escape
from .._version import __version__
from .._versions import PROTOCOLS, Protocol
from .replay import (
    LIMITS,
    Wish,
    open_page,
    print_json,
    show_documents,
    show_live,
    show_transcript,
)
from .sources import (
    STANDARD_INPUT,
    Failure,
    Moment,
    Source,
    opened,
    progress,
    reason,
    recording_of,
    refuse_output,
)
from .stats import Report, Statistics

_INTERRUPTED: Final = 130
_PIPE_CLOSED: Final = 141


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process; return the exit status."""
    if sys.stdout is None or sys.stderr is None:
        return 1  # there is nowhere to say anything
    try:
        status = commands.main(arguments, prog_name="acp-client", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        status = _told(error)
    except click.Abort:
        status = _INTERRUPTED
    except OSError as error:
        status = _told(_failure(error))
    _let_go_of_output()
    return int(status or 0)


def _told(error: click.ClickException) -> int:
    """Print what went wrong, if there is where; return the exit status."""
    with suppress(OSError):
        error.show()
    return error.exit_code


def _failure(error: OSError) -> Failure:
    """Say what the system refused."""
    if isinstance(error, BrokenPipeError):
        return Failure("the output was closed before the end", _PIPE_CLOSED)
    return Failure(f"{error.filename or 'the output'}: {reason(error)}")


def _let_go_of_output() -> None:
    """Drop what a closed output did not take: the interpreter would try again, and complain."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _failures() -> Iterator[None]:
    """Raise `Failure` for all that ends a command."""
    try:
        yield
    except KeyboardInterrupt:
        raise Failure("interrupted", _INTERRUPTED) from None
    except RecordingError as error:
        raise Failure(str(error)) from None
    except OSError as error:
        raise _failure(error) from None


class _Commands(click.Group):
    """Commands whose failures are one line."""

    def make_context(self, *arguments: Any, **more: Any) -> click.Context:
        with _failures():  # `--help` and `--version` print here
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: click.Context) -> Any:
        with _failures():
            result = super().invoke(ctx)
            sys.stdout.flush()
        return result


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="acp-client")
def commands() -> None:
    """Read recorded traffic of the Agent Client Protocol.

    FILE is a recording of any known format, plain or gzip; - or nothing is the standard input.
    The format is recognised by what is in FILE, and `convert --verbose` says by what.
    """


def _finite(_: click.Context, __: click.Parameter, factor: float | None) -> float | None:
    if factor is not None and not isfinite(factor):
        raise click.BadParameter(f"{factor} is no factor")
    return factor


file_argument = click.argument("file", default=STANDARD_INPUT, type=click.Path(allow_dash=True))
format_option = click.option(
    "--format",
    "format_name",
    metavar="FORMAT",
    type=click.Choice(FORMAT_NAMES),
    help=f"Read FILE as this format, instead of recognising it: {', '.join(FORMAT_NAMES)}.",
)
protocol_option = click.option(
    "--protocol",
    type=click.Choice(PROTOCOLS),
    help="What the agent speaks, instead of learning it from FILE.",
)


# --- replay ---


@commands.command()
@file_argument
@click.option("--json", "as_json", is_flag=True, help="Print the snapshots as one JSON document.")
@click.option("--session", metavar="ID", help="Show this session only.")
@click.option(
    "--at",
    "until",
    metavar="N|TIME|+S",
    type=Moment(),
    help="Stop after N lines of FILE, at a time such as 2026-03-12T09:30:00Z, or after S seconds.",
)
@format_option
@protocol_option
@click.option("--follow", is_flag=True, help="Go on as FILE grows, until Ctrl-C.")
@click.option(
    "--speed",
    metavar="X",
    type=click.FloatRange(min=0, min_open=True),
    callback=_finite,
    help="Play FILE in its own time, X times as fast.",
)
@click.option("--full", is_flag=True, help="Leave nothing out of long output, patches, problems.")
def replay(file: str, as_json: bool, **wishes: Any) -> None:
    """Print the conversation of a recording.

    Without --json that is a transcript: who said what, tool calls with what they did, plans, and
    how each session stands at the end.
    """
    wish = Wish(**wishes)
    show = show_documents if as_json else show_transcript
    if not as_json and (wish.follow or wish.speed is not None):
        show = show_live
    show(file, wish)


# --- stats ---


@commands.command()
@file_argument
@click.option("--json", "as_json", is_flag=True, help="Print the counts as one JSON document.")
@format_option
@protocol_option
def stats(file: str, as_json: bool, format_name: str | None, protocol: Protocol | None) -> None:
    """Tell what a recording is made of, and how fast it was reduced."""
    report = _report(file, format_name, protocol)
    if as_json:
        print_json(report.document())
        return
    from .stats_report import report_lines  # it imports Rich

    page = open_page()
    page.write(report_lines(report, page.layout))


def _report(file: str, format_name: str | None, protocol: Protocol | None) -> Report:
    store, statistics = Store(limits=LIMITS, protocol=protocol), Statistics()
    feeder = Feeder(store)
    with opened(file) as source, progress(source):
        recording = recording_of(source, format_name)
        feeder.play(recording, before=statistics.count)
    feeder.end()
    return Report(recording, statistics, store, feeder, source.bytes)


# --- convert ---


@commands.command()
@file_argument
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="OUT",
    type=click.Path(allow_dash=True),
    help="Where to write; - is the standard output, a name in .gz is packed.",
)
@format_option
@click.option("-v", "--verbose", is_flag=True, help="Say why FILE was taken for its format.")
def convert(file: str, output: str, format_name: str | None, verbose: bool) -> None:
    """Write a recording as enveloped NDJSON.

    A line is {"dir": "send" or "recv", "ts": milliseconds, "message": ...}.
    """
    with opened(file) as source, progress(source):
        recording = recording_of(source, format_name)
        if verbose:
            why = f"{file} is {recording.format} ({recording.layout}): {recording.reason}"
            click.echo(f"acp-client: {escape(why, keep_newlines=False)}", err=True)
        count = 0
        with written(output, source) as target:
            for frame in recording:
                target.write(write_envelope(frame))
                count += 1
    told = [f"{count:,} messages written to {output}"]
    told += [f"{recording.passed_over:,} values passed over"] if recording.passed_over else []
    told += ["the recording ends in the middle"] if recording.torn else []
    click.echo(f"acp-client: {escape('; '.join(told), keep_newlines=False)}", err=True)


@contextmanager
def written(name: str, source: Source) -> Iterator[BinaryIO]:
    """Open what is written to. Raises `Failure` rather than overwrite what is read."""
    if name == STANDARD_INPUT:
        yield sys.stdout.buffer
        return
    refuse_output(source, name, name)
    with open(name, "wb") as file:
        if not name.endswith(".gz"):
            yield file
            return
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield cast("BinaryIO", packed)
