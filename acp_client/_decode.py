"""Bytes of one line to a wire message: the typed path first, then the lenient one.

Nothing raises through here. What the peer got wrong becomes a `Problem`; the ladder is

1. `decode_update`, the typed msgspec decoder for a whole `session/update` line, which is nearly
   every line of a session;
2. the line as parsed JSON, its JSON-RPC shape checked here, and its parameters converted by
   msgspec when they are well-formed;
3. the lenient path for parameters that are not, or that hold an unknown variant.

`decode` is the public form for one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, TypeVar

import attrs
import msgspec

from . import wire
from ._errors import Problem, ProblemKind
from ._json import (
    LARGEST_INTEGER,
    RECURSIVE_DEPTH,
    Json,
    NotJson,
    TooDeep,
    nests_deeper,
    parse,
    text_bytes,
    trim,
)

if TYPE_CHECKING:
    from ._lenient_scalars import Finding, Malformed

T = TypeVar("T")
Report = Callable[[Problem], object]


def ignored(problem: Problem) -> None:
    """Leave alone what is wrong in the client's own lines: a problem is the peer's."""


def within(report: Report, place: int) -> Report:
    """Report problems of one message of a batch array."""

    def report_within(problem: Problem) -> None:
        report(attrs.evolve(problem, path=f"$[{place}]{problem.path[1:]}"))

    return report_within


Refused: Final = (msgspec.MsgspecError, RecursionError, UnicodeError, TooDeep)
"""What the typed decoder raises for a line that it does not take."""


def _typed_hook(kind: Any, value: Any) -> Any:
    hook = _TYPED_HOOKS[kind]
    return hook(value)


def _raw_object(value: Any) -> wire.JsonObject:
    if isinstance(value, dict):
        return wire.JsonObject(value)
    raise msgspec.ValidationError("Expected `object`")


def _resource_contents(value: Any) -> Any:
    try:
        return convert(value, wire.TextResourceContents)
    except msgspec.ValidationError:
        return convert(value, wire.BlobResourceContents)


def _select_options(value: Any) -> Any:
    if not value:
        raise msgspec.ValidationError("Expected at least one option")
    try:
        items = convert(value, tuple[wire.SessionConfigSelectOption, ...])
    except msgspec.ValidationError:
        items = convert(value, tuple[wire.SessionConfigSelectGroup, ...])
    return wire.SessionConfigSelectOptions(items)


def _multi_select_items(value: Any) -> Any:
    if isinstance(value, dict) and "type" in value:
        return convert(value, wire.StringMultiSelectItems)
    return convert(value, wire.TitledMultiSelectItems)


def _requested_schema(value: Any) -> wire.RequestedSchema:
    convert(value, wire.ElicitationSchema)
    return wire.RequestedSchema(value)


def _never(_: Any) -> Any:
    raise msgspec.ValidationError("Expected no such key")


_TYPED_HOOKS: Final[dict[Any, Callable[[Any], Any]]] = {
    Json: Json,
    wire.JsonObject: _raw_object,
    wire.EmbeddedResourceResource: _resource_contents,
    wire.SessionConfigSelectOptions: _select_options,
    wire.MultiSelectItems: _multi_select_items,
    wire.RequestedSchema: _requested_schema,
    wire.NeverPresent: _never,
}


@cache
def _typed_decoder() -> Callable[[bytes], wire.UpdateMessage]:
    # Building it takes as long as importing a third of the package, so it waits for a first line.
    return msgspec.json.Decoder(wire.UpdateMessage, dec_hook=_typed_hook).decode


def decode_update(line: bytes) -> wire.UpdateMessage:
    """Decode a line strictly as a whole `session/update`. Raises one of `Refused`."""
    if len(line) > RECURSIVE_DEPTH and nests_deeper(line):
        raise TooDeep  # msgspec does not look at the nesting of what it skips
    return _typed_decoder()(line)


def convert(value: Any, kind: Any) -> Any:
    """Make a wire object of parsed JSON, strictly. Raises `msgspec.ValidationError`."""
    return msgspec.convert(value, kind, dec_hook=_typed_hook)


def decode_unknown(line: bytes) -> tuple[str, wire.Unknown] | None:
    """Decode a line that holds a session update of a variant that is not known, and nothing else.

    Returns the session and the update. All that there is to such an update is its tag, so agents
    that stream updates of their own are spared the lenient path, which gives the same.
    """
    if len(line) > RECURSIVE_DEPTH and nests_deeper(line):
        return None
    try:
        params = _unknown_decoder()(line).params
    except Refused:
        return None
    update = _unknown(params.update)
    return None if update is None else (params.sessionId, update)


def decode_unknown_part(line: bytes, start: int, stop: int) -> wire.Unknown | None:
    """Decode the part of a line that is an update of a variant that is not known."""
    if len(line) > RECURSIVE_DEPTH and nests_deeper(line):
        return None
    try:
        return _unknown(_decode_object(line[start:stop]))
    except Refused:
        return None


def _unknown(update: dict[str, Any]) -> wire.Unknown | None:
    tag = update.get("sessionUpdate")
    return wire.Unknown(update) if type(tag) is str and tag not in _KNOWN_TAGS else None


_KNOWN_TAGS: Final = frozenset({*wire.UPDATE_TAGS, "tool_call", "plan", "current_mode_update"})
"""Those of v2, and those of v1: what comes in the wrong version is a problem for the slow path."""


def raw_update(line: bytes) -> bytes:
    """Return the update of a line that `decode_unknown` takes, as it stands there."""
    return bytes(msgspec.json.decode(line, type=_Message[msgspec.Raw]).params.update)


_decode_object: Final = msgspec.json.Decoder(dict[str, Any]).decode


@cache
def _unknown_decoder() -> Callable[[bytes], _Message[dict[str, Any]]]:
    return msgspec.json.Decoder(_Message[dict[str, Any]]).decode


class _Parameters(msgspec.Struct, Generic[T], gc=False, forbid_unknown_fields=True):
    sessionId: str  # noqa: N815  # the key
    update: T


class _Message(msgspec.Struct, Generic[T], gc=False, forbid_unknown_fields=True):
    jsonrpc: Literal["2.0"]
    method: Literal["session/update"]
    params: _Parameters[T]


def decode(
    line: bytes | str, *, sent: bool = False
) -> tuple[wire.Message | None, tuple[Problem, ...]]:
    """Decode one line without its end of line: of the agent's, or one that the client `sent`.

    Returns the message, or `None` where there is none that can be used, and the problems found
    (their `line` is 1). The parameters of a `session/update` hold an event:
    `apply(snapshot, message.params.update)`. A batch array becomes a `wire.Batch`. Parameters of
    methods that a store does not follow are `wire.Json`.
    """
    problems: list[Problem] = []
    data = text_bytes(line)
    return decode_line(data, 1, problems.append, sent=sent), tuple(problems)


def decode_line(
    data: bytes,
    number: int,
    report: Report,
    *,
    sent: bool = False,
    unterminated: bool = False,
) -> wire.Message | None:
    """Decode line `number`; `unterminated` says that the input ended inside it."""
    if not unterminated and _seems_unknown(data):
        unknown = decode_unknown(data)
        if unknown is not None:
            return wire.Notification("session/update", wire.UpdateSessionNotification(*unknown))
    try:
        params = decode_update(data).params
    except Refused:
        return decode_refused(data, number, report, sent=sent, unterminated=unterminated)
    if isinstance(params.update, wire.StateUpdate):  # it may hold keys of another state yet
        params = msgspec.structs.replace(params, update=params.update.normalized())
    return wire.Notification("session/update", params)


def _seems_unknown(data: bytes) -> bool:
    """Tell whether the first tag is one that nobody knows: to try it as another costs a refusal."""
    place = data.find(TAG_KEY)
    start = data.find(b'"', place + len(TAG_KEY)) + 1
    return place >= 0 and data[start : data.find(b'"', start)] not in _TAGS


TAG_KEY: Final = b'"sessionUpdate":'
_TAGS: Final = frozenset(tag.encode() for tag in wire.UPDATE_TAGS)


def decode_refused(
    data: bytes,
    number: int,
    report: Report,
    *,
    sent: bool = False,
    unterminated: bool = False,
) -> wire.Message | None:
    """Decode a line that `decode_update` has refused already."""
    return LineReader(number, report, _SENT if sent else _RECEIVED).read(data, unterminated)


def decode_result(kind: type[T], result: Json, number: int, report: Report) -> T | None:
    """Decode the result of a request, which must be a `kind`; `None` if it is malformed."""
    return LineReader(number, report, _RECEIVED).structure(result.value, kind, "$.result")


def form_schema(request: wire.ElicitationFormMode) -> wire.ElicitationSchema:
    """Return the schema of a form; what is malformed in it and can be left out is left out."""
    structure, _ = lenient_path()
    return structure(request.requested_schema.value, wire.ElicitationSchema)[0]


@cache
def lenient_path() -> tuple[Callable[[Any, type[T]], tuple[T, list[Finding]]], type[Malformed]]:
    """Return what structures a value leniently, and what that raises."""
    # cattrs costs more than the rest of the package to import, and an agent that makes no
    # mistakes never needs it.
    from ._lenient import structure
    from ._lenient_scalars import Malformed

    return structure, Malformed


class LineReader:
    """Reads what the typed decoder refused of one line, and reports what is wrong in it."""

    def __init__(self, number: int, report: Report, followed: Mapping[str, Any]) -> None:
        self._number = number
        self._report = report
        self._followed = followed

    def read(self, data: bytes, unterminated: bool) -> wire.Message | None:
        try:
            value = parse(data)
        except NotJson as error:
            if trim(data.decode("utf-8", "replace")):
                self._problem("truncated" if unterminated else "not_json", "$", str(error))
            return None
        except TooDeep as error:
            self._problem("too_deep", "$", str(error))
            return None
        return self._batch(value) if isinstance(value, list) else self._message(value, "$")

    def structure(self, value: Any, kind: type[T], path: str) -> T | None:
        """Convert strictly or else leniently; `None` and a problem when neither is possible."""
        try:
            return convert(value, kind)  # type: ignore[no-any-return]  # it returns a `kind`
        except Refused:
            return self._structure_leniently(value, kind, path)

    def _structure_leniently(self, value: Any, kind: type[T], path: str) -> T | None:
        structure, malformed_error = lenient_path()
        try:
            result, findings = structure(value, kind)
        except malformed_error as malformed:
            self._rejected(malformed, path)
            return None
        for finding in findings:
            self._found(finding, path)
        return result

    def _rejected(self, malformed: Malformed, path: str) -> None:
        self._problem("rejected", _join(path, malformed.path), malformed.reason)

    def _found(self, finding: Finding, path: str) -> None:
        self._problem(finding.kind, _join(path, finding.path), finding.reason)

    def _problem(self, kind: ProblemKind, path: str, message: str) -> None:
        self._report(Problem(self._number, kind, path, message))

    def _invalid(self, path: str, message: str) -> None:
        self._problem("invalid_message", path, message)

    def _batch(self, values: list[Any]) -> wire.Batch:
        read = [self._message(value, f"$[{index}]") for index, value in enumerate(values)]
        found = {index: message for index, message in enumerate(read) if message is not None}
        batch = wire.Batch(found.values())
        batch.places = tuple(found)
        return batch

    def _message(self, value: Any, path: str) -> Any:
        """Check the JSON-RPC shape, then read the message by its kind."""
        if not isinstance(value, dict):
            return self._invalid(path, "is not object")
        if "id" in value and _request_id(value["id"]) is None and not _is_error_without_id(value):
            return self._invalid(f"{path}.id", "is neither string nor integer")
        if "method" not in value:
            return self._answer(value, path)
        if value.get("jsonrpc") != "2.0":
            return self._invalid(f"{path}.jsonrpc", 'is not "2.0"')
        return self._call(value, path)

    def _call(self, value: dict[str, Any], path: str) -> Any:
        method = value["method"]
        if not isinstance(method, str):
            return self._invalid(f"{path}.method", "is not string")
        is_request = "id" in value
        kind = self._followed.get(method)
        params = self._params(
            kind if (method in _NOTIFICATIONS) != is_request else None, value, path
        )
        if params is _MALFORMED:
            if self._followed is not _SENT:
                return None
            params = Json(value.get("params"))  # the request is on its way, and its id is taken
        if is_request:
            request_id: Any = _request_id(value["id"])
            return wire.Request(request_id, method, params)
        return wire.Notification(method, params)

    def _params(self, kind: Any, value: dict[str, Any], path: str) -> Any:
        if kind is None:
            return Json(value["params"]) if "params" in value else None
        if "params" not in value:
            self._problem("rejected", f"{path}.params", "is missing")
            return _MALFORMED
        if kind is wire.UpdateSessionNotification:  # the typed decoder has refused it already
            params = self._structure_leniently(value["params"], kind, f"{path}.params")
        else:
            params = self.structure(value["params"], kind, f"{path}.params")
        return _MALFORMED if params is None else params

    def _answer(
        self, value: dict[str, Any], path: str
    ) -> wire.Response | wire.UnidentifiedError | None:
        if "id" not in value:
            self._invalid(path, "has neither method nor id")
            return None
        request_id: Any = _request_id(value["id"])
        error = self._error(value, path)
        fault = _fault_of_answer(value, error)
        if fault is not None:
            self._invalid(path + fault[0], fault[1])
            return None if request_id is None else wire.Response(request_id)
        if request_id is None:
            return wire.UnidentifiedError(error)
        result = Json(value["result"]) if "result" in value else None
        return wire.Response(request_id, result, error)

    def _error(self, value: dict[str, Any], path: str) -> Any:
        if "error" not in value:
            return None
        reader = LineReader(self._number, lambda problem: None, {})
        error = reader.structure(value["error"], wire.Error, f"{path}.error")
        return _MALFORMED if error is None else error


_MALFORMED: Final[Any] = object()
"""Parameters or an error that cannot be used; the problem is reported already."""

_RECEIVED: Final[Mapping[str, Any]] = {
    "session/update": wire.UpdateSessionNotification,
    "session/request_permission": wire.RequestPermissionRequest,
    "elicitation/create": wire.CreateElicitationRequest,
    "elicitation/complete": wire.CompleteElicitationNotification,
    "$/cancel_request": wire.CancelRequestNotification,
}
"""What a store follows of the agent's calls, and the class of the parameters."""

