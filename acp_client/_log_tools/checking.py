"""What an agent or a client did against the protocol, from a recording alone.

The recording is read twice: a store reduces it, which finds the version and what cannot be decoded,
and then every message goes through the rules of that version, which are rows of one table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, Final, cast

from .._decode import decode
from .._errors import Problem
from .._limits import Limits
from .._recordings import Feeder, Frame
from .._store import Store
from .._versions import Protocol
from . import rules_clients, rules_messages, rules_prompts, rules_sessions, rules_tools
from .conversation import Books, Said, messages
from .rule import BOTH, Finding, Rule, Severity
from .spool import IN_MEMORY, Spool

_MOST_PROBLEMS: Final = 100_000


def _decoding(side: str, kind: str, name: str, severity: Severity, title: str) -> Rule:
    section = "schema; JSON-RPC 2.0"
    return Rule(f"{side}/{name}", severity, BOTH, f"problem {kind}", title, section, iter)


_PROBLEMS: Final[tuple[tuple[str, str, Severity, str], ...]] = (
    ("not_json", "not-json", "error", "A line is one JSON text"),
    ("invalid_message", "invalid-message", "error", "A message has the shape of JSON-RPC"),
    ("rejected", "required-field", "error", "Required fields are there, and of their type"),
    ("defaulted", "optional-field", "error", "Optional fields are of their type, where given"),
    ("skipped", "list-item", "error", "Items of a list are of its type"),
    ("too_deep", "too-deep", "warning", "Messages nest no deeper than readers can follow"),
    ("too_long", "too-long", "warning", "Messages are not longer than readers take"),
)
"""Problems of decoding: the kind of the problem, and the rule that it breaks."""

RULES: Final[tuple[Rule, ...]] = (
    *(_decoding("agent", *row) for row in _PROBLEMS),
    *(_decoding("client", *row) for row in _PROBLEMS),
    *rules_messages.RULES,
    *rules_prompts.RULES,
    *rules_tools.RULES,
    *rules_sessions.RULES,
    *rules_clients.RULES,
)
"""All rows; those of one id are one rule that is looked at in several messages."""


def check(recording: Iterable[Frame], *, protocol: Protocol | None = None) -> list[Finding]:
    """Return what breaks the protocol in a recording, in the order of its lines.

    What a side may do is not blamed, and nothing is concluded from what a recording does not have:
    its beginning, its end, or one of its sides. `protocol` is what the agent speaks, where the
    recording does not say.
    """
    with SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        spool = Spool(cast("BinaryIO", file))
        store = Store(limits=Limits(problems=_MOST_PROBLEMS), protocol=protocol)
        feeder = Feeder(store)
        is_complete = False
        for place, frame in enumerate(spool.through(recording)):
            is_complete |= place == 0 and frame.sent and b'"initialize"' in frame.data
            feeder.take(frame)
        feeder.end()
        checker = _Checker(store.protocol, complete=is_complete)
        undecoded = [one for each in store.problems for one in _of_problem("agent", each)]
        found = [*undecoded, *checker.check(spool.frames())]
    return sorted(found, key=lambda finding: finding.line)


_BY_PROBLEM: Final = {
    (side, problem): next(rule for rule in RULES if rule.id == f"{side}/{name}")
    for side in ("agent", "client")
    for problem, name, _, _ in _PROBLEMS
}


def _of_problem(side: str, problem: Problem) -> Iterator[Finding]:
    """Return what a problem of decoding breaks; that a recording is cut off breaks nothing."""
    rule = _BY_PROBLEM.get((side, problem.kind))
    if rule is not None:
        yield _finding(rule, problem.line, problem.path, problem.message)


def _finding(rule: Rule, line: int, path: str, message: str) -> Finding:
    return Finding(line, path, rule.id, rule.severity, message, rule.section)


class _Checker:
    """Takes the frames of one recording through the rules of its version."""

    def __init__(self, protocol: Protocol, *, complete: bool) -> None:
        self._books = Books(protocol, complete=complete)
        self._rules: dict[tuple[bool, str], list[Rule]] = {}
        for rule in RULES:
            if protocol in rule.versions:
                self._rules.setdefault((rule.sent, rule.when), []).append(rule)

    def check(self, frames: Iterable[Frame]) -> Iterator[Finding]:
        """Return the violations in the messages, and those that only the end shows."""
        for frame in frames:
            if frame.sent:
                yield from self._client_problems(frame)
            for path, message in messages(frame):
                request = None
                if "method" not in message:
                    asked = Said(frame.line, frame.sent, path, message)
                    request = self._books.open.get((not frame.sent, asked.key))
                said = Said(frame.line, frame.sent, path, message, request)
                yield from self._violations(said)
                self._books.follow(said)
        for sent in (False, True):
            for rule in self._rules.get((sent, "end"), ()):
                for line, path, told in rule.find(self._books):
                    yield _finding(rule, line, path, told)

    def _client_problems(self, frame: Frame) -> Iterator[Finding]:
        """Decode what the client wrote; its calls have one form only in version 2."""
        problems = decode(frame.data, sent=True)[1]
        for problem in problems:
            if self._books.protocol == "v2" or problem.kind in ("not_json", "invalid_message"):
                placed = Problem(frame.line, problem.kind, problem.path, problem.message)
                yield from _of_problem("client", placed)

    def _violations(self, said: Said) -> Iterator[Finding]:
        for when in _moments(said):
            for rule in self._rules.get((said.sent, when), ()):
                for path, told in rule.find(said, self._books):
                    yield _finding(rule, said.line, said.path + path, told)


def _moments(said: Said) -> Iterator[str]:
    """Return the words under which rules wait for a message."""
    yield "message"
    yield said.kind
    yield f"{said.kind} {said.method}"
    if said.kind != "response":
        yield "call"
    if said.method == "session/update":
        yield "update"
        yield f"update {said.variant}"
