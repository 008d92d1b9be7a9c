"""Terminals of ACP v1 as terminal updates of v2.

v1 has terminals of two kinds, and in neither does the agent report a terminal as such:

- *The client's.* The agent asks the client to run a command (`terminal/create`), and for its output
  so far (`terminal/output`) or its end (`terminal/wait_for_exit`). What the client answers is what
  is known of the terminal.
- *The agent's own*, an extension that the adapters of Claude Code and Codex share: the `_meta` of a
  tool call has `terminal_info` when the command begins, `terminal_output` (or
  `terminal_output_delta`) with more of its output, and `terminal_exit` when it ends. A terminal
  that they do not name is that of the tool call.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from .. import wire
from .shapes import command_line, given

Fields = dict[str, Any]

_OUTPUT_KEYS: Final = ("terminal_output_delta", "terminal_output")


def _update(terminal_id: Any, **fields: Any) -> Fields:
    known = given(fields)
    return {"sessionUpdate": "terminal_update", "terminalId": terminal_id, **known}


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "surrogatepass")).decode()


def _exit_status(status: Any, code: str = "exitCode") -> Fields | None:
    if not isinstance(status, dict):
        return None
    return given({"exitCode": status.get(code), "signal": status.get("signal")})


# --- The client's terminals ---


def _created(params: Fields, result: Fields) -> Fields:
    command = command_line(params.get("command"), params.get("args"))
    return _update(result.get("terminalId"), command=command, cwd=params.get("cwd"))


def _told_output(params: Fields, result: Fields) -> Fields:
    output = result.get("output")
    data = {"data": _encoded(output)} if isinstance(output, str) else None
    status = _exit_status(result.get("exitStatus"))
    return _update(params.get("terminalId"), output=data, exitStatus=status)


def _exited(params: Fields, result: Fields) -> Fields:
    status = result.get("exitStatus")  # some clients answer as to `terminal/output`
    known = _exit_status(status if isinstance(status, dict) else result)
    return _update(params.get("terminalId"), exitStatus=known)


_BEGINNINGS: Final = (64, 16, 4, 1)
"""Lengths of the beginning by which the place is looked for where truncated output goes on."""


def stitched(known: str, output: str) -> str:
    """Return all output that is known after a poll whose `output` lacks its beginning.

    Where it does not go on with what is known, it is all that there is.
    """
    first = max(len(known) - len(output), 0)
    for length in _BEGINNINGS if output else ():
        place = known.find(output[:length], first)
        while place >= 0:
            if output.startswith(known[place:]):
                return known[:place] + output
            place = known.find(output[:length], place + 1)
    return output


CALLS: Final[dict[str, Callable[[Fields, Fields], Fields]]] = {
    "terminal/create": _created,
    "terminal/output": _told_output,
    "terminal/wait_for_exit": _exited,
}
"""By the agent's request: its parameters and its result to an update of the terminal."""


# --- The agent's own ---

_MARK: Final = b'"terminal_'


def has_terminals(meta: Any) -> bool:
    """Return whether the `_meta` of a tool call may say something of terminals."""
    return isinstance(meta, wire.JsonObject) and _MARK in meta.text


def apart(event: wire.ToolCallUpdate) -> tuple[wire.ToolCallUpdate, list[Fields]]:
    """Return a tool call without the output in its `_meta`, and the updates of its terminals."""
    meta: Any = event.meta
    members = meta.value
    raw = event.raw_input.value if isinstance(event.raw_input, wire.Json) else None
    output = [key for key in _OUTPUT_KEYS if isinstance(members.get(key), dict)][:1]
    found = ((key, members.get(key)) for key in ("terminal_info", *output, "terminal_exit"))
    updates = [
        _META[key](value.get("terminal_id") or event.tool_call_id, value, raw)
        for key, value in found
        if isinstance(value, dict)
    ]
    for key in output:
        del members[key]
    return replace(event, meta=wire.JsonObject(members)), updates


class Output(Struct, frozen=True, gc=False):
    """A piece of a terminal's output."""

    terminal_id: str
    data: str


class _OnlyOutput(Struct, frozen=True, gc=False, forbid_unknown_fields=True):
    """A `_meta` that holds a piece of output and nothing else."""

    terminal_output_delta: Output | UnsetType = UNSET
    terminal_output: Output | UnsetType = UNSET


_decode_only_output: Final = msgspec.json.Decoder(_OnlyOutput).decode


def only_output(meta: msgspec.Raw) -> Output | None:
    """Return the output that a `_meta` holds, if it holds nothing else."""
    if _OUTPUT_MARK not in bytes(meta):
        return None
    try:
        found = _decode_only_output(meta)
    except msgspec.MsgspecError:
        return None
    return found.terminal_output_delta or found.terminal_output or None


_OUTPUT_MARK: Final = b'"terminal_output'


def _info(terminal_id: Any, value: Fields, raw: Any) -> Fields:
    command = command_line(raw.get("command")) if isinstance(raw, dict) else None
    return _update(terminal_id, command=command, cwd=value.get("cwd"))


def _more_output(terminal_id: Any, value: Fields, raw: Any) -> Fields:
    data = value.get("data")
    encoded = _encoded(data) if isinstance(data, str) else data
    update = {"sessionUpdate": "terminal_output_chunk", "terminalId": terminal_id}
    return {**update, "data": encoded}


def _exit(terminal_id: Any, value: Fields, raw: Any) -> Fields:
    return _update(terminal_id, exitStatus=_exit_status(value, "exit_code"))


_META: Final[dict[str, Callable[[Any, Fields, Any], Fields]]] = {
    "terminal_info": _info,
    "terminal_output": _more_output,
    "terminal_output_delta": _more_output,
    "terminal_exit": _exit,
}
