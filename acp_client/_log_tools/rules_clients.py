"""Rules for clients: what they may ask for, and how they answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .conversation import Books, Entity, Said
from .leaves import at, text_at
from .rule import BOTH, V1, V2, Rule, Violations, is_absolute
from .rules_sessions import option_values

_NEEDS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "v1": {
        "session/load": ("agentCapabilities", "loadSession"),
        "session/list": ("agentCapabilities", "sessionCapabilities", "list"),
        "session/delete": ("agentCapabilities", "sessionCapabilities", "delete"),
        "session/resume": ("agentCapabilities", "sessionCapabilities", "resume"),
        "session/close": ("agentCapabilities", "sessionCapabilities", "close"),
    },
    "v2": {"session/delete": ("capabilities", "session", "delete")},
}
"""Methods that an agent advertises, and where it does."""

_PROMPT_BLOCKS: Final = {"image": "image", "audio": "audio", "resource": "embeddedContext"}
_PROMPT: Final = {
    "v1": ("agentCapabilities", "promptCapabilities"),
    "v2": ("capabilities", "session", "prompt"),
}
_MCP: Final = {
    "v1": ("agentCapabilities", "mcpCapabilities"),
    "v2": ("capabilities", "session", "mcp"),
}


def unadvertised(said: Said, books: Books) -> Violations:
    """Find a method that the agent did not advertise."""
    needed = _NEEDS[books.protocol].get(said.method)
    if needed is not None and not books.agent_can(*needed):
        yield ".method", f"the agent did not advertise {'.'.join(needed)}"


def prompt_content(said: Said, books: Books) -> Violations:
    """Find blocks of a prompt that the agent does not take."""
    prompt = at(said.params, "prompt")
    for place, block in enumerate(prompt if isinstance(prompt, list) else ()):
        kind = at(block, "type")
        name = _PROMPT_BLOCKS.get(kind) if isinstance(kind, str) else None
        if name is not None and not books.agent_can(*_PROMPT[books.protocol], name):
            yield f".params.prompt[{place}]", f"the agent did not advertise {name}"


def empty_prompt(said: Said, books: Books) -> Violations:
    """Find a prompt without content."""
    if at(said.params, "prompt") == []:
        yield ".params.prompt", "is empty"


def prompt_shape(said: Said, books: Books) -> Violations:
    """Find a prompt that is not a list of blocks, or has no session."""
    prompt = at(said.params, "prompt")
    if not isinstance(prompt, list) or not all(isinstance(at(b, "type"), str) for b in prompt):
        yield ".params.prompt", "is not a list of content blocks"
    if said.session_id is None:
        yield ".params.sessionId", "is not the id of a session"


def session_not_open(said: Said, books: Books) -> Violations:
    """Find a call of a session that was not opened, or was closed."""
    page = books.session(said.session_id)
    if not books.complete or said.session_id is None or books.initialized is None:
        return
    if page.closed:
        yield ".params.sessionId", f"the session {said.session_id!r} was closed"
    elif not page.opened:
        yield ".params.sessionId", f"the session {said.session_id!r} was not opened"


def directory(said: Said, books: Books) -> Violations:
    """Find a working directory that is missing, or not absolute."""
    cwd = at(said.params, "cwd")
    if not isinstance(cwd, str) or not is_absolute(cwd):
        yield ".params.cwd", "is not an absolute path"
    more = at(said.params, "additionalDirectories")
    for place, path in enumerate(more if isinstance(more, list) else ()):
        if not is_absolute(path):
            yield f".params.additionalDirectories[{place}]", "is not an absolute path"


def mcp_transport(said: Said, books: Books) -> Violations:
    """Find an MCP server that the agent cannot reach."""
    servers = at(said.params, "mcpServers")
    for place, server in enumerate(servers if isinstance(servers, list) else ()):
        kind = at(server, "type")
        if kind in ("http", "sse") and not books.agent_can(*_MCP[books.protocol], kind):
            yield f".params.mcpServers[{place}].type", f"the agent did not advertise {kind}"


def servers_missing(said: Said, books: Books) -> Violations:
    """Find a session that is opened without a list of MCP servers."""
    if not isinstance(at(said.params, "mcpServers"), list):
        yield ".params.mcpServers", "is not a list"


def option_not_offered(said: Said, books: Books) -> Violations:
    """Find an answer to a permission request that was not offered."""
    outcome = at(said.result, "outcome")
    if at(outcome, "outcome") != "selected":
        return
    options = at(said.params, "options")
    ids = [at(option, "optionId") for option in (options if isinstance(options, list) else ())]
    if at(outcome, "optionId") not in ids:
        yield ".result.outcome.optionId", "is not one of the options"


def outcome_shape(said: Said, books: Books) -> Violations:
    """Find an answer to a permission request without an outcome."""
    if said.succeeded and not isinstance(at(said.result, "outcome", "outcome"), str):
        yield ".result.outcome", "is not an outcome"


def selected_after_cancel(said: Said, books: Books) -> Violations:
    """Find a permission that is granted after the client cancelled the work."""
    page = books.session(said.session_id)
    outcome = at(said.result, "outcome", "outcome")
    if said.key in page.asked_before_cancel and outcome != "cancelled":
        yield ".result.outcome", "is not cancelled, though session/cancel was sent"


def left_unanswered(books: Books) -> Iterator[tuple[int, str, str]]:
    """Find permission requests that a cancel left open, though the work has ended since."""
    for page in books.sessions.values() if books.complete else ():
        for said in page.asked_before_cancel.values():
            if page.is_idle or (books.protocol == "v1" and not page.open_prompts):
                yield said.line, said.path, "was not answered with cancelled after session/cancel"


def cancel_of_tool_call(said: Said, books: Books) -> Violations:
    """Find a cancel of a tool call that never could be cancelled."""
    calls = books.session(said.session_id).calls
    yield from _cannot_cancel(calls.get(text_at(said.params, "toolCallId")), books, "toolCallId")


def cancel_of_terminal(said: Said, books: Books) -> Violations:
    """Find a cancel of a terminal that never could be cancelled."""
    terminals = books.session(said.session_id).terminals
    found = terminals.get(text_at(said.params, "terminalId"))
    yield from _cannot_cancel(found, books, "terminalId")


def _cannot_cancel(entity: Entity | None, books: Books, key: str) -> Violations:
    """Judge a cancel by what the client had read: the agent's last word may have crossed it."""
    if entity is None and books.complete:
        yield f".params.{key}", "was not reported"
    elif entity is not None and not entity.can_cancel:
        yield f".params.{key}", "does not advertise capabilities.cancel"