_SENT: Final[Mapping[str, Any]] = {
    "session/prompt": wire.SentPromptRequest,
    "session/cancel": wire.CancelSessionNotification,
    "session/resume": wire.ResumeSessionRequest,
    "session/set_config_option": wire.SetSessionConfigOptionRequest,
    "session/list": wire.ListSessionsRequest,
    "session/close": wire.CloseSessionRequest,
    "session/delete": wire.DeleteSessionRequest,
    "tool_call/cancel": wire.CancelToolCallRequest,
    "terminal/cancel": wire.CancelTerminalRequest,
    "auth/login": wire.LoginAuthRequest,
}
"""What a store follows of the client's calls."""

_NOTIFICATIONS: Final = frozenset(
    {"session/update", "session/cancel", "elicitation/complete", "$/cancel_request"}
)
"""The followed calls that are notifications; the others are requests."""


def _is_error_without_id(value: dict[str, Any]) -> bool:
    """Tell whether the peer says that it could not read something (JSON-RPC 2.0, section 5)."""
    return value["id"] is None and "error" in value and "method" not in value


def _fault_of_answer(value: dict[str, Any], error: Any) -> tuple[str, str] | None:
    """Return where an answer is wrong, and why, if it is."""
    if value.get("jsonrpc") != "2.0":
        return ".jsonrpc", 'is not "2.0"'
    if ("result" in value) == ("error" in value):
        return "", "is not an answer with either a result or an error"
    return (".error", "is not an error with code and message") if error is _MALFORMED else None


def _request_id(value: Any) -> wire.RequestId | None:
    """Return the id as JSON-RPC compares it (`1.0` is `1`), or `None` for what is no id."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) <= LARGEST_INTEGER else None
    return int(value) if isinstance(value, float) and value.is_integer() else None


def _join(path: str, inner: list[str]) -> str:
    return ".".join([path, *reversed(inner)]).replace(".[", "[")
