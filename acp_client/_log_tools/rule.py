"""A rule of the protocol as a row of a table, and what breaks it as a finding.

`when` says for which messages the function of a rule is called: `message`, `request`,
`notification` or `response`, one of the last three with a method (`response session/new`), an
`update` or one of a variant (`update tool_call_update`). The first part of a rule's id says whose
messages they are. The function yields a path and a sentence for each violation; the books hold
what was said before the message. A rule at the `end` yields a line as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, TypeAlias

import attrs

from .conversation import Books, Said

Severity = Literal["error", "warning", "note"]
Violations: TypeAlias = Iterator[tuple[str, str]]

PAGES: Final = "https://agentclientprotocol.com/protocol"


@attrs.frozen
class Rule:
    """One row: what must hold, for which versions, and where the specification says so."""

    id: str
    severity: Severity
    versions: tuple[str, ...]
    when: str
    title: str
    section: str
    find: Callable[..., Any]

    @property
    def sent(self) -> bool:
        """Whether it is about what the client writes."""
        return self.id.startswith("client/")


@attrs.frozen
class Finding:
    """A violation: the rule, the line of the recording, the path in the message, and what is wrong.

    `section` names the page or the definition of the schema that the rule is taken from.
    """

    line: int
    path: str
    rule: str
    severity: Severity
    message: str
    section: str


V1: Final = ("v1",)
V2: Final = ("v2",)
BOTH: Final = ("v1", "v2")

FindIn: TypeAlias = Callable[[Said, Books], Violations]


def is_absolute(path: Any) -> bool:
    """Return whether a path is absolute on some system, POSIX or Windows.

    A URI is not a path. A value that is not text is not judged here.
    """
    if not isinstance(path, str):
        return True
    is_drive = len(path) > 2 and path[0].isalpha() and path[1] == ":" and path[2] in "/\\"
    return path.startswith(("/", "\\\\")) or is_drive


def is_custom(name: Any) -> bool:
    """Return whether a name is custom: it begins with `_`."""
    return isinstance(name, str) and name.startswith("_")
