"""The commands for log tools: they read a recording as `replay` does, and run one tool over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import attrs
import click

from .._log_tools import compact
from .._recordings import Frame, write_envelope
from .._text import escape
from .._versions import Protocol
from .commands import commands, file_argument, format_option, protocol_option, written
from .sources import megabytes, opened, progress, recording_of

output_option = click.option(
    "-o",
    "--output",
    default="-",
    metavar="OUT",
    type=click.Path(allow_dash=True),
    help="Where to write; - or nothing is the standard output, a name in .gz is packed.",
)


@attrs.define
class _Counted:
    """How many messages passed, and how many bytes they have."""

    messages: int = 0
    bytes: int = 0

    def through(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """Pass frames on, and count them."""
        for frame in frames:
            self.messages += 1
            self.bytes += len(frame.data)
            yield frame


def say(*told: str) -> None:
    """Print a line on standard error."""
    click.echo(f"acp-client: {escape('; '.join(told), keep_newlines=False)}", err=True)


# --- compact ---


@commands.command("compact")
@file_argument
@output_option
@click.option(
    "--keep-turns",
    metavar="N",
    default=0,
    type=click.IntRange(min=0),
    help="Leave the last N turns of each session as they were recorded.",
)
@format_option
@protocol_option
def compact_command(
    file: str, output: str, keep_turns: int, format_name: str | None, protocol: Protocol | None
) -> None:
    r"""Write the shortest recording that leads to the same state.

    The updates of one message, tool call or terminal become one; what was overwritten or answered,
    and what does nothing, is left out. The result is enveloped NDJSON, and `replay --json` prints
    the same sessions for it.

    \b
    Examples:
      acp-client compact session.ndjson -o short.ndjson
      acp-client compact --keep-turns 1 acp.log.gz -o short.ndjson.gz
    """
    before, after = _Counted(), _Counted()
    with opened(file) as source, progress(source):
        recording = recording_of(source, format_name)
        frames = compact(before.through(recording), keep_turns=keep_turns, protocol=protocol)
        with written(output, source) as target:
            for frame in after.through(frames):
                target.write(write_envelope(frame))
    say(
        f"{before.messages:,} messages became {after.messages:,}",
        f"{megabytes(before.bytes)} became {megabytes(after.bytes)}",
    )
