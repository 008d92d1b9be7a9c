"""Rules for what an agent does with sessions, options and questions to the user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .conversation import Books, Said, option_id
from .leaves import at
from .rule import BOTH, V1, V2, Rule, Violations, is_absolute, is_custom

_OPTION_KINDS: Final = frozenset({"allow_once", "allow_always", "reject_once", "reject_always"})
_CONTENT: Final = frozenset(
    {
        "user_message",
        "user_message_chunk",
        "agent_message",
        "agent_message_chunk",
        "agent_thought",
        "agent_thought_chunk",
    }
)


def new_without_id(said: Said, books: Books) -> Violations:
    """Find a new session without an id."""
    if said.succeeded and not isinstance(at(said.result, "sessionId"), str):
        yield ".result.sessionId", "is not the id of a session"


def new_with_old_id(said: Said, books: Books) -> Violations:
    """Find a new session under the id of one that is open."""
    session_id = at(said.result, "sessionId")
    page = books.session(session_id) if isinstance(session_id, str) else None
    if said.succeeded and page is not None and page.opened and not page.closed:
        yield ".result.sessionId", f"{session_id!r} is open already"


def unknown_session(said: Said, books: Books) -> Violations:
    """Find an update of a session that was not opened."""
    if not books.complete or books.session(said.session_id).opened:
        return
    is_opening = books.waits_for("session/new") or books.waits_for("session/fork")
    if not is_opening and said.session_id is not None and books.initialized is not None:
        yield ".params.sessionId", f"the session {said.session_id!r} was not opened"


def after_close(said: Said, books: Books) -> Violations:
    """Find an update of a session that was closed."""
    if books.session(said.session_id).closed:
        yield ".params.sessionId", f"the session {said.session_id!r} was closed"


def resumed_without_state(said: Said, books: Books) -> Violations:
    """Find a resumed session whose state was not said."""
    page = books.session(said.session_id)
    if said.succeeded and said.request is page.resume and not page.state_since_resume:
        yield ".result", "no state_update came between the request and this answer"


def replayed_unasked(said: Said, books: Books) -> Violations:
    """Find history that is sent for a resume that does not ask for it."""
    page = books.session(said.session_id)
    if page.resume is None or page.resume.method != "session/resume" or page.prompted:
        return
    if at(page.resume.params, "replayFrom") is None and said.variant in _CONTENT:
        yield ".params.update", "is history, for which the resume did not ask"


def closed_while_working(said: Said, books: Books) -> Violations:
    """Find a session that is closed in the middle of its work."""
    page = books.session(said.session_id)
    if said.succeeded and page.state in ("running", "requires_action"):
        yield ".result", "the foreground work was not reported as idle before"


def listed_sessions(said: Said, books: Books) -> Violations:
    """Find sessions in a list that have no id or no absolute directory."""
    sessions = at(said.result, "sessions")
    if said.succeeded and not isinstance(sessions, list):
        yield ".result.sessions", "is not a list"
    for place, session in enumerate(sessions if isinstance(sessions, list) else ()):
        if not isinstance(at(session, "sessionId"), str):
            yield f".result.sessions[{place}].sessionId", "is not the id of a session"
        if not isinstance(at(session, "cwd"), str) or not is_absolute(at(session, "cwd")):
            yield f".result.sessions[{place}].cwd", "is not an absolute path"


# --- Options ---


def _options(said: Said) -> Iterator[tuple[str, Any]]:
    """Return the options that a message brings, with their paths."""
    found, path = at(said.update, "configOptions"), ".params.update.configOptions"
    if said.kind == "response":
        found, path = at(said.result, "configOptions"), ".result.configOptions"
    for place, option in enumerate(found if isinstance(found, list) else ()):
        yield f"{path}[{place}]", option


def option_values(option: Any) -> list[Any]:
    """Return the values that an option can have, those in groups included."""
    choices = at(option, "options")
    values = []
    for choice in choices if isinstance(choices, list) else ():
        values += [at(choice, "value")] if at(choice, "options") is None else option_values(choice)
    return values


def current_value(said: Said, books: Books) -> Violations:
    """Find a selection that is not among its choices."""
    for path, option in _options(said):
        if at(option, "type") == "select" and at(option, "currentValue") not in option_values(
            option
        ):
            yield f"{path}.currentValue", "is not one of the options"


def option_twice(said: Said, books: Books) -> Violations:
    """Find two options with one id."""
    seen: set[str] = set()
    for path, option in _options(said):
        found = option_id(option)
        if found in seen:
            yield path, f"the option {found!r} is there twice"
        seen |= {found} if found else set()


def value_twice(said: Said, books: Books) -> Violations:
    """Find two choices of an option with one value."""
    for path, option in _options(said):
        values = [value for value in option_values(option) if isinstance(value, str)]
        if len(set(values)) < len(values):
            yield f"{path}.options", "a value is there twice"


# --- Questions to the user ---


def permission_options(said: Said, books: Books) -> Violations:
    """Find a permission request that leaves the user no choice."""
    options = at(said.params, "options")
    if isinstance(options, list) and not options:
        yield ".params.options", "is empty"


def permission_option_twice(said: Said, books: Books) -> Violations:
    """Find options of a permission request with one id."""
    options = at(said.params, "options")
    ids = [repr(at(one, "optionId")) for one in (options if isinstance(options, list) else ())]
    if len(set(ids)) < len(ids):
        yield ".params.options", "an optionId is there twice"


def permission_option_kind(said: Said, books: Books) -> Violations:
    """Find an option of a permission request of a reserved kind."""
    options = at(said.params, "options")
    for place, option in enumerate(options if isinstance(options, list) else ()):
        kind = at(option, "kind")
        if isinstance(kind, str) and kind not in _OPTION_KINDS and not is_custom(kind):
            yield f".params.options[{place}].kind", f"{kind!r} is not a kind of option"


def permission_tool_call(said: Said, books: Books) -> Violations:
    """Find a permission request that does not say for what."""
    if not isinstance(at(said.params, "toolCall", "toolCallId"), str):
        yield ".params.toolCall.toolCallId", "is not the id of a tool call"


def withdrawn_unknown(said: Said, books: Books) -> Violations:
    """Find a withdrawal of a request that the agent never sent, where all were seen."""
    key = (False, repr(at(said.params, "requestId")))
    if books.complete and key not in books.open and key not in books.answered:
        yield ".params.requestId", "is not the id of a request of the agent"


def elicitation_mode(said: Said, books: Books) -> Violations:
    """Find a question in a way that the client did not advertise."""
    mode = at(said.params, "mode")
    path = "capabilities" if books.protocol == "v2" else "clientCapabilities"
    if mode in ("form", "url") and not books.client_can(path, "elicitation", mode):
        yield ".params.mode", f"the client did not advertise elicitation by {mode}"


def elicitation_scope(said: Said, books: Books) -> Violations:
    """Find a question that belongs to nothing, or to two things."""
    scopes = [key for key in ("sessionId", "requestId") if at(said.params, key) is not None]
    if len(scopes) != 1:
        yield ".params", "has not exactly one of sessionId and requestId"


def elicitation_form(said: Said, books: Books) -> Violations:
    """Find a form without fields, or a URL without an id."""
    mode = at(said.params, "mode")
    if mode == "form" and not isinstance(at(said.params, "requestedSchema", "properties"), dict):
        yield ".params.requestedSchema", "has no properties"
    if mode == "url":
        for key in ("url", "elicitationId"):
            if not isinstance(at(said.params, key), str):
                yield f".params.{key}", "is missing"


# --- Version 1 ---


def file_capability(said: Said, books: Books) -> Violations:
    """Find a call of the client's files that was not advertised."""
    name = "readTextFile" if said.method == "fs/read_text_file" else "writeTextFile"
    if not books.client_can("clientCapabilities", "fs", name):
        yield ".method", f"the client did not advertise fs.{name}"


