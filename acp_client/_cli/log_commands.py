"""The commands for log tools: they read a recording as `replay` does, and run one tool over it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs
import click

from .._errors import InvalidValueError
from .._json import encode
from .._log_tools import (
    RULES_BY_ID,
    SEVERITIES,
    Finding,
    Journal,
    bisect,
    check,
    compact,
    finding_lines,
    findings_document,
    first_difference,
    redact,
    sarif_document,
    state_hash,
    to_html,
)
from .._recordings import Feeder, Frame, Stop, write_envelope
from .._snapshot import Snapshot
from .._storage import raw_document
from .._store import Store
from .._text import escape
from .._versions import Protocol
from .commands import commands, file_argument, format_option, protocol_option, written
from .replay import LIMITS, print_json
from .sources import Moment, megabytes, opened, progress, recording_of, refuse_output

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


# --- redact ---


def _lines_of(path: str) -> list[str]:
    """Read the texts of a file, one a line."""
    with opened(path) as source:
        data = b"".join(iter(source.read1, b""))
    return [line for line in data.decode("utf-8", "replace").splitlines() if line.strip()]


@commands.command("redact")
@file_argument
@output_option
@click.option(
    "--pattern",
    "patterns",
    metavar="REGEX",
    multiple=True,
    help="Replace what matches, or its group `secret`; may be given more than once.",
)
@click.option(
    "--secrets",
    "secrets_file",
    metavar="LIST",
    type=click.Path(),
    help="Replace the texts in this file, one a line.",
)
@click.option(
    "--report", is_flag=True, help="Print each replacement: its line, its path and its rule."
)
@format_option
def redact_command(
    file: str,
    output: str,
    patterns: tuple[str, ...],
    secrets_file: str | None,
    report: bool,
    format_name: str | None,
) -> None:
    r"""Write a recording without its secrets.

    Replaced are the values of headers and environments, what a login carries, what a user entered
    into a form, values whose name says that they are secret, the usual tokens and keys, and what
    you name: also where a secret is cut by chunks, or encoded in base64. The state stays the same
    except for these values. Read the result before you publish it.

    \b
    Examples:
      acp-client redact session.ndjson -o clean.ndjson
      acp-client redact --pattern 'ACME-[0-9]+' --report acp.log -o clean.ndjson
      acp-client redact --secrets my-secrets.txt session.ndjson | acp-client replay
    """
    secrets = [] if secrets_file is None else _lines_of(secrets_file)
    with opened(file) as source, progress(source):
        recording = recording_of(source, format_name)
        try:
            redaction = redact(recording, patterns=patterns, secrets=secrets)
        except InvalidValueError as error:
            raise click.UsageError(str(error)) from None
        with written(output, source) as target:
            for frame in redaction:
                target.write(write_envelope(frame))
    for one in redaction.replacements if report else ():
        say(f"line {one.line}: {one.path}: {one.rule}")
    told = [f"{rule}: {count:,}" for rule, count in redaction.counts.items()]
    say("replaced", *told) if told else say("no secret found")


# --- check ---

_STATUS: Final = {"note": 0, "warning": 3, "error": 4}
"""Exit statuses by the worst finding; 1 and 2 are for what cannot be read."""


@commands.command("check")
@file_argument
@click.option("--json", "as_json", is_flag=True, help="Print the findings as one JSON document.")
@click.option("--sarif", is_flag=True, help="Print the findings as a SARIF 2.1.0 log.")
@click.option("--rules", "lists_rules", is_flag=True, help="Print the table of rules, and end.")
@click.option("--side", type=click.Choice(["agent", "client"]), help="Judge one side only.")
@click.option("--ignore", metavar="RULE", multiple=True, help="Leave out a rule.")
@click.option(
    "--fail-on",
    type=click.Choice([*SEVERITIES, "never"]),
    default="note",
    help="The least severity that counts for the exit status.",
)
@format_option
@protocol_option
def check_command(
    file: str,
    lists_rules: bool,
    format_name: str | None,
    protocol: Protocol | None,
    **wishes: Any,
) -> None:
    r"""Tell what an agent or a client did against the protocol.

    Each finding has its line, its severity, its rule, the path in the message, and the section of
    the specification. The exit status is 4 if there are errors, 3 if there are warnings, else 0.

    \b
    Examples:
      acp-client check session.ndjson
      acp-client check --side agent --fail-on error acp.log.gz
      acp-client check --sarif session.ndjson > session.sarif
    """
    if lists_rules:
        _print_lines([f"{r.id}  {r.severity}  {r.title}  [{r.section}]" for r in RULES_BY_ID])
        return
    with opened(file) as source, progress(source):
        found = check(recording_of(source, format_name), protocol=protocol)
    left = [one for one in found if _is_wanted(one, wishes["side"], wishes["ignore"])]
    if wishes["sarif"]:
        print_json(sarif_document(left, file))
    elif wishes["as_json"]:
        print_json(findings_document(left))
    else:
        _print_lines(finding_lines(left, file))
    _exit_by_severity(left, wishes["fail_on"])


def _is_wanted(finding: Finding, side: str | None, ignored: Sequence[str]) -> bool:
    is_side = side is None or finding.rule.startswith(f"{side}/")
    return is_side and finding.rule not in ignored


def _print_lines(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(escape(line, keep_newlines=False))


def _exit_by_severity(findings: Iterable[Finding], least: str) -> None:
    counted = SEVERITIES[SEVERITIES.index(least) :] if least in SEVERITIES else ()
    statuses = [_STATUS[one.severity] for one in findings if one.severity in counted]
    if status := max(statuses, default=0):
        click.get_current_context().exit(status)


# --- journal ---


@commands.group("journal")
def journal_commands() -> None:
    """Keep traffic in an append-only file, and ask for the state at any line or time."""


@journal_commands.command("append")
@click.argument("journal", type=click.Path())
@file_argument
@format_option
@protocol_option
def journal_append(
    journal: str, file: str, format_name: str | None, protocol: Protocol | None
) -> None:
    r"""Append the messages of FILE to JOURNAL, which is made if it is not there.

    A journal is a recording: `replay`, `check` and the rest read it. A crash costs at most the line
    that was being written.

    \b
    Examples:
      acp-client journal append acp.journal session.ndjson
      my-agent | tee /dev/tty | acp-client journal append acp.journal
    """
    with Journal(journal, protocol=protocol) as kept, opened(file) as source, progress(source):
        refuse_output(source, journal, journal)
        for frame in recording_of(source, format_name):
            kept.append_frame(frame)
        kept.sync()
        say(f"{journal} has {kept.frames:,} frames")


@journal_commands.command("hash")
@file_argument
@click.option("--at", "moment", metavar="N|TIME|+S", type=Moment(), help="At a line, or a time.")
@format_option
@protocol_option
def journal_hash(
    file: str, moment: Stop | None, format_name: str | None, protocol: Protocol | None
) -> None:
    r"""Print a hash of the state of each session, the same on every machine.

    \b
    Examples:
      acp-client journal hash acp.journal
      acp-client journal hash acp.journal --at 2026-03-12T09:30:00Z
    """
    store = Store(limits=LIMITS, protocol=protocol)
    feeder = Feeder(store)
    with opened(file) as source, progress(source):
        feeder.play(recording_of(source, format_name), stop=moment)
    feeder.end()
    _print_lines(f"{state_hash(store.snapshot(one))}  {one}" for one in store.sessions)


# --- bisect ---


@commands.command("bisect")
@click.argument("file", type=click.Path(allow_dash=True))
@click.argument("other", required=False, type=click.Path())
@click.option("--contains", metavar="TEXT", help="Look for the first state that has this text.")
@format_option
@protocol_option
def bisect_command(
    file: str,
    other: str | None,
    contains: str | None,
    format_name: str | None,
    protocol: Protocol | None,
) -> None:
    r"""Find the first line at which two recordings lead to different states.

    With --contains it is the first line of one recording at which its state has a text. As with
    `git bisect`, what became true is taken to stay true. The exit status is 1 if there is no line.

    \b
    Examples:
      acp-client bisect before.ndjson after.ndjson
      acp-client bisect session.ndjson --contains "panic:"
    """
    if (other is None) == (contains is None):
        raise click.UsageError("name another recording, or a text with --contains")
    with opened(file) as source, progress(source):
        recording = recording_of(source, format_name)
        if contains is not None:
            first = bisect(recording, _containing(contains), protocol=protocol)
            found: Sequence[Frame | None] = [first]
        else:
            found = _different(recording, str(other), protocol)
    lines = [one for one in found if one is not None]
    _print_lines(f"line {one.line}: {one.data.decode('utf-8', 'replace')[:200]}" for one in lines)
    if not lines:
        say("there is no such line")
        click.get_current_context().exit(1)


def _containing(text: str) -> Callable[[Mapping[str, Snapshot]], bool]:
    """Return a predicate: whether the document of any session has a text."""
    wanted = json.dumps(text, ensure_ascii=False)[1:-1].encode()
    return lambda state: any(wanted in encode(raw_document(one)) for one in state.values())


def _different(
    recording: Iterable[Frame], other: str, protocol: Protocol | None
) -> Sequence[Frame | None]:
    with opened(other) as source:
        return first_difference(recording, recording_of(source, None), protocol=protocol) or ()


# --- page ---


@commands.command("page")
@file_argument
@output_option
@click.option("--title", metavar="TEXT", help="The title of the page; by default the name of FILE.")
@format_option
@protocol_option
def page_command(
    file: str, output: str, title: str | None, format_name: str | None, protocol: Protocol | None
) -> None:
    r"""Write a recording as one HTML page that works offline.

    The page shows the transcript with tool calls, diffs, terminals and plans, and a slider through
    time. Nothing that an agent sent can run in it. Remove secrets first: see `redact`.

    \b
    Examples:
      acp-client page session.ndjson -o session.html
      acp-client redact session.ndjson | acp-client page - -o clean.html
    """
    with opened(file) as source, progress(source):
        name = title or os.path.basename(file)
        html = to_html(recording_of(source, format_name), title=name, protocol=protocol)
        with written(output, source) as target:
            target.write(html.encode("utf-8", "replace"))