def option_unknown(said: Said, books: Books) -> Violations:
    """Find an option or a value that the agent does not have."""
    options, found = books.session(said.session_id).options, at(said.params, "configId")
    if options is None or not isinstance(found, str):
        return
    option, value = options.get(found), at(said.params, "value")
    if option is None:
        yield ".params.configId", f"{found!r} is not one of the options"
    elif at(option, "type") == "select" and value not in option_values(option):
        yield ".params.value", "is not one of the values"


def login_method(said: Said, books: Books) -> Violations:
    """Find a login by a method that the agent did not offer."""
    if books.initialized is None:
        return
    offered = at(books.initialized.result, "authMethods")
    methods = offered if isinstance(offered, list) else []
    ids = [at(one, "methodId") or at(one, "id") for one in methods]
    if at(said.params, "methodId") not in ids:
        yield ".params.methodId", "is not one of the agent's authMethods"


def elicitation_answer(said: Said, books: Books) -> Violations:
    """Find a form that was accepted without what it needs."""
    if at(said.result, "action") not in ("accept", "decline", "cancel") and said.succeeded:
        yield ".result.action", "is not accept, decline or cancel"
    required = at(said.params, "requestedSchema", "required")
    if at(said.result, "action") == "accept" and at(said.params, "mode") == "form":
        for name in required if isinstance(required, list) else ():
            if at(said.result, "content", name) is None:
                yield ".result.content", f"{name!r} is required"


def mode_unknown(said: Said, books: Books) -> Violations:
    """Find a mode that is not one of the session's."""
    modes, mode = books.session(said.session_id).modes, text_at(said.params, "modeId")
    if modes is not None and mode not in modes:
        yield ".params.modeId", "is not one of the available modes"


def file_content(said: Said, books: Books) -> Violations:
    """Find a file without content."""
    if said.succeeded and not isinstance(at(said.result, "content"), str):
        yield ".result.content", "is not text"


def terminal_id(said: Said, books: Books) -> Violations:
    """Find a terminal without an id."""
    if said.succeeded and not isinstance(at(said.result, "terminalId"), str):
        yield ".result.terminalId", "is not the id of a terminal"


