"""The coding session that the demo replays: a date parser is mended, in three prompts.

First the words of the files and programs that the session is about, then its scenes in order. The
edits are real: the patches are computed from the sources, and the mended parser passes its tests.
"""

from textwrap import dedent

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
)

OLD_PARSER = '''\
"""Dates as people write them."""

import re
from datetime import date

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NUMERIC = re.compile(r"(\\d{1,4})[-/.](\\d{1,2})[-/.](\\d{1,4})")
NAMED = re.compile(r"(\\d{1,2})\\s+([a-z]+)\\s+(\\d{4})", re.IGNORECASE)


def parse_date(text: str) -> date:
    """The date that `text` names."""
    if match := NUMERIC.fullmatch(text.strip()):
        year, month, day = map(int, match.groups())
        return date(year, month, day)
    if match := NAMED.fullmatch(text.strip()):
        day, name, year = match.groups()
        return date(int(year), month_number(name), int(day))
    raise ValueError(f"not a date: {text!r}")


def month_number(name: str) -> int:
    """The number of the month that begins like `name`."""
    return MONTHS.index(name[:3].lower()) + 1
'''
PARSER_EDITS = {
    "import re\n": "import re\nimport unicodedata\n",
    "([a-z]+)": r"([^\W\d_]+)",
    ", re.IGNORECASE)\n": ")\n",
    "        year, month, day = map(int, match.groups())\n"
    "        return date(year, month, day)\n": (
        "        first, month, last = match.groups()\n"
        "        year, day = (first, last) if len(first) == 4 else (last, first)\n"
        "        return date(int(year), int(month), int(day))\n"
    ),
    "    return MONTHS.index(name[:3].lower()) + 1\n": (
        '    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()\n'
        "    return MONTHS.index(letters[:3].lower()) + 1\n"
    ),
}
TESTS = """\
import pytest
from datetime import date
from tidydates.parser import parse_date


@pytest.mark.parametrize("text", ["31.12.2024", "31/12/2024", "2024-12-31"])
def test_last_day_of_the_year(text):
    assert parse_date(text) == date(2024, 12, 31)


@pytest.mark.parametrize("text", ["1 March 2025", "1 März 2025"])
def test_month_names(text):
    assert parse_date(text) == date(2025, 3, 1)
"""
ROUNDTRIP = '''\
"""Every day of four hundred years, written in three ways, must come back as it was."""

from datetime import date, timedelta
from tidydates.parser import parse_date

WAYS = ("%Y-%m-%d", "%d.%m.%Y", "%d %B %Y")
DAYS = [date(1600, 1, 1) + timedelta(days) for days in range(146_097)]

for number, day in enumerate(DAYS, 1):
    assert all(parse_date(day.strftime(way)) == day for way in WAYS), day
    if number % 14_610 == 1 or number == len(DAYS):
        share = 100 * number // len(DAYS)
        print(f"\\r1600-1999 {'█' * (share // 5):░<20} {share:3} %", end="", flush=True)
print(f"\\n{len(DAYS):,} days, {len(WAYS)} ways: all came back ✔")
'''
OLD_CHANGELOG = "# Changelog\n\n## Unreleased\n\n- `tidydates --json`.\n"
NEW_CHANGELOG = (
    OLD_CHANGELOG + "- Dates with the day first (`31.12.2024`) and accents (`1 März`).\n"
)

GREEN, RED, BOLD, PLAIN = "\x1b[32m", "\x1b[31m", "\x1b[1m", "\x1b[0m"
TEST_NAMES = (
    "test_parser.py::test_last_day_of_the_year[31.12.2024]",
    "test_parser.py::test_last_day_of_the_year[31/12/2024]",
    "test_parser.py::test_last_day_of_the_year[2024-12-31]",
    "test_parser.py::test_month_names[1 March 2025]",
    "test_parser.py::test_month_names[1 M\\xe4rz 2025]",
    "test_cli.py::test_prints_the_weekday",
    "test_cli.py::test_refuses_nonsense",
    "test_importer.py::test_reads_a_column_of_dates",
)
FAILING = {TEST_NAMES[0], TEST_NAMES[1], TEST_NAMES[4]}
FAILURES = f"""
=========================================== FAILURES ===========================================
{RED}{BOLD}_____________________ test_last_day_of_the_year[31.12.2024] _____________________{PLAIN}
>       assert parse_date(text) == date(2024, 12, 31)
{RED}E       ValueError: day is out of range for month{PLAIN}
{RED}{BOLD}_______________________ test_month_names[1 M\\xe4rz 2025] _______________________{PLAIN}
>       assert parse_date(text) == date(2025, 3, 1)
{RED}E       ValueError: not a date: '1 März 2025'{PLAIN}
{RED}{BOLD}3 failed{PLAIN}, {GREEN}5 passed{PLAIN}{RED} in 0.11s{PLAIN}
"""


