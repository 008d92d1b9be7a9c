"""The log of JetBrains' `AcpTransport`: text lines that end with what was written or read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from .frames import Frame, Tally, Value
from .json_slices import Members, compact, members_if_any
from .messages import is_message
from .times import stamp_in

_LOGGER: Final = b"AcpTransport"
_LOGGED: Final = re.compile(rb"([^{]*?)\b(IN|OUT):[ \t]?(.*)", re.DOTALL)


@attrs.frozen
class TransportLog:
    """Lines of the transport among those of other loggers."""

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take a line with a message behind the word for its direction."""
        logged = _LOGGED.fullmatch(data)
        if logged is None or _LOGGER not in logged[1]:
            return False
        return is_message(members_if_any(logged[3]))

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Cut the messages out; pass over lines of other loggers."""
        for number, data in values:
            found = _LOGGED.fullmatch(data)
            if found is None or not (_LOGGER in found[1] or found[3][:1] in (b"{", b"[")):
                tally.pass_over()
            else:
                yield Frame(number, found[2] == b"OUT", compact(found[3]), stamp_in(found[1]))
