"""Transcripts of callbacks, as emdash keeps them: one document, no JSON-RPC in it.

Each callback stands for the messages that made it happen: a prompt for a request, its result for
the response, a permission for a request of the agent and the client's answer. Ids are made up:
numbers for the client's requests, strings for the agent's. What a callback does not hold (the
text of a file that was read) is left out, never invented.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Final

import attrs

from .._json import NotJson
from .frames import Frame, Tally, Value
from .json_slices import Members, members, quoted, string
from .messages import SESSION, message, text_of, update_notification
from .times import MILLISECONDS, seconds

Written = tuple[bool, bytes]
"""Whether the client wrote a message, and the message."""


def _object(**parts: bytes | None) -> bytes:
    """Put an object together from the texts of its members; None leaves one out."""
    inner = (b'"%s":%s' % (key.encode(), text) for key, text in parts.items() if text is not None)
    return b"{" + b",".join(inner) + b"}"


def _pick(event: Members, *keys: str) -> dict[str, bytes]:
    return {key: bytes(event[key]) for key in keys if key in event}


@attrs.frozen
class Callbacks:
    """A transcript: `meta`, and a list of events that each hold one callback."""

    def recognises(self, data: bytes, found: Members) -> bool:
        """Take an entry whose event is of a kind of callback."""
        try:
            return string(bytes(_event(found)["kind"])) in _CALLBACKS
        except (NotJson, KeyError):
            return False

    def frames(self, values: Iterable[Value], tally: Tally) -> Iterator[Frame]:
        """Return the messages that each callback stands for."""
        transcript = _Transcript()
        for number, data in values:
            try:
                entry = members(data)
                made = transcript.messages(entry if number == 0 else _event(entry), number == 0)
            except (NotJson, KeyError):
                tally.pass_over()
                continue
            time = seconds(bytes(entry["ts"]), MILLISECONDS) if "ts" in entry else None
            yield from (Frame(number, sent, text, time) for sent, text in made)


def _event(entry: Members) -> Members:
    return members(bytes(entry["event"]))


class _Transcript:
    """What earlier callbacks of a transcript say about later ones."""

    def __init__(self) -> None:
        self.session = SESSION
        self._requests = 0
        self._prompts: dict[bytes, deque[bytes]] = {}  # ids of the open ones by session
        self._output: dict[bytes, list[str]] = {}  # by terminal

    def messages(self, event: Members, is_head: bool) -> list[Written]:
        """Return the messages that a callback stands for; KeyError if it lacks what they need."""
        session = text_of(event, "sessionId")
        self.session = session or self.session
        if is_head:
            return self.created(event) if session else []
        return _CALLBACKS[string(bytes(event["kind"]))](self, event)

    def created(self, meta: Members) -> list[Written]:
        """Return how the session began, from the head."""
        modes = text_of(meta, "initialModes") or b""
        result = _object(
            sessionId=self.session,
            modes=modes if modes.startswith(b"{") else None,
            configOptions=text_of(meta, "initialConfigOptions"),
        )
        params = _object(cwd=text_of(meta, "cwd"), mcpServers=b"[]")
        made = self._asked("session/new", params, result)
        if commands := text_of(meta, "initialAvailableCommands"):
            kind = b'"available_commands_update"'
            text = _object(sessionUpdate=kind, availableCommands=commands)
            made.append((False, update_notification(self.session, text)))
        return made

    def prompt(self, event: Members) -> list[Written]:
        """Return what says that the client sent a prompt."""
        request = self._request_id()
        self._prompts.setdefault(self.session, deque()).append(request)
        params = _object(sessionId=self.session, prompt=bytes(event["content"]))
        return [(True, message(id=request, method=b'"session/prompt"', params=params))]

    def prompt_result(self, event: Members) -> list[Written]:
        """Return what says that the agent answered the oldest open prompt."""
        open_prompts = self._prompts.get(self.session)
        if not open_prompts:
            raise KeyError("prompt")
        result = _object(**_pick(event, "stopReason"))
        return [(False, message(id=open_prompts.popleft(), result=result))]

    def session_update(self, event: Members) -> list[Written]:
        """Return what says that the agent sent an update."""
        return [(False, update_notification(self.session, bytes(event["update"])))]

    def permission_request(self, event: Members) -> list[Written]:
        """Return what says that the agent asked, and the client chose an option or none."""
        params = bytes(event["request"])
        if "sessionId" not in members(params):
            params = b'{"sessionId":%s,%s' % (self.session, params.strip()[1:])
        chosen = text_of(event, "resolvedOptionId")
        outcome = (
            _object(outcome=b'"selected"', optionId=chosen)
            if chosen
            else _object(outcome=b'"cancelled"')
        )
        return self._answered("session/request_permission", params, _object(outcome=outcome))

    def file(self, event: Members) -> list[Written]:
        """Return what says that the agent read or wrote a file, though not what it holds."""
        write = string(bytes(event["kind"])) == "fs_write"
        method = b'"fs/write_text_file"' if write else b'"fs/read_text_file"'
        params = _object(sessionId=self.session, path=bytes(event["path"]))
        return [(False, message(id=self._agent_id(), method=method, params=params))]

    def terminal_created(self, event: Members) -> list[Written]:
        """Return what says that the agent started a command in a terminal of the client."""
        params = _object(sessionId=self.session, **_pick(event, "command", "args", "cwd"))
        return self._answered("terminal/create", params, _object(**_pick(event, "terminalId")))

    def terminal_output(self, event: Members) -> list[Written]:
        """Keep a piece of output; the protocol has it whole, so it waits for the end."""
        output = self._output.setdefault(bytes(event["terminalId"]), [])
        output.append(string(bytes(event["chunk"])))
        return []

    def terminal_exit(self, event: Members) -> list[Written]:
        """Return what says that the command ended."""
        status = _object(**_pick(event, "exitCode", "signal"))
        params = self._terminal(event)
        return [
            *self._answered("terminal/wait_for_exit", params, status),
            *self._whole_output(event, status),
        ]

    def terminal_released(self, event: Members) -> list[Written]:
        """Return what says that the agent let a terminal go."""
        released = self._answered("terminal/release", self._terminal(event), b"{}")
        return [*self._whole_output(event, None), *released]

    def config_option_set(self, event: Members) -> list[Written]:
        """Return what says that the client chose a value of an option."""
        params = _object(sessionId=self.session, **_pick(event, "configId", "value"))
        result = _object(configOptions=text_of(event, "responseConfigOptions"))
        return self._asked("session/set_config_option", params, result)

    def mode_set(self, event: Members) -> list[Written]:
        """Return what says that the client chose a mode."""
        params = _object(sessionId=self.session, modeId=bytes(event["modeId"]))
        return self._asked("session/set_mode", params, b"{}")

    def _whole_output(self, event: Members, status: bytes | None) -> list[Written]:
        pieces = self._output.pop(bytes(event["terminalId"]), None)
        if pieces is None:
            return []
        output = _object(output=quoted("".join(pieces)), truncated=b"false", exitStatus=status)
        return self._answered("terminal/output", self._terminal(event), output)

    def _terminal(self, event: Members) -> bytes:
        return _object(sessionId=self.session, terminalId=bytes(event["terminalId"]))

    def _asked(self, method: str, params: bytes, result: bytes) -> list[Written]:
        """Make a request of the client, and the agent's answer."""
        request = self._request_id()
        call = message(id=request, method=quoted(method), params=params)
        return [(True, call), (False, message(id=request, result=result))]

    def _answered(self, method: str, params: bytes, result: bytes) -> list[Written]:
        """Make a request of the agent, and the client's answer."""
        request = self._agent_id()
        call = message(id=request, method=quoted(method), params=params)
        return [(False, call), (True, message(id=request, result=result))]

    def _request_id(self) -> bytes:
        self._requests += 1
        return b"%d" % self._requests

    def _agent_id(self) -> bytes:
        return b'"agent-%s"' % self._request_id()


_CALLBACKS: Final[dict[str, Callable[[_Transcript, Members], list[Written]]]] = {
    "config_option_set": _Transcript.config_option_set,
    "fs_read": _Transcript.file,
    "fs_write": _Transcript.file,
    "mode_set": _Transcript.mode_set,
    "permission_request": _Transcript.permission_request,
    "prompt": _Transcript.prompt,
    "prompt_result": _Transcript.prompt_result,
    "session_update": _Transcript.session_update,
    "terminal_created": _Transcript.terminal_created,
    "terminal_exit": _Transcript.terminal_exit,
    "terminal_output": _Transcript.terminal_output,
    "terminal_released": _Transcript.terminal_released,
}
"""The kinds of callbacks."""