def prose(text: str) -> str:
    """Take away the margin that text has in this file."""
    return dedent(text).strip("\n")


def new_parser() -> str:
    """Apply the edits to the parser."""
    source = OLD_PARSER
    for old, new in PARSER_EDITS.items():
        source = source.replace(old, new)
    return source


def pytest_lines(failing: set[str]) -> str:
    """Write one coloured line for each test, with the share that is done."""
    verdicts = [
        f"{RED}FAILED{PLAIN}" if name in failing else f"{GREEN}PASSED{PLAIN}" for name in TEST_NAMES
    ]
    return "".join(
        f"tests/{name} {verdict} [{100 * done // len(TEST_NAMES):3}%]\n"
        for done, (name, verdict) in enumerate(zip(TEST_NAMES, verdicts, strict=True), 1)
    )


def crlf(text: str) -> str:
    """Give text the line ends that programs write to a terminal."""
    return text.replace("\n", "\r\n")


def progress_bar(what: str, last: int) -> str:
    """Draw a bar over itself, from nothing to `last` per cent."""
    return "".join(
        f"\r{what} {'█' * (share // 5):░<20} {share:3} %" for share in range(0, last + 1, 10)
    )


def coding_session() -> bytes:
    """Record the mending of a date parser: three prompts, the last one cancelled."""
    recording = Recording(seed=20260312)
    connect(recording)
    lists: Fields = {"configOptions": config_options("ask"), "availableCommands": COMMANDS}
    session = new_session(recording, "sess_tidydates", **lists)
    recording.wait(6000, 9000)
    find_the_cause(session)
    repair(session)
    edit_freely(session)
    check_the_calendar(session)
    decline_the_push(session)
    cancel_the_measurement(session)
    return recording.data()


def find_the_cause(session: Session) -> None:
    """Record the first prompt, echoed before its response, and how the failures are found."""
    tests = {"uri": f"file://{HOME}/tests/test_parser.py", "mimeType": "text/x-python"}
    content: list[Fields] = [
        text_block(
            "Three tests of the date parser fail since I added European dates. Please find out "
            "why and fix it. Callers of `parse_date` must not notice anything else."
        ),
        {"type": "resource", "resource": tests | {"text": TESTS}},
    ]
    prompt = session.prompt(*content)
    session.recording.wait(20, 60)
    session.update("user_message", messageId="user_1", content=content)
    session.state("running")
    session.recording.answer(prompt, result={"messageId": "user_1"})
    session.think(
        "thought_1",
        "Three tests fail, all on dates that are not year first or not ASCII. I should see the "
        "failures before I touch anything: read the parser, look for its callers, run the suite.",
    )
    session.update("plan_update", plan=first_plan("in_progress", "pending", "pending"))
    session.say(
        "agent_1",
        "I'll reproduce the failures first, then look at how `parse_date` decides which number "
        "is the year.",
    )
    read_and_search(session)
    run_failing_tests(session)


def first_plan(reproduce: str, repair: str, check: str) -> Fields:
    """Build the plan of the first prompt, with the status of each entry."""
    return plan(
        "plan_fix",
        ("Reproduce the failures", "high", reproduce),
        ("Teach `parse_date` day-first dates and accents", "high", repair),
        ("Run the whole suite again", "medium", check),
    )


