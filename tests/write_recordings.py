"""Writes the bundled recordings, `examples/recordings/*.ndjson`.

The recordings are made up: a client and an agent that never ran. Every byte follows from the words
in this file and in `coding_session.py` and from a seed, so that each run writes the same files. A
line is `{"dir": "send"|"recv", "ts": …, "message": …}`, seen from the client; only `raw.ndjson`
holds bare messages, as an agent writes them.

Usage: python tests/write_recordings.py [DIRECTORY]
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from coding_session import coding_session
from recording_tape import (
    COMMANDS,
    HOME,
    Fields,
    Recording,
    Session,
    config_options,
    connect,
    file_changes,
    new_session,
    plan,
    shown,
    text_block,
    to_json,
)

DESTINATION = Path(__file__).resolve().parents[1] / "examples" / "recordings"


def two_sessions() -> bytes:
    """Record two sessions of one connection whose updates alternate and whose ids are the same."""
    recording = Recording(seed=2)
    connect(recording)
    code = new_session(recording, "sess_code", configOptions=config_options("ask"))
    docs = new_session(recording, "sess_docs", availableCommands=COMMANDS)
    wishes = {code: "Rename `parse_date` to `read_date`.", docs: "Describe `tidydates --json`."}
    prompts = {session: session.prompt(text_block(wish)) for session, wish in wishes.items()}
    for session, wish in wishes.items():
        session.state("running")
        session.update("user_message", messageId="user_1", content=[text_block(wish)])
    for session in reversed(list(prompts)):
        recording.answer(prompts[session], result={"messageId": "user_1"})
    alternate(
        (code, "I'll rename it everywhere, and keep the old name as an alias for one release."),
        (docs, "The option prints *one* JSON document: a list of dates with their weekdays."),
    )
    questions = [ask_to_edit(code, "parser.py"), ask_to_edit(docs, "README.md")]
    recording.wait(2000, 3000)
    recording.reply(questions[1], "once")
    docs.tool("call_1", status="completed")
    docs.state("idle", stopReason="end_turn")
    follow_ups_that_cross(code, questions[0])
    return recording.data()


def alternate(*parts: tuple[Session, str]) -> None:
    """Stream the messages of several sessions, one chunk of each in turn."""
    chunks = [list(session.recording.pieces(text)) for session, text in parts]
    for turn in range(max(map(len, chunks))):
        for (session, _), pieces in zip(parts, chunks, strict=True):
            session.recording.wait(10, 40)
            for piece in pieces[turn : turn + 1]:
                content = text_block(piece)
                session.update("agent_message_chunk", messageId="agent_1", content=content)


def ask_to_edit(session: Session, name: str) -> int:
    """Ask for an edit; the request is the first that the client hears of the tool call."""
    place: Fields = {"path": f"{HOME}/{name}"}
    tool_call = {"toolCallId": "call_1", "title": f"Edit {name}", "kind": "edit"}
    subject = {"type": "tool_call", "toolCall": tool_call | {"locations": [place]}}
    question = session.ask(f"Change {name}?", subject=subject)
    session.state("requires_action")
    return question


def follow_ups_that_cross(session: Session, question: int) -> None:
    """Send two prompts while a question is open; answers and echoes come in another order."""
    recording = session.recording
    words = ("Also in the tests, please.", "And in the changelog.")
    first, second = [session.prompt(text_block(text)) for text in words]
    content = [text_block(words[1])]
    session.update("user_message", messageId="user_3", content=content)
    recording.answer(first, result={"messageId": "user_2"})
    recording.answer(second, result={"messageId": "user_3"})
    session.update("user_message", messageId="user_2", content=[text_block(words[0])])
    recording.reply(question, "no")
    session.tool("call_1", status="failed", content=[shown("Declined by the user.")])
    session.say("agent_2", "Nothing was renamed.")
    session.state("idle", stopReason="end_turn")


def resume_replay() -> bytes:
    """Resume a session of yesterday twice; its history is replayed and never doubles."""
    recording = Recording(seed=3)
    connect(recording)
    known = {"sessionId": "sess_yesterday", "cwd": HOME, "title": "Leap years"}
    listing = recording.request("session/list", cwd=HOME)
    recording.answer(listing, result={"sessions": [known], "nextCursor": None})
    session = Session(recording, "sess_yesterday")
    resume(session, history)
    prompt = session.prompt(text_block("And 1900?"))
    session.update("user_message", messageId="user_2", content=[text_block("And 1900?")])
    recording.answer(prompt, result={"messageId": "user_2"})
    session.state("running")
    session.say("agent_2", "No: it can be divided by 100, but not by 400.")
    session.state("idle", stopReason="end_turn")
    recording.wait(4000, 6000)
    resume(session, history, later_history)
    failed = recording.request("session/resume", sessionId="sess_lost", cwd=HOME)
    recording.answer(failed, error={"code": -32002, "message": "There is no such session"})
    return recording.data()


def resume(session: Session, *parts: Callable[[Session], None]) -> None:
    """Record `session/resume` from the start, the replayed parts, and the result."""
    number = session.recording.request(
        "session/resume",
        sessionId=session.session_id,
        cwd=HOME,
        replayFrom={"type": "start"},
    )
    for part in parts:
        part(session)
    session.state("idle", stopReason="end_turn")
    lists: Fields = {"configOptions": config_options("ask"), "availableCommands": COMMANDS}
    session.recording.answer(number, result=lists)


def history(session: Session) -> None:
    """Replay what happened yesterday."""
    content = [text_block("Was 2000 a leap year?")]
    session.update("user_message", messageId="user_1", content=content)
    thought = [text_block("Divisible by 400, so the exception of the exception applies.")]
    session.update("agent_thought", messageId="thought_1", content=thought)
    session.quick(
        "call_1",
        [shown("def is_leap(year): ...")],
        title="Read tidydates/calendar.py",
        kind="read",
        locations=[{"path": f"{HOME}/tidydates/calendar.py", "line": 7}],
    )
    for piece in ("Yes, ", "because 400 divides it."):
        content = [text_block(piece)]
        session.update("agent_message_chunk", messageId="agent_1", content=content[0])
    done = plan("plan_1", ("Answer from the source, not from memory", "medium", "completed"))
    session.update("plan_update", plan=done)
    session.update("session_info_update", title="Leap years", updatedAt="2026-03-11T17:02:00Z")
    session.update("usage_update", used=2210, size=200000)


def later_history(session: Session) -> None:
    """Replay what happened since, as one message where it was streamed before."""
    session.update("user_message", messageId="user_2", content=[text_block("And 1900?")])
    content = [text_block("No: it can be divided by 100, but not by 400.")]
    session.update("agent_message", messageId="agent_2", content=content)


def malformed() -> bytes:
    """Record what must not stop a client: odd, misshapen and torn input between good lines."""
    recording = Recording(seed=4)
    connect(recording)
    recording.junk(b"loading the large language model ... done")
    session = new_session(recording, "sess_rough", configOptions="none")
    prompt = session.prompt(text_block("Try me."))
    recording.answer(prompt, result={"messageId": None})
    session.say("agent_1", "This line is whole.")
    for part in (torn_lines, no_messages, unknown_variants, bad_fields, bad_updates, odd_numbers):
        part(session)
    session.say("agent_1", " So is this one.")
    session.state("idle", stopReason=["end_turn"], background="none")
    return recording.data()


def torn_lines(session: Session) -> None:
    """Record lines that are no JSON, or not quite, and a character cut between two messages."""
    recording = session.recording
    recording.junk(b'{"jsonrpc":"2.0","method":"session/update","params":{"sess')
    recording.junk(b"\x1b[31mTraceback (most recent call last):\x1b[0m\x07")
    chunk = {"sessionUpdate": "agent_message_chunk", "messageId": "agent_2"}
    params: Fields = {"sessionId": session.session_id}
    params["update"] = chunk | {"content": text_block("caf\N{LATIN SMALL LETTER E WITH ACUTE}")}
    message = to_json({"jsonrpc": "2.0", "method": "session/update", "params": params})
    recording.junk(message.encode("latin-1"))
    for half in ("tada \ud83c", "\udf89"):
        session.update("agent_message_chunk", messageId="agent_3", content=text_block(half))


def no_messages(session: Session) -> None:
    """Record JSON that is no message, answers that nobody waits for, and a batch."""
    recording = session.recording
    for text in ("null", "42", "[]", '{"id":1}', '{"jsonrpc":"1.0","id":1,"result":{}}'):
        recording.literal("recv", text)
    recording.recv(id=[1], result={})
    recording.recv(id=99, result={"messageId": "user_99"})
    recording.recv(id=98, error=None, result={})
    recording.recv(method="session/request_permission", params={"sessionId": "sess_rough"})
    update = {"sessionUpdate": "session_info_update", "title": "Out of a batch"}
    params = {"sessionId": session.session_id, "update": update}
    message = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    recording.literal("recv", to_json([message, 7, {"jsonrpc": "2.0"}]))


def unknown_variants(session: Session) -> None:
    """Record variants that no client has ever heard of, at every level."""
    session.update("hologram_update", hologram={"width": 3, "voxels": [1, 2]}, messageId="h1")
    smell = {"type": "_example.com/smell", "note": "coffee"}
    session.update("agent_message", messageId="agent_4", content=[smell, text_block("With coffee")])
    session.update("plan_update", plan={"type": "_example.com/gantt", "planId": "g", "bars": 2})
    session.state("_example.com/dreaming", depth=2)
    moved = {"operation": "_example.com/swap", "paths": ["/a", "/b"]}
    session.tool("call_1", kind="juggle", status="airborne", title="Juggle")
    session.update(
        "tool_call_content_chunk",
        toolCallId="call_1",
        content={"type": "diff", "changes": [moved, {"operation": "modify"}]},
    )
    option = {"configId": "t", "name": "Heat", "type": "_example.com/slider", "currentValue": 0.2}
    session.update("config_option_update", configOptions=[option, {"configId": "broken"}])


def bad_fields(session: Session) -> None:
    """Misshape optional fields and list items: they are left out, and the rest is kept."""
    path = f"{HOME}/tidydates/parser.py"
    places = [{"path": path, "line": 0}, {"line": 4}, "somewhere", {"path": path, "line": 9}]
    session.tool("call_2", title="Kept", kind="edit", status="in_progress", rawInput={"n": 1})
    session.tool("call_2", title=42, kind=["edit"], status={}, content="none", locations=places)
    session.tool("call_2", kind=None, rawInput=None, content=None)
    blocks = [text_block("first "), {"type": "text"}, None, text_block("third")]
    session.update("agent_message", messageId="agent_5", content=blocks)
    session.update(
        "terminal_update",
        terminalId="term_1",
        command=["ls"],
        output={"data": "b2sK"},
        exitStatus={"exitCode": "0"},
        size={"cols": 0, "rows": 24},
    )
    session.update("session_info_update", title=["x"], updatedAt="yesterday")
    entries = [{"content": "Kept", "priority": "low", "status": "pending"}, {"content": 5}]
    plan_of_items = {"type": "items", "planId": "p", "entries": entries}
    session.update("plan_update", plan=plan_of_items)


def bad_updates(session: Session) -> None:
    """Leave out or misshape required fields: these updates are dropped."""
    session.update("agent_message", content=[text_block("Nobody knows whose this is.")])
    session.update("agent_message_chunk", messageId=7, content=text_block("Nor this."))
    session.update("agent_message_chunk", messageId="agent_1", content={"type": "text"})
    session.update("terminal_output_chunk", terminalId="term_1", data="not base64!")
    session.update("usage_update", used=-5, size=200000)
    session.update("plan_update", plan={"type": "items", "planId": "p", "entries": None})
    session.update("available_commands_update", availableCommands=None)


def odd_numbers(session: Session) -> None:
    """Record numbers at the edge, and keys that come twice."""
    shape = (
        '{"jsonrpc":"2.0","method":"session/update","params":'
        '{"sessionId":"sess_rough","update":{"sessionUpdate":%s}}}'
    )
    for body in (
        '"usage_update","used":1e400,"size":200000',
        '"tool_call_update","toolCallId":"call_3","title":"lost","title":"won","rawInput":1e400',
        '"usage_update","used":-0,"size":1e5',
    ):
        session.recording.literal("recv", shape % body)
    session.update("usage_update", used=1200.0, size=10**30, cost={"amount": "free"})


def raw() -> bytes:
    """Record an agent's standard output: bare messages, no direction, no time."""
    recording = Recording(seed=5)
    connect(recording)
    session = new_session(recording, "sess_raw", availableCommands=COMMANDS)
    wish = [text_block("Remove the unused import.")]
    prompt = session.prompt(*wish)
    session.update("user_message", messageId="user_1", content=wish)
    recording.answer(prompt, result={"messageId": "user_1"})
    session.state("running")
    session.say("agent_1", "`import sys` is never used in `cli.py`; I'll take it out.")
    path = f"{HOME}/tidydates/cli.py"
    old = "import argparse\nimport sys\n\nfrom tidydates.parser import parse_date\n"
    change = file_changes((path, old, old.replace("import sys\n", "")))
    session.quick("call_1", [change], title="Edit tidydates/cli.py", kind="edit")
    session.command("call_2", "term_1", "ruff check")
    session.output("term_1", "\x1b[1;32mAll checks passed!\x1b[0m\r\n")
    session.exited("term_1", exitCode=0)
    session.tool("call_2", status="completed")
    session.update("usage_update", used=3105, size=200000)
    session.state("idle", stopReason="end_turn")
    lines = map(json.loads, recording.data().splitlines())
    received = [to_json(line["message"]) for line in lines if line["dir"] == "recv"]
    return "".join(f"{message}\n" for message in received).encode()


RECORDINGS: dict[str, Callable[[], bytes]] = {
    "coding-session.ndjson": coding_session,
    "malformed.ndjson": malformed,
    "raw.ndjson": raw,
    "resume-replay.ndjson": resume_replay,
    "two-sessions.ndjson": two_sessions,
}


def main(arguments: list[str]) -> None:
    """Write all recordings into the directory that the arguments name, or the bundled one."""
    directory = Path(arguments[0]) if arguments else DESTINATION
    directory.mkdir(parents=True, exist_ok=True)
    for name, written in RECORDINGS.items():
        (directory / name).write_bytes(written())


if __name__ == "__main__":
    main(sys.argv[1:])
