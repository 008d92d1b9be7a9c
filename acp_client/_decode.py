"""Decode the bytes of one line to a wire message: the ladder of decoders.

Nothing here raises because of the peer: its mistakes become `Problem`s. The rungs are

1. the typed decoder for a whole `session/update` line, which is nearly every line of a session, or
   the one for updates of unknown variants, whichever the line before suggests (`read_update`);
2. the line as parsed JSON, its shape checked (`_jsonrpc`), and its parameters converted strictly
   where they are well-formed;
3. the lenient path (`_lenient`) for parameters that are not, or that hold an unknown variant.

`decode` is the public form for one line.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import attrs

from . import wire
from ._errors import Problem, ProblemKind
from ._json import Json, NotJson, TooDeep, parse, text_bytes, trim
from ._jsonrpc import (
    fault_of_answer,
    fault_of_message,
    params_class,
    request_id,
    result_class,
)
from ._typed import KNOWN_TAGS, Refused, UnknownUpdate, convert, decode_unknown, decode_update

if TYPE_CHECKING:
    from ._lenient_scalars import Finding, Malformed

T = TypeVar("T")
Report: TypeAlias = Callable[[Problem], object]


def ignored(problem: Problem) -> None:
    """Ignore a problem in one of the client's own lines: only the agent's are recorded."""


def within(report: Report, place: int) -> Report:
    """Return a report for one message of a batch array, which adds its place to the path."""

    def report_within(problem: Problem) -> None:
        report(attrs.evolve(problem, path=f"$[{place}]{problem.path[1:]}"))

    return report_within


# --- Whole lines ---


def decode(
    line: bytes | str, *, sent: bool = False
) -> tuple[wire.Message | None, tuple[Problem, ...]]:
    """Decode one line without its line ending, from the agent, or from the client if it is `sent`.

    Returns the message, or `None` if the line has no usable one, and the problems found (their
    `line` is 1). The parameters of a `session/update` hold an event:
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
    params = read_update(data, unknown_first=_seems_unknown(data))
    if params is None:
        return decode_refused(data, number, report, sent=sent, unterminated=unterminated)
    if isinstance(params, UnknownUpdate):
        params = wire.UpdateSessionNotification(params.session_id, params.update)
    return wire.Notification("session/update", params)


def read_update(
    line: bytes, *, unknown_first: bool
) -> wire.UpdateSessionNotification | UnknownUpdate | None:
    """Decode a line that is a well-formed session update; return `None` for any other.

    `unknown_first` says that the update is probably of an unknown variant: a refusal by the typed
    decoder costs as much as decoding it (benchmark "unknown").
    """
    unknown = _read_unknown(line) if unknown_first else None
    if unknown is not None:
        return unknown
    try:
        return decode_update(line).params
    except Refused:
        return _read_unknown(line) if not unknown_first and _seems_unknown(line) else None


def _read_unknown(line: bytes) -> UnknownUpdate | None:
    try:
        return decode_unknown(line)
    except Refused:
        return None


def _seems_unknown(line: bytes) -> bool:
    """Return whether the first tag of a line is unknown."""
    place = line.find(_TAG_KEY)
    start = line.find(b'"', place + len(_TAG_KEY)) + 1
    return place >= 0 and line[start : line.find(b'"', start)] not in _TAGS


_TAG_KEY: Final = b'"sessionUpdate":'
_TAGS: Final = frozenset(tag.encode() for tag in KNOWN_TAGS)


def decode_refused(
    data: bytes,
    number: int,
    report: Report,
    *,
    sent: bool = False,
    unterminated: bool = False,
) -> wire.Message | None:
    """Decode a line that `read_update` has refused already."""
    reader = PartReader(number, report)
    value = reader.json(data, unterminated=unterminated)
    read = _read_sent if sent else _read_received
    return None if value is NOTHING else each_message(value, reader, read)


def each_message(value: Any, reader: PartReader, read: ReadMessage) -> Any:
    """Read the JSON value of a line: a message, or a batch of them."""
    if not isinstance(value, list):
        return read(value, "$", reader)
    messages = [read(item, f"$[{index}]", reader) for index, item in enumerate(value)]
    found = {place: message for place, message in enumerate(messages) if message is not None}
    batch = wire.Batch(found.values())
    batch.places = tuple(found)
    return batch


ReadMessage: TypeAlias = "Callable[[Any, str, PartReader], Any]"
"""Reads a JSON value at a path as a message; returns `None` if it cannot be used."""


# --- Messages ---


def read_message(value: Any, path: str, reader: PartReader, read_params: ReadParams) -> Any:
    """Check the shape of a message and read its parameters; return `None` if it is malformed."""
    fault = fault_of_message(value)
    if fault is not None:
        reader.problem("invalid_message", path + fault.path, fault.reason)
        return None
    if "method" not in value:
        return _answer(value, path, reader)
    params = read_params(value, path, reader)
    if params is NOTHING:
        return None
    method = value["method"]
    if "id" not in value:
        return wire.Notification(method, params)
    found_id: Any = request_id(value["id"])
    return wire.Request(found_id, method, params)