def read_and_search(session: Session) -> None:
    """Read the parser and find its callers."""
    path = f"{HOME}/tidydates/parser.py"
    session.quick(
        "call_read",
        [shown(f"```python\n{OLD_PARSER}```")],
        title="Read tidydates/parser.py",
        name="read_file",
        kind="read",
        locations=[{"path": path}],
        rawInput={"path": path},
    )
    session.tool("call_search", title="Search for parse_date(", name="search", kind="search")
    session.tool("call_search", status="in_progress", rawInput={"pattern": r"parse_date\("})
    for hit in ("cli.py:14:    day = parse_date(text)", "importer.py:41:        parse_date(cell),"):
        session.recording.wait(10, 40)
        item = shown(f"tidydates/{hit}")
        session.update("tool_call_content_chunk", toolCallId="call_search", content=item)
    names = {"cli": 14, "importer": 41}
    places = [{"path": f"{HOME}/tidydates/{name}.py", "line": names[name]} for name in names]
    session.tool("call_search", status="completed", locations=places, rawOutput={"matches": 2})
    session.update("usage_update", used=7412, size=200000)


def run_failing_tests(session: Session) -> None:
    """Run the tests: a terminal with colours, and characters cut in two by its chunks."""
    session.command("call_test", "term_test", "pytest -v")
    session.output("term_test", crlf(f"{BOLD}collected 8 items{PLAIN}\n\n{pytest_lines(FAILING)}"))
    session.output("term_test", crlf(FAILURES))
    session.exited("term_test", exitCode=1)
    session.tool("call_test", status="failed", rawOutput={"exitCode": 1})
    session.update("session_info_update", title="Day-first dates in parse_date")
    session.update("plan_update", plan=first_plan("completed", "in_progress", "pending"))


def repair(session: Session) -> None:
    """Record the explanation, the edit that the user allows, and the tests once more."""
    session.think(
        "thought_2",
        "`31.12.2024` matches NUMERIC and its first number is taken for the year. `März` never "
        "matches NAMED: the class holds ASCII letters only. Both dates were errors before, so "
        "nobody can depend on what they gave.",
    )
    session.say(
        "agent_2",
        prose("""
            The parser **goes by position** where it should go by shape:

            1. `31.12.2024` matches `NUMERIC`, so it asks for `date(31, 12, 2024)`.
            2. `1 März 2025` does not match `NAMED`, because `[a-z]` knows no `ä`.

            A number of four digits can only be the year, and that settles the order:

            ```python
            first, month, last = match.groups()
            year, day = (first, last) if len(first) == 4 else (last, first)
            ```

            For the names I would fold accents before the look-up. Every date that could be
            read so far is read as before.
        """),
    )
    edit_with_permission(session)
    session.command("call_retest", "term_retest", "pytest -v")
    session.output("term_retest", crlf(pytest_lines(set())))
    session.output("term_retest", crlf(f"\n{GREEN}{BOLD}8 passed{PLAIN}{GREEN} in 0.07s{PLAIN}\n"))
    session.exited("term_retest", exitCode=0)
    session.tool("call_retest", status="completed", rawOutput={"exitCode": 0})
    session.update("plan_update", plan=first_plan("completed", "completed", "completed"))
    session.say(
        "agent_3",
        prose("""
            All eight tests pass now.

            | input | before | now |
            | --- | --- | --- |
            | `31.12.2024` | `ValueError` | 2024-12-31 |
            | `1 März 2025` | `ValueError` | 2025-03-01 |
            | `2024-12-31` | 2024-12-31 | 2024-12-31 |

            *Not covered:* names that begin differently in English, such as `Mai` or `août`.
        """),
    )
    cost = {"amount": 0.0431, "currency": "USD"}
    session.update("usage_update", used=15820, size=200000, cost=cost)
    session.state("idle", stopReason="end_turn")


