"""Calls of a client or an agent of the official SDKs, as their tests print them.

A call is the name of a method of the SDK and its arguments: `{"method": "sessionUpdate",
"args": [{…}]}`. It is put back into the message that made it happen. Ids of requests are made up;
an answer is there only if the dump has the result beside the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import attrs
import msgspec

from .._json import NotJson
from .directions import method_sent
from .frames import Frame, Tally, Value
from .json_slices import Members, elements, members, members_if_any, quoted, string
from .messages import message
from .times import seconds

_REQUESTS: Final = {
    "authenticate": "authenticate",
    "createterminal": "terminal/create",
    "initialize": "initialize",
    "killterminal": "terminal/kill",
    "killterminalcommand": "terminal/kill",
    "listsessions": "session/list",
    "loadsession": "session/load",
    "newsession": "session/new",
    "prompt": "session/prompt",
    "readtextfile": "fs/read_text_file",
    "releaseterminal": "terminal/release",
    "requestpermission": "session/request_permission",
    "resumesession": "session/resume",
    "setsessionconfigoption": "session/set_config_option",
    "setsessionmode": "session/set_mode",
    "setsessionmodel": "session/set_model",
    "terminaloutput": "terminal/output",
    "waitforterminalexit": "terminal/wait_for_exit",
    "writetextfile": "fs/write_text_file",
}
_NOTIFICATIONS: Final = {"cancel": "session/cancel", "sessionupdate": "session/update"}
_CALLS: Final = _REQUESTS | _NOTIFICATIONS
"""Methods of the SDKs, in lower case and without underscores, and those of the protocol."""

_RESULTS: Final = ("result", "returned", "response")
_NOTHING: Final = msgspec.Raw(b"null")


@attrs.frozen
class SdkCalls:
    """Calls with their arguments."""

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take a call of a method of the SDKs with a list of arguments."""
        try:
            return _method(found) is not None and bool(_arguments(found))
        except (NotJson, KeyError):
            return False

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Make the message of each call; pass over other calls."""
        for number, data in values:
            found = members_if_any(data)
            try:
                made = _messages(found, number)
            except (NotJson, KeyError):
                tally.pass_over()
                continue
            time = seconds(bytes(found.get("timestamp", _NOTHING)), None)
            yield from (Frame(number, sent, text, time) for sent, text in made)


def _messages(call: Members, number: int) -> list[tuple[bool, bytes]]:
    method = _method(call)
    if method is None:
        raise KeyError("method")
    sent = bool(method_sent(method))
    name, params = quoted(method), bytes(_arguments(call)[0])
    if method in _NOTIFICATIONS.values():
        return [(sent, message(method=name, params=params))]
    request = b'"call-%d"' % number
    made = [(sent, message(id=request, method=name, params=params))]
    if result := next((bytes(call[key]) for key in _RESULTS if key in call), None):
        made.append((not sent, message(id=request, result=result)))
    return made


def _method(call: Members) -> str | None:
    name = string(bytes(call["method"]))
    return _CALLS.get(name.replace("_", "").lower())


def _arguments(call: Members) -> list[msgspec.Raw]:
    """Return the arguments, the first of which are the parameters of the message."""
    found = elements(bytes(call["args"]))
    if not found:
        raise KeyError("args")
    members(bytes(found[0]))
    return found
