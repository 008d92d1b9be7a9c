"""One self-contained HTML page of a recording: for a bug report, or to look at.

The page is complete without its script, which moves a slider through time. It loads nothing, and
its security policy names the hashes of the only style and the only script that may run, so what an
agent sent is never more than text.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from importlib.resources import files
from tempfile import SpooledTemporaryFile
from typing import Any, BinaryIO, Final, cast

from .._errors import Problem
from .._json import encode
from .._recordings import Frame
from .._text import escape, escape_json
from .._version import __version__
from .._versions import Protocol
from .leaves import text_at
from .page_parts import (
    Fields,
    Room,
    badge,
    element,
    entry_body,
    entry_heading,
    inline,
    message_text,
    plan_part,
    terminal_part,
)
from .page_timeline import SessionTimeline, Timeline, lengths, plain, timeline_of
from .spool import IN_MEMORY, Spool

_MOST_PROBLEMS: Final = 200


def to_html(
    recording: Iterable[Frame], *, title: str = "Conversation", protocol: Protocol | None = None
) -> str:
    """Return a recording as one HTML page that needs no network.

    It shows the transcript of each session with tool calls, diffs, terminals and plans, and has a
    slider through time. Long texts are cut, and say so. `protocol` is what the agent speaks, where
    the recording does not say.
    """
    with SpooledTemporaryFile(max_size=IN_MEMORY) as file:
        spool = Spool(cast("BinaryIO", file))
        count = sum(1 for _ in spool.through(recording))
        timeline = timeline_of(spool.frames(), count, protocol)
    return _page(timeline, title)


def _page(timeline: Timeline, title: str) -> str:
    style, script = (_resource(name) for name in ("page.css", "page.js"))
    sessions = [timeline.store.snapshot(one) for one in timeline.store.sessions]
    room, shown, moves = Room(), [], []
    for number, snapshot in enumerate(sessions):
        document = plain(snapshot)
        for terminal, one in zip(document["terminals"], snapshot.terminals, strict=True):
            terminal["text"] = one.text
        moved = timeline.sessions.get(snapshot.session_id) or SessionTimeline(0)
        shown.append(_session(number, document, moved, timeline, room))
        moves.append(_moves(moved, document))
    data = {"moments": timeline.moments, "sessions": moves}
    return _SHELL.format(
        policy=f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'",
        title=inline(title),
        style=style,
        script=script,
        facts=_facts(timeline),
        sessions="".join(shown) or element("p", "The recording has no session."),
        problems=_problems(timeline.store.problems),
        version=__version__,
        # In a data block, `<` must not begin a tag; the escape is the same JSON.
        timeline=escape_json(encode(data).decode()).replace("<", "\\u003c"),
    )


def _resource(name: str) -> str:
    return (files("acp_client._log_tools") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _facts(timeline: Timeline) -> str:
    store = timeline.store
    info = getattr(store.agent, "info", None)
    agent = f"{info.title or info.name} {info.version}" if info is not None else "not said"
    facts = {
        "Agent": agent,
        "Protocol": store.protocol,
        "Messages": f"{timeline.frames:,}",
        "Sessions": f"{len(store.sessions):,}",
        "Problems": f"{sum(store.problem_counts.values()):,}",
    }
    return "".join(
        element("span", f"{name} {element('b', inline(str(value)))}")
        for name, value in facts.items()
    )


def _session(
    number: int, document: Fields, moved: SessionTimeline, timeline: Timeline, room: Room
) -> str:
    """Return one session: its heading, its plans, its transcript, and how it stands at the end."""
    name = text_at(document, "info", "title") or "Session"
    state = text_at(document, "state", "state")
    heading = f"{inline(name)} {element('span', inline(document['sessionId']), class_='kind')} "
    terminals = {one["terminalId"]: one for one in document["terminals"]}
    plans = "".join(element("div", plan_part(one, room)) for one in document["plans"])
    entries = [
        _entry(entry, terminals, _line(moved, place, timeline), room)
        for place, entry in enumerate(document["entries"])
    ]
    inside = element("h2", heading + badge(state), id=f"title-{number}")
    inside += element("ol", "\n".join(entries), class_="entries")
    inside += f"<h3>Plans</h3>{element('div', plans, class_='plans')}" if plans else ""
    inside += _loose_terminals(document, terminals, room) + _ending(document)
    attributes = {"id": f"session-{number}", "aria_labelledby": f"title-{number}"}
    return element("section", inside, **attributes)


def _line(moved: SessionTimeline, place: int, timeline: Timeline) -> str:
    versions = moved.entries.get(place)
    return f"line {timeline.moments[versions[0][0]][0]}" if versions else ""


def _entry(entry: Fields, terminals: dict[str, Fields], line: str, room: Room) -> str:
    heading = entry_heading(entry) + element("span", line, class_="line")
    body = element("div", entry_body(entry, terminals, room))
    return element(
        "li",
        element("p", heading, class_="heading") + body,
        class_=f"entry {entry['type']}",
    )


def _loose_terminals(document: Fields, terminals: dict[str, Fields], room: Room) -> str:
    """Return the terminals that no tool call shows."""
    shown = {
        text_at(item, "terminalId")
        for entry in document["entries"]
        if entry["type"] == "tool_call"
        for item in entry["content"]
    }
    loose = [terminal_part(one, room) for key, one in terminals.items() if key not in shown]
    return f"<h3>Terminals</h3>{''.join(loose)}" if loose else ""


def _ending(document: Fields) -> str:
    """Return what is still open at the end: prompts without an echo, permissions, the usage."""
    rows = [
        ("Prompt " + prompt["status"], message_text(prompt) or text_at(prompt, "error", "message"))
        for prompt in document["prompts"]
        if not prompt["echoed"]
    ]
    rows += [("Permission asked", one["title"]) for one in document["permissions"]]
    rows += [("Notice", text_at(one, "title")) for one in document["notices"]]
    if "usage" in document:
        usage = document["usage"]
        rows.append(("Context", f"{usage['used']:,} of {usage['size']:,} tokens"))
    stop = text_at(document, "state", "stopReason")
    rows += [("Stopped because", stop)] if stop else []
    cells = "".join(
        element("tr", element("th", inline(name), scope="row") + element("td", inline(text)))
        for name, text in rows
    )
    return (
        element("div", f"<h3>At the end</h3>{element('table', cells)}", class_="end")
        if rows
        else ""
    )


def _problems(problems: Sequence[Problem]) -> str:
    if not problems:
        return ""
    rows = "".join(
        element("tr", "".join(element("td", inline(str(cell))) for cell in cells))
        for cells in (
            (one.line, one.kind, one.path, one.message) for one in problems[:_MOST_PROBLEMS]
        )
    )
    head = "".join(element("th", name, scope="col") for name in ("Line", "Kind", "Path", "What"))
    return f"<section><h2>Problems</h2>{element('table', element('tr', head) + rows)}</section>"


def _moves(moved: SessionTimeline, document: Fields) -> Fields:
    """Return what the slider needs of a session: lengths instead of texts, where they do."""
    finals = [escape(message_text(entry)) for entry in document["entries"]]
    texts = {one["terminalId"]: escape(one["text"]) for one in document["terminals"]}
    entries = {
        str(place): lengths(versions, finals[place])
        for place, versions in moved.entries.items()
        if place < len(finals)
    }
    terminals: dict[str, Any] = {
        key: lengths(versions, texts[key])
        for key, versions in moved.terminals.items()
        if key in texts
    }
    return {
        "first": moved.first,
        "entries": entries,
        "terminals": terminals,
        "plans": {str(place): first for place, first in moved.plans.items()},
        "states": moved.states,
    }


_SHELL: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#transcript">Skip to the transcript</a>
<header><div><h1>{title}</h1><p class="facts">{facts}</p></div></header>
<nav class="bar" aria-label="Time"><div>
<label for="moment">Time</label>
<button id="back" type="button" aria-label="One moment back">&lsaquo;</button>
<input id="moment" type="range" min="0" max="0" value="0" step="1" disabled>
<button id="forward" type="button" aria-label="One moment forward">&rsaquo;</button>
<output id="when" for="moment"></output>
<button id="details" type="button" aria-pressed="false">Details</button>
</div></nav>
<main id="transcript" tabindex="-1">
{sessions}
{problems}
<footer>Made by acp-client {version}. This page loads nothing from elsewhere.</footer>
</main>
<script type="application/json" id="timeline">{timeline}</script>
<script>{script}</script>
</body>
</html>
"""