def edit_with_permission(session: Session) -> None:
    """Edit the parser after asking."""
    path = f"{HOME}/tidydates/parser.py"
    change = file_changes((path, OLD_PARSER, new_parser()))
    title = "Edit tidydates/parser.py"
    places = [{"path": path, "line": 13}]
    session.tool("call_edit", title=title, name="edit", kind="edit", locations=places)
    question = session.ask(
        "Change tidydates/parser.py?",
        description="Reads the year by its four digits, and folds accents in month names.",
        subject={"type": "tool_call", "toolCall": {"toolCallId": "call_edit", "content": [change]}},
    )
    session.state("requires_action")
    session.recording.wait(3500, 5000)
    session.recording.reply(question, "once")
    session.state("running")
    session.tool("call_edit", status="in_progress")
    session.recording.wait(20, 60)
    session.tool("call_edit", status="completed", rawOutput={"replaced": len(PARSER_EDITS)})


def edit_freely(session: Session) -> None:
    """Let the agent edit without asking from here on."""
    session.recording.wait(4000, 7000)
    options = config_options("code")
    choice = {"configId": "mode", "type": "id", "value": "code"}
    number = session.recording.request(
        "session/set_config_option", sessionId=session.session_id, **choice
    )
    session.update("config_option_update", configOptions=options)
    session.recording.answer(number, result={"configOptions": options})


def check_the_calendar(session: Session) -> None:
    """Record the second prompt, echoed in chunks after its response, and a progress bar."""
    wish = "Good. Now make sure that every day of the calendar survives the round trip, add a line "
    content = [text_block(wish), text_block("to the changelog, and push the branch.")]
    session.recording.wait(9000, 12000)
    prompt = session.prompt(*content)
    session.recording.wait(20, 60)
    session.recording.answer(prompt, result={"messageId": "user_2"})
    for block in content:
        session.update("user_message_chunk", messageId="user_2", content=block)
    session.state("running")
    thought = text_block("146,097 days make the Gregorian cycle: four hundred years are enough.")
    session.update("agent_thought", messageId="thought_3", content=[thought])
    session.update(
        "plan_update",
        plan=plan(
            "plan_calendar",
            ("Round trip over one Gregorian cycle", "high", "in_progress"),
            ("Changelog", "low", "pending"),
            ("Commit and push", "medium", "pending"),
        ),
    )
    script, changelog = f"{HOME}/scripts/roundtrip.py", f"{HOME}/CHANGELOG.md"
    session.quick(
        "call_write",
        [file_changes((script, "", ROUNDTRIP), (changelog, OLD_CHANGELOG, NEW_CHANGELOG))],
        title="Write scripts/roundtrip.py and CHANGELOG.md",
        name="edit",
        kind="edit",
        locations=[{"path": script, "line": 1}, {"path": changelog, "line": 6}],
    )
    added: Fields = {"type": "command", "name": "roundtrip", "description": "Check the calendar"}
    session.update("available_commands_update", availableCommands=[*COMMANDS, added])
    session.command("call_trip", "term_trip", "python scripts/roundtrip.py")
    session.output("term_trip", progress_bar("1600-1999", 100))
    session.output("term_trip", "\r\n146,097 days, 3 ways: all came back ✔\r\n")
    session.exited("term_trip", exitCode=0)
    session.tool("call_trip", status="completed", rawOutput={"exitCode": 0})
    watch_in_the_background(session)
    compact(session)


WATCHER: Fields = {"type": "terminal", "terminalId": "term_watch"}


def watch_in_the_background(session: Session) -> None:
    """Start a command that goes on after its tool call has ended."""
    session.command("call_watch", "term_watch", "ptw --quiet")
    session.output("term_watch", "watching tidydates, tests …\r\n")
    session.tool("call_watch", status="completed", rawOutput={"background": True})
    session.state("running", background=[WATCHER])


def compact(session: Session) -> None:
    """Fill the context up and have it summed up; then a vendor reports its timing."""
    session.update("usage_update", used=164300, size=200000)
    session.update(
        "notice",
        severity="warning",
        title="The context is 82 % full",
        description="Earlier work is summed up now; nothing is lost on disk.",
    )
    session.update("compaction_update", compactionId="compaction_1", status="in_progress")
    session.summarise(
        "compaction_1",
        "`parse_date` reads day-first dates and accents since the edit of parser.py; eight tests "
        "pass; scripts/roundtrip.py covers one Gregorian cycle. Left to do: commit and push.",
    )
    session.update("compaction_update", compactionId="compaction_1", status="completed")
    cost = {"amount": 0.2175, "currency": "USD"}
    session.update("usage_update", used=21050, size=200000, cost=cost)
    session.update("_example.com/timing", firstTokenMs=412, tokensPerSecond=71.5)