ReadParams: TypeAlias = "Callable[[dict[str, Any], str, PartReader], Any]"
"""Reads the parameters of a well-formed call; returns `NOTHING` if they cannot be used."""


def _read_received(value: Any, path: str, reader: PartReader) -> Any:
    return read_message(value, path, reader, _received_params)


def _read_sent(value: Any, path: str, reader: PartReader) -> Any:
    return read_message(value, path, reader, _sent_params)


def _received_params(value: dict[str, Any], path: str, reader: PartReader) -> Any:
    kind = params_class(value["method"], sent=False, is_request="id" in value)
    return _typed_params(kind, value, path, reader)


def _sent_params(value: dict[str, Any], path: str, reader: PartReader) -> Any:
    """Read parameters that the client sent; malformed ones stay raw: the request was sent."""
    kind = params_class(value["method"], sent=True, is_request="id" in value)
    params = _typed_params(kind, value, path, reader)
    return Json(value.get("params")) if params is NOTHING else params


def _typed_params(kind: Any, value: dict[str, Any], path: str, reader: PartReader) -> Any:
    if kind is None:
        return Json(value["params"]) if "params" in value else None
    if "params" not in value:
        reader.problem("rejected", f"{path}.params", "is missing")
        return NOTHING
    if kind is wire.UpdateSessionNotification:  # the typed decoder has refused it already
        params = reader.structure_leniently(value["params"], kind, f"{path}.params")
    else:
        params = reader.structure(value["params"], kind, f"{path}.params")
    return NOTHING if params is None else params


def _answer(
    value: dict[str, Any], path: str, reader: PartReader
) -> wire.Response | wire.UnidentifiedError | None:
    found_id = request_id(value["id"])
    error = (
        PartReader(0, ignored).structure(value["error"], wire.Error) if "error" in value else None
    )
    fault = fault_of_answer(value, error)
    if fault is not None:
        reader.problem("invalid_message", path + fault.path, fault.reason)
        return None if found_id is None else wire.Response(found_id)
    if found_id is None:
        return wire.UnidentifiedError(error)  # type: ignore[arg-type]  # without an id it has one
    result = Json(value["result"]) if "result" in value else None
    return wire.Response(found_id, result, error)


# --- Parts of messages ---

NOTHING: Final[Any] = object()
"""Stands for a value that cannot be used; its problem has been reported."""


class PartReader:
    """Reads the parts of one line, and reports the problems in them."""

    def __init__(self, number: int, report: Report) -> None:
        self.number = number
        self.report = report

    def problem(self, kind: ProblemKind, path: str, message: str) -> None:
        """Report a problem at a path."""
        self.report(Problem(self.number, kind, path, message))

    def json(self, data: bytes, *, unterminated: bool = False) -> Any:
        """Parse a whole line; `NOTHING` if it is not JSON."""
        try:
            return parse(data)
        except NotJson as error:
            if trim(data.decode("utf-8", "replace")):
                self.problem("truncated" if unterminated else "not_json", "$", str(error))
        except TooDeep as error:
            self.problem("too_deep", "$", str(error))
        return NOTHING

    def structure(self, value: Any, kind: type[T], path: str = "$") -> T | None:
        """Convert strictly or else leniently; `None` and a problem when neither is possible."""
        try:
            return convert(value, kind)  # type: ignore[no-any-return]  # it returns a `kind`
        except Refused:
            return self.structure_leniently(value, kind, path)

    def structure_leniently(self, value: Any, kind: type[T], path: str = "$") -> T | None:
        """Convert leniently; `None` and a problem when that is not possible."""
        structure, malformed_error = lenient_path()
        try:
            result, findings = structure(value, kind)
        except malformed_error as malformed:
            self.problem("rejected", _join(path, malformed.path), malformed.reason)
            return None
        for finding in findings:
            self.problem(finding.kind, _join(path, finding.path), finding.reason)
        return result


def _join(path: str, inner: list[str]) -> str:
    return ".".join([path, *reversed(inner)]).replace(".[", "[")


def decode_result(kind: type[T], result: Json, number: int, report: Report) -> T | None:
    """Decode the result of a request, which must be a `kind`; `None` if it is malformed."""
    return PartReader(number, report).structure(result.value, kind, "$.result")


def decode_result_of(method: str, result: Json, number: int, report: Report) -> Any:
    """Decode the result of a request with a method: a wire object, or `Json` if it has no class.

    Returns `None` for a malformed result. A result that only acknowledges is never malformed.
    """
    kind = result_class(method)
    if kind is None:
        return result
    found = decode_result(kind, result, number, report)
    return kind() if found is None and kind.__struct_fields__ == ("meta",) else found


def form_schema(request: wire.ElicitationFormMode) -> wire.ElicitationSchema:
    """Return the schema of a form without its malformed optional parts."""
    structure, _ = lenient_path()
    return structure(request.requested_schema.value, wire.ElicitationSchema)[0]


@cache
def lenient_path() -> tuple[Callable[[Any, type[T]], tuple[T, list[Finding]]], type[Malformed]]:
    """Return the function that structures a value leniently, and the exception that it raises."""
    # cattrs is imported late: it is slow to load, and only malformed messages need it.
    from ._lenient import structure
    from ._lenient_scalars import Malformed

    return structure, Malformed