def file_path(said: Said, books: Books) -> Violations:
    """Find a file by a path that is not absolute."""
    if not is_absolute(at(said.params, "path")):
        yield ".params.path", "is not an absolute path"


def terminal_capability(said: Said, books: Books) -> Violations:
    """Find a call of the client's terminals that was not advertised."""
    if not books.client_can("clientCapabilities", "terminal"):
        yield ".method", "the client did not advertise terminals"


def terminal_unknown(said: Said, books: Books) -> Violations:
    """Find a call of a terminal that was not created, or was released."""
    terminal_id = at(said.params, "terminalId")
    if not isinstance(terminal_id, str) or not books.complete:
        return
    terminal = books.session(said.session_id).terminals.get(terminal_id)
    if terminal is None:
        yield ".params.terminalId", f"the terminal {terminal_id!r} was not created"
    elif terminal.status == "released":
        yield ".params.terminalId", f"the terminal {terminal_id!r} was released"


def mode_unknown(said: Said, books: Books) -> Violations:
    """Find a mode that is not one of the session's."""
    modes, mode = books.session(said.session_id).modes, said.update.get("currentModeId")
    if modes is not None and isinstance(mode, str) and mode not in modes:
        yield ".params.update.currentModeId", f"{mode!r} is not one of the available modes"


_SETUP: Final = "Session Setup"
_CONFIG: Final = "Session Config Options"
_PERMISSION: Final = "Tool Calls, Requesting Permission"
_ELICITATION: Final = "Elicitation; schema CreateElicitationRequest"


def _agent(
    name: str, severity: Any, versions: Any, when: str, title: str, section: str, find: Any
) -> Rule:
    return Rule(f"agent/{name}", severity, versions, when, title, section, find)