def decline_the_push(session: Session) -> None:
    """Decline a command; the agent says so and leaves the watcher running."""
    command = "git add -A && git commit -qm 'Read day-first dates' && git push"
    session.tool("call_push", title=f"Run {command}", name="run_command", kind="execute")
    question = session.ask(
        "Commit everything and push the branch?",
        subject={"type": "command", "command": command, "cwd": HOME, "toolCallId": "call_push"},
    )
    session.state("requires_action", background=[WATCHER])
    session.recording.wait(2500, 4000)
    session.recording.reply(question, "no")
    session.state("running", background=[WATCHER])
    session.tool("call_push", status="failed", content=[shown("Declined by the user.")])
    session.update(
        "plan_update",
        plan=plan(
            "plan_calendar",
            ("Round trip over one Gregorian cycle", "high", "completed"),
            ("Changelog", "low", "completed"),
            ("Commit and push", "medium", "cancelled"),
        ),
    )
    session.say(
        "agent_4",
        prose("""
            Every day of four hundred years comes back in all three spellings, and the changelog
            has its line. As you declined it, I did **not** commit or push; this is what waits:

            ```console
            $ git status --short
             M CHANGELOG.md
             M tidydates/parser.py
            ?? scripts/roundtrip.py
            ```

            The test watcher still runs in the background.
        """),
    )
    reviewed = {"example.com/reviewed": True}
    session.update("agent_message", messageId="agent_4", _meta=reviewed)
    session.state("idle", stopReason="end_turn", background=[WATCHER])
    session.recording.wait(3000, 4000)
    session.output("term_watch", f"change in CHANGELOG.md\r\n{GREEN}8 passed{PLAIN} in 0.07s\r\n")
    session.update("session_info_update", updatedAt="2026-03-12T09:30:53Z")


def cancel_the_measurement(session: Session) -> None:
    """Record the third prompt, cancelled while a command runs and a question is open."""
    session.recording.wait(5000, 7000)
    content = text_block("How fast is it? Measure a million dates.")
    prompt = session.prompt(content)
    session.recording.wait(20, 60)
    session.update("user_message", messageId="user_3", content=[content])
    session.recording.answer(prompt, result={"messageId": "user_3"})
    session.state("running", background=[WATCHER])
    session.say("agent_5", "Measuring now, with the parser as it is on the branch.")
    session.command("call_bench", "term_bench", "python -m tidydates.bench --dates 1_000_000")
    session.output("term_bench", progress_bar("1,000,000 dates", 40))
    title = "Install pyperf"
    session.tool("call_install", title=title, name="run_command", kind="execute", status="pending")
    tool_call = {"toolCallId": "call_install", "rawInput": {"command": "pip install pyperf"}}
    question = session.ask(
        "Install pyperf into the environment of the project?",
        subject={"type": "tool_call", "toolCall": tool_call},
    )
    session.recording.wait(2000, 3000)
    session.recording.send(method="session/cancel", params={"sessionId": session.session_id})
    session.recording.reply(question, None)
    late = session.prompt(text_block("Leave the measurement out, please."))
    stop(session, late)


def stop(session: Session, late: int) -> None:
    """Record what still comes after a cancel, and what comes while the session is idle."""
    session.output("term_bench", "^C\r\nstopped after 412,000 dates\r\n")
    session.recording.answer(late, error={"code": -32000, "message": "The session is stopping"})
    session.exited("term_bench", exitCode=None, signal="SIGINT")
    session.tool("call_bench", status="cancelled", rawOutput={"dates": 412000, "seconds": 1.03})
    session.tool("call_install", status="cancelled")
    session.say("agent_6", "Stopped: about 400,000 dates a second until then.")
    session.state("idle", stopReason="cancelled", background=[WATCHER])
    session.recording.wait(1500, 2500)
    session.exited("term_watch", exitCode=0)
    session.state("idle", stopReason="cancelled", background=[])
