"""HTML pages of recordings: whole without a script, harmless, and looked at in a real browser."""

from __future__ import annotations

import re
import time
from base64 import b64encode
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import chromium
import pytest
import strategies
from click.testing import CliRunner
from hypothesis import given
from log_traffic import RECORDINGS, frames_of, read
from traffic import BUNDLED, chunk_line, permission_line, update_line

from acp_client import to_html
from acp_client._cli.commands import commands

CODING = BUNDLED / "coding-session.ndjson"

EVIL = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    '"><svg onload=window.hacked=1>',
    "'><a href=javascript:window.hacked=1>x</a>",
    "<!--<script>",
    "]]><style>body{display:none}</style>",
    "\x1b[2J\u202e\u0000",
)


def evil_lines() -> list[bytes]:
    """Put markup into every place of a conversation."""
    lines = []
    for text in EVIL:
        item = {"type": "content", "content": {"type": "text", "text": text}}
        image = {"type": "image", "data": text, "mimeType": text, "uri": text}
        link = {"type": "resource_link", "uri": text, "name": text}
        resource = {"type": "resource", "resource": {"uri": text, "text": text}}
        diff = {
            "type": "diff",
            "changes": [{"operation": "add", "path": text}],
            "patch": {"format": "git_patch", "text": f"+{text}\n@@ {text}"},
        }
        terminal = {"type": "terminal", "terminalId": text}
        old_diff = {"type": "diff", "path": text, "oldText": "a", "newText": text}
        entry = {"content": text, "priority": text, "status": text}
        lines += [
            chunk_line(text, message_id=text),
            update_line("agent_message", messageId="m", content=[image, link, resource]),
            update_line(
                "tool_call_update",
                toolCallId=text,
                title=text,
                kind=text,
                status=text,
                content=[
                    item,
                    diff,
                    old_diff,
                    {"type": text},
                    terminal,
                ],
                rawInput={text: text},
                rawOutput=text,
                locations=[{"path": text}],
            ),
            update_line(
                "terminal_update",
                terminalId=text,
                command=text,
                output={"data": b64encode(text.encode()).decode()},
                exitStatus={"signal": text},
            ),
            update_line("plan_update", plan={"type": "items", "planId": text, "entries": [entry]}),
            update_line("session_info_update", title=text),
            update_line("notice", severity=text, title=text),
            update_line("compaction_update", compactionId=text, status=text, error=text),
            update_line(f"_{text}", payload=text),
            update_line("state_update", state=f"_{text}"),
            permission_line(text, title=text),
            chunk_line("x", session=text),
        ]
    return lines


class Tags(HTMLParser):
    """Collects what a page is made of."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take a tag."""
        self.found.append((tag, dict(attrs)))


def tags(html: str) -> list[tuple[str, dict[str, str | None]]]:
    """Return the tags of a page."""
    parser = Tags()
    parser.feed(html)
    return parser.found


def assert_harmless(html: str) -> None:
    """Find nothing in a page that its own template did not put there."""
    found = tags(html)
    names = [name for name, _ in found]
    assert names.count("script") == 2
    assert names.count("style") == 1
    assert not {"a", "iframe", "object", "embed", "link", "form", "svg", "base"} & (
        set(names) - {"a"}
    )
    assert names.count("a") == 1
    for name, attributes in found:
        assert not [key for key in attributes if key.startswith("on") or key == "style"]
        if name == "img":
            assert str(attributes["src"]).startswith("data:image/")
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e]", html)


def test_markup_of_an_agent_is_text() -> None:
    """Whatever place it is in, markup is shown and never parsed."""
    html = to_html(frames_of(*evil_lines()), title=EVIL[0])
    assert_harmless(html)
    assert html.count("&lt;script&gt;") > 20


@given(strategies.sessions(well_formed=False, max_frames=25))
def test_any_recording_becomes_a_harmless_page(frames: list[Any]) -> None:
    """Every recording has a page."""
    assert_harmless(to_html(frames_of(*frames)))


@pytest.mark.parametrize("path", RECORDINGS)
def test_recordings_become_pages(path: Path) -> None:
    """A page of a recording has its entries, and stays small."""
    frames = read(path)
    html = to_html(frames)
    assert_harmless(html)
    assert len(html.encode()) < 10_000_000
    assert 'http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;' in html or (
        "default-src 'none'" in html
    )


def test_what_is_seen() -> None:
    """Speakers, tool calls, diffs, terminals, plans, and what is left at the end."""
    html = to_html(read(CODING), title="A title")
    for text in (
        "<h1>A title</h1>",
        ">User<",
        ">Thought<",
        ">Tool call<",
        'class="diff"',
        'class="terminal"',
        'class="plan"',
        "Stopped because",
        "Example Agent 2.1.0",
    ):
        assert text in html  # fmt: skip