def _for_each(whens: tuple[str, ...], *row: Any) -> tuple[Rule, ...]:
    name, severity, versions, title, section, find = row
    return tuple(_agent(name, severity, versions, when, title, section, find) for when in whens)


_BRING_OPTIONS: Final = (
    "update config_option_update",
    "response session/new",
    "response session/resume",
    "response session/load",
    "response session/set_config_option",
)
_TERMINAL_CALLS: Final = tuple(
    f"request terminal/{name}" for name in ("output", "wait_for_exit", "kill", "release")
)
_FILE_CALLS: Final = ("request fs/read_text_file", "request fs/write_text_file")
_ASK: Final = "request session/request_permission"
_ELICIT: Final = "request elicitation/create"

RULES: Final = (
    _agent("session-id", "error", BOTH, "response session/new", "A new session has an id",
           "schema NewSessionResponse.sessionId", new_without_id),
    _agent("session-id-reused", "error", BOTH, "response session/new",
           "A new session has an id of its own", f"{_SETUP}, Session ID", new_with_old_id),
    _agent("unknown-session", "error", BOTH, "update", "Updates are about sessions that are open",
           _SETUP, unknown_session),
    _agent("after-close", "error", BOTH, "update", "A closed session is silent",
           "schema CloseSessionRequest", after_close),
    _agent("resumed-without-state", "error", V2, "response session/resume",
           "The state is reported before a resume is answered",
           f"{_SETUP}, Current-State Synchronization", resumed_without_state),
    _agent("replayed-unasked", "error", BOTH, "update", "History is sent where it is asked for",
           "schema ResumeSessionRequest.replayFrom", replayed_unasked),
    _agent("closed-while-working", "error", V2, "response session/close",
           "Work ends before its session is closed", "schema CloseSessionRequest",
           closed_while_working),
    _agent("session-list", "error", BOTH, "response session/list",
           "Listed sessions have an id and an absolute directory", "schema SessionInfo",
           listed_sessions),
    *_for_each(_BRING_OPTIONS, "option-value", "error", BOTH,
               "The current value of an option is one of its values",
               f"{_CONFIG}; schema SessionConfigSelect.currentValue", current_value),
    *_for_each(_BRING_OPTIONS, "option-twice", "error", BOTH, "Ids of options differ", _CONFIG,
               option_twice),
    *_for_each(_BRING_OPTIONS, "option-value-twice", "error", BOTH,
               "Values of an option differ", "schema SessionConfigSelect.options", value_twice),
    _agent("permission-options", "error", BOTH, _ASK, "A permission request has options",
           "schema RequestPermissionRequest.options", permission_options),
    _agent("permission-option-twice", "error", BOTH, _ASK, "Ids of options differ",
           "schema PermissionOption.optionId", permission_option_twice),
    _agent("permission-option-kind", "error", BOTH, _ASK,
           "The kind of an option is one of the protocol's, or custom",
           f"{_PERMISSION}; schema PermissionOptionKind", permission_option_kind),
    _agent("permission-tool-call", "error", V1, _ASK, "A permission request names its tool call",
           "schema RequestPermissionRequest.toolCall", permission_tool_call),
    _agent("withdrawn-unknown", "warning", BOTH, "notification $/cancel_request",
           "Only own requests are withdrawn", "Cancellation; schema CancelRequestNotification",
           withdrawn_unknown),
    _agent("elicitation-mode", "error", BOTH, _ELICIT,
           "The user is asked in ways that the client advertised",
           "schema ElicitationCapabilities", elicitation_mode),
    _agent("elicitation-scope", "error", BOTH, _ELICIT,
           "A question belongs to a session or to a request", _ELICITATION, elicitation_scope),
    _agent("elicitation-form", "error", BOTH, _ELICIT,
           "A form has fields, a URL has an id", _ELICITATION, elicitation_form),
    *_for_each(_FILE_CALLS, "file-capability", "error", V1,
               "Files are read and written where the client advertised it",
               "Initialization, File System; schema FileSystemCapabilities", file_capability),
    *_for_each(_FILE_CALLS, "file-path", "error", V1, "Files are named by absolute paths",
               "schema ReadTextFileRequest.path", file_path),
    *_for_each(("request terminal/create", *_TERMINAL_CALLS), "terminal-capability", "error", V1,
               "Terminals are used where the client advertised them",
               "schema ClientCapabilities.terminal", terminal_capability),
    *_for_each(_TERMINAL_CALLS, "terminal-unknown", "error", V1,
               "A terminal is used between its creation and its release",
               "Terminals; schema ReleaseTerminalRequest", terminal_unknown),
    _agent("mode-unknown", "error", V1, "update current_mode_update",
           "The current mode is one of the available ones", "Session Modes", mode_unknown),
)  # fmt: skip
