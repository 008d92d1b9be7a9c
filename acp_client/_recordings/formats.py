"""The table of recorded formats.

To add a format, write its row (and, if it is like no other, its class) and a small recording of
it among the tests. Rows go from the specific to the general: the first that recognises a value
decides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import attrs

from .directions import Directions
from .emdash import Callbacks
from .frames import Format, Frame, Tally, Value
from .json_slices import Members, NotJson, elements, members_if_any
from .marked import AnyMarked, Marked, enveloped
from .rewritten import KNOWN_BY, CopiedLog, HopTrace, TransportLog, Unframed, is_message
from .times import MILLISECONDS

_UPDATE: Final = b'{"jsonrpc":"2.0","method":"session/update"'


@attrs.frozen
class RawMessages:
    """JSON-RPC messages as they went over the pipe; who wrote each is inferred."""

    name: str
    head: str | None = None

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take a message, or a batch that begins with one."""
        return is_message(found if found else _first_of_batch(data))

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Pass every value on, also what is no JSON."""
        sent = Directions().sent
        for number, data in values:
            yield Frame(number, not data.startswith(_UPDATE) and sent(data), data)


def _first_of_batch(data: bytes) -> Members:
    try:
        batch = elements(data)
    except NotJson:
        return {}
    return members_if_any(bytes(batch[0])) if batch else {}


RAW: Final = RawMessages("ndjson")
"""Lines only."""

JSON_TEXTS: Final = Unframed("json", KNOWN_BY["json"])
"""Messages that are not one a line."""

FORMATS: Final[tuple[Format, ...]] = (
    Marked(
        "envelope",
        direction="dir",
        message="message",
        time="ts",
        unit=MILLISECONDS,
        take=enveloped,
        certain=True,
    ),
    Marked("crucible", direction="dir", message="frame", time="t_ms", unit=MILLISECONDS),
    Marked("acp-devtools", direction="direction", message="raw", time="timestamp"),
    Marked("acp-inspector", direction="direction", message="json", time="ts"),
    Marked("direction-frame", direction="direction", message="frame", time="ts"),
    Marked("dir-line", direction="dir", message="line", time="ts"),
    Marked("dir-raw", direction="dir", message="raw", time="t"),
    CopiedLog("zed"),
    HopTrace("conductor"),
    Callbacks("emdash"),
    TransportLog("jetbrains"),
    Unframed("notifications", KNOWN_BY["notifications"]),
    Unframed("updates", KNOWN_BY["updates"]),
    RAW,
    JSON_TEXTS,
    AnyMarked("marked"),
)