def terminal_output(said: Said, books: Books) -> Violations:
    """Find output of a terminal that is not text, or does not say whether it is whole."""
    if said.succeeded and not isinstance(at(said.result, "output"), str):
        yield ".result.output", "is not text"
    if said.succeeded and not isinstance(at(said.result, "truncated"), bool):
        yield ".result.truncated", "is missing"


def _client(
    name: str, severity: Any, versions: Any, when: str, title: str, section: str, find: Any
) -> Rule:
    return Rule(f"client/{name}", severity, versions, when, title, section, find)


def _for_each(whens: tuple[str, ...], *row: Any) -> tuple[Rule, ...]:
    name, severity, versions, title, section, find = row
    return tuple(_client(name, severity, versions, when, title, section, find) for when in whens)


_OPENING: Final = ("request session/new", "request session/load", "request session/resume")
_PROMPTING: Final = "request session/prompt"
_ANSWERING: Final = "response session/request_permission"
_LIFE: Final = "Prompt Lifecycle"

RULES: Final = (
    _client("unadvertised-method", "error", BOTH, "request", "Methods are those of the agent",
            "Initialization; schema SessionCapabilities", unadvertised),
    _client("prompt-content", "error", BOTH, _PROMPTING, "Prompts hold what the agent takes",
            f"{_LIFE}, 1. User Message; schema PromptCapabilities", prompt_content),
    _client("empty-prompt", "error", V2, _PROMPTING, "A prompt has content",
            "schema PromptRequest.prompt", empty_prompt),
    _client("prompt-shape", "error", BOTH, _PROMPTING, "A prompt is a list of blocks",
            "schema PromptRequest", prompt_shape),
    *_for_each((_PROMPTING, "notification session/cancel"), "session-not-open", "error", BOTH,
               "A session is opened before it is used", f"{_LIFE}; Session Setup",
               session_not_open),
    *_for_each(_OPENING, "directory", "error", BOTH, "Directories are absolute paths",
               "schema NewSessionRequest.cwd", directory),
    *_for_each(_OPENING, "mcp-transport", "error", BOTH, "The agent takes the MCP servers",
               "schema McpCapabilities", mcp_transport),
    *_for_each(("request session/new", "request session/load"), "mcp-servers", "error", V1,
               "A session is opened with a list of MCP servers",
               "schema NewSessionRequest.mcpServers", servers_missing),
    _client("permission-option", "error", BOTH, _ANSWERING, "What is selected was offered",
            "schema SelectedPermissionOutcome.optionId", option_not_offered),
    _client("permission-outcome", "error", BOTH, _ANSWERING,
            "A permission request is answered with an outcome", "schema RequestPermissionResponse",
            outcome_shape),
    _client("permission-after-cancel", "error", BOTH, _ANSWERING,
            "A cancel answers pending permission requests with cancelled", f"{_LIFE}, Cancellation",
            selected_after_cancel),
    _client("permission-left-open", "error", BOTH, "end",
            "A cancel answers pending permission requests", f"{_LIFE}, Cancellation",
            left_unanswered),
    _client("tool-call-cancel", "error", V2, "request tool_call/cancel",
            "A tool call is cancelled while it says that it can be", "schema CancelToolCallRequest",
            cancel_of_tool_call),
    _client("terminal-cancel", "error", V2, "request terminal/cancel",
            "A terminal is cancelled while it says that it can be", "schema CancelTerminalRequest",
            cancel_of_terminal),
    _client("option-unknown", "error", BOTH, "request session/set_config_option",
            "Options and values are those of the agent", "Session Config Options", option_unknown),
    *_for_each(("request authenticate", "request auth/login"), "login-method", "error", BOTH,
               "A login is by a method that the agent offers", "schema LoginAuthRequest.methodId",
               login_method),
    _client("elicitation-answer", "error", BOTH, "response elicitation/create",
            "An accepted form has what it needs", "Elicitation; schema ElicitationAcceptAction",
            elicitation_answer),
    _client("mode-unknown", "error", V1, "request session/set_mode",
            "A mode is one of the available ones", "Session Modes", mode_unknown),
    _client("file-content", "error", V1, "response fs/read_text_file", "A file is read as text",
            "schema ReadTextFileResponse.content", file_content),
    _client("terminal-id", "error", V1, "response terminal/create", "A new terminal has an id",
            "schema CreateTerminalResponse.terminalId", terminal_id),
    _client("terminal-output", "error", V1, "response terminal/output",
            "Output says whether it is whole", "schema TerminalOutputResponse", terminal_output),
)  # fmt: skip
