"""Sessions of ACP v1 that are opened, loaded and resumed."""

from __future__ import annotations

from v1_traffic import (
    HISTORY,
    LIVE,
    LOAD,
    MODES,
    SESSION,
    agent,
    asks,
    chunk,
    conversation,
    echo,
    ended,
    opened,
    options,
    play,
    prompt,
    said,
    told,
)

from acp_client import wire


def test_a_session_is_there_when_it_is_opened() -> None:
    """A new or forked session exists, empty; one without an id is refused."""
    assert conversation(told(*opened())) == []
    fork = [asks(1, "session/fork"), agent(id=1, result={"sessionId": "t", "modes": MODES})]
    store = play([*opened(), *fork, asks(2, "session/resume"), agent(id=2, result=None)])
    assert store.sessions == (SESSION, "t")
    assert options(store.snapshot("t")) == [("mode", "ask")]
    asked, _ = opened()
    refused = play([asked, agent(id=1, result={"sessionId": 5}), asked, agent(id=1, error=5)])
    assert refused.sessions == ()
    assert [one.kind for one in refused.problems] == ["rejected", "invalid_message"]


def test_a_loaded_session_shows_each_message_once() -> None:
    """Loading tells the history again from empty, with the same ids."""
    live = told(*LIVE)
    loading = told(*LIVE, LOAD, *HISTORY[:2])
    assert loading.replaying
    assert conversation(loading) == [("user_message", "hello"), ("agent_message", "Hi")]
    loaded = told(*LIVE, LOAD, *HISTORY, agent(id=2, result={"modes": MODES}))
    assert not loaded.replaying
    assert loaded.entries == live.entries
    assert options(loaded) == [("mode", "ask")]


def test_a_session_that_is_loaded_first_goes_on() -> None:
    """After the history, a prompt is one more message, echo or not."""
    frames = [LOAD, *HISTORY, agent(id=2, result=None), prompt(3, "hello"), echo("hello")]
    snapshot = told(*frames, chunk("again"))
    assert conversation(snapshot)[-2:] == [("user_message", "hello"), ("agent_message", "again")]
    assert len(snapshot.entries) == 6


def test_a_refused_load_brings_back_what_was_there() -> None:
    """An error ends the replay and changes nothing, also for what follows."""
    refused = [LOAD, *HISTORY[:2], agent(id=2, error={"code": 1, "message": "no"})]
    snapshot = told(*LIVE, *refused, chunk("!"))
    assert conversation(snapshot) == conversation(told(*LIVE, chunk("!")))
    assert not snapshot.replaying


def test_only_the_newest_load_ends_the_replay() -> None:
    """The answer to an older load leaves the replay alone, and an error restores the first."""
    again = asks(3, "session/load", cwd="/", mcpServers=[])
    frames = [*LIVE, LOAD, HISTORY[0], again, HISTORY[0], agent(id=2, result={})]
    assert told(*frames).replaying
    assert not told(*frames, agent(id=3, result={})).replaying
    failed = told(*frames, agent(id=3, error={"code": 1, "message": "no"}), chunk("!"))
    assert conversation(failed) == conversation(told(*LIVE, chunk("!")))


RESUME = asks(2, "session/resume", cwd="/", mcpServers=[])


def test_a_resume_that_replays_shows_each_message_once() -> None:
    """A history before the answer to a resume replaces what was there."""
    live = told(*LIVE)
    resuming = told(*LIVE, RESUME, *HISTORY[:2])
    assert resuming.replaying
    resumed = told(*LIVE, RESUME, *HISTORY, agent(id=2, result={}))
    assert not resumed.replaying
    assert resumed.entries == live.entries


def test_a_resume_without_a_history_keeps_what_was_there() -> None:
    """Updates that are not content begin no replay, and content after the answer is news."""
    between = [said("usage_update", used=1, size=2), said("session_info_update", title="t")]
    resumed = told(*LIVE, RESUME, *between, agent(id=2, result={"modes": MODES}), chunk("!"))
    assert list(resumed.entries)[:-1] == list(told(*LIVE).entries)
    assert conversation(resumed)[-1] == ("agent_message", "!")
    assert options(resumed) == [("mode", "ask")]


def test_what_is_reported_before_a_history_is_kept() -> None:
    """The lists that come between a resume and its history are those of the session."""
    between = [said("available_commands_update", availableCommands=[{"name": "a"}])]
    between += [said("current_mode_update", currentModeId="code")]
    found = told(*LIVE, RESUME, *between, *HISTORY, agent(id=2, result=None))
    assert len(found.available_commands) == 1
    assert options(found) == [("mode", "code")]


def test_a_refused_resume_brings_back_what_was_there() -> None:
    """An error undoes a replay that has begun, and is nothing to a session without one."""
    refusal = agent(id=2, error={"code": 1, "message": "no"})
    assert told(*LIVE, RESUME, *HISTORY[:2], refusal) == told(*LIVE)
    assert told(*LIVE, RESUME, refusal) == told(*LIVE)


def test_a_prompt_that_is_open_during_a_replay() -> None:
    """A session that works goes on working while it is loaded, and ends with the answer."""
    load = asks(3, "session/load", cwd="/", mcpServers=[])
    frames = [prompt(1, "hello"), load, *HISTORY]
    assert told(*frames).state == wire.StateUpdate("running")
    ended_ = told(*frames, ended(1), agent(id=3, result=None))
    assert ended_.state == wire.StateUpdate("idle", stop_reason="end_turn")
    failed = told(*frames, ended(1), agent(id=3, error={"code": 1, "message": "no"}))
    assert failed.state == wire.StateUpdate("idle", stop_reason="end_turn")