def test_long_texts_are_cut() -> None:
    """A page of very much text says how much is missing."""
    frames = frames_of(*(chunk_line("x" * 900_000, f"m{number}") for number in range(30)))
    html = to_html(frames)
    assert len(html) < 10_000_000
    assert "more characters" in html


def test_the_command(tmp_path: Path) -> None:
    """`acp-client page` writes the page under the name of its file."""
    out = tmp_path / "x.html"
    result = CliRunner().invoke(commands, ["page", str(CODING), "-o", str(out)])
    assert result.exit_code == 0, result.output
    assert "<h1>coding-session.ndjson</h1>" in out.read_text(encoding="utf-8")
    assert "Examples:" in CliRunner().invoke(commands, ["page", "--help"]).stdout


# --- In a browser ---

in_a_browser = pytest.mark.skipif(chromium.PROGRAM is None, reason="Chromium is not installed")
SHOWN = "[...document.querySelectorAll('.entry')].filter((one) => !one.hidden).length"
NOW = "document.getElementById('when').textContent"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Any]:
    """Return what opens a page of frames."""
    managers = []

    def open_page(frames: Any) -> chromium.Tab:
        path = tmp_path / "page.html"
        path.write_text(to_html(frames), encoding="utf-8")
        manager = chromium.opened(path, tmp_path / "profile")
        managers.append(manager)
        return manager.__enter__()

    yield open_page
    for manager in managers:
        manager.__exit__(None, None, None)


@pytest.mark.long
@in_a_browser
def test_the_slider_moves_through_time(browser: Any) -> None:
    """By keyboard: Home shows the beginning, End all, and the text grows in between."""
    tab = browser(read(CODING))
    everything, text = tab.ask(SHOWN), tab.ask("document.body.innerText")
    assert everything > 20
    tab.ask("document.getElementById('moment').focus()")
    tab.press("Home", 36)
    assert tab.ask(SHOWN) == 0
    assert tab.ask(NOW).startswith("line 2 of 361, 2026-03-12")
    seen = []
    for _ in range(40):
        tab.press("ArrowRight", 39)
        seen.append(tab.ask("document.querySelector('.agent_thought .grows').textContent.length"))
    assert len(set(seen)) > 5
    assert 0 < tab.ask(SHOWN) < everything
    assert tab.ask("document.getElementById('moment').getAttribute('aria-valuetext')") == tab.ask(
        NOW
    )
    tab.press("End", 35)
    assert tab.ask(SHOWN) == everything
    assert tab.ask("document.body.innerText") == text


@pytest.mark.long
@in_a_browser
def test_nothing_of_an_agent_runs(browser: Any) -> None:
    """No script runs, nothing is loaded, and the page's own script is allowed by its hash."""
    tab = browser(frames_of(*evil_lines()))
    assert tab.ask("window.hacked") is None
    assert tab.ask("document.getElementById('moment').disabled") is False
    assert tab.ask("getComputedStyle(document.body).display") == "block"
    requests = [
        event["params"]["request"]["url"]
        for event in tab.events
        if event.get("method") == "Network.requestWillBeSent"
    ]
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    errors = [event for event in tab.events if event.get("method") == "Log.entryAdded"]
    assert errors == []


@pytest.mark.long
@in_a_browser
def test_the_page_is_there_without_a_script(browser: Any) -> None:
    """Names and roles: headings, a list of entries, a labelled slider, a way to skip the bar."""
    tab = browser(read(CODING))
    assert tab.ask("document.documentElement.lang") == "en"
    assert tab.ask("document.querySelector('label[for=moment]').textContent") == "Time"
    assert tab.ask("document.querySelectorAll('ol.entries > li').length") > 20
    assert tab.ask("document.querySelector('section').getAttribute('aria-labelledby')") == "title-0"
    tab.press("Tab", 9)
    assert tab.ask("document.activeElement.className") == "skip"


@pytest.mark.long
@in_a_browser
def test_twenty_thousand_updates_are_soon_seen(browser: Any, tmp_path: Path) -> None:
    """A page of 20,000 updates has less than 10 MB, and is painted within two seconds."""
    lines = [chunk_line(f"word{number} ", f"m{number // 100}") for number in range(20_000)]
    tab = browser(frames_of(*lines))
    assert (tmp_path / "page.html").stat().st_size < 10_000_000
    painted = tab.ask("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
    assert painted <= 2_000
    started = time.monotonic()
    tab.ask("document.getElementById('moment').focus()")
    tab.press("Home", 36)
    assert tab.ask(SHOWN) < 10
    assert time.monotonic() - started < 5
