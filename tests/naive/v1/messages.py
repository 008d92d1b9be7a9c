"""Which message a chunk of v1 belongs to, and whether it is the echo of a prompt."""

from __future__ import annotations

from typing import Any

Talk = dict[str, Any]


def fresh_talk() -> Talk:
    """Return what is known of the messages of a session before the first one."""
    return {
        "open": {},  # the message that a chunk without an id goes on with, by kind and speaker
        "made": {},  # ids that were made, by kind
        "in tail": False,  # the turn is over, and its last message may still get a rest
        "awaited": [],  # prompts whose echo may come
        "held": [],  # chunks that may be the beginning of an echo
    }


def speaker_of(meta: Any) -> str:
    """Return the tool call whose subagent speaks; empty for the agent itself."""
    adapter = meta.get("claudeCode") if isinstance(meta, dict) else None
    parent = adapter.get("parentToolUseId") if isinstance(adapter, dict) else None
    return parent if isinstance(parent, str) else ""


def made_id(talk: Talk, kind: str) -> str:
    """Make an id for a message that came without one."""
    talk["made"][kind] = talk["made"].get(kind, 0) + 1
    return f"inferred:{talk['made'][kind]}"


def close_messages(talk: Talk) -> None:
    """Let no chunk go on with what was said before."""
    talk["open"].clear()
    talk["in tail"] = False


def close_tail(talk: Talk) -> None:
    """Something came after the end of a turn that is no chunk: its messages are over."""
    if talk["in tail"]:
        close_messages(talk)


def close_of(talk: Talk, speaker: str) -> None:
    """Close the messages of one speaker."""
    for kind, who in list(talk["open"]):
        if who == speaker:
            del talk["open"][kind, who]


def place(talk: Talk, kind: str, chunk: dict[str, Any], known: Any) -> str | None:
    """Return the id of the message that a chunk belongs to; None drops an empty chunk."""
    given, speaker = chunk.get("messageId"), speaker_of(chunk.get("_meta"))
    found = given or talk["open"].get((kind, speaker))
    if is_empty(chunk["content"]):
        return found if found is not None and (kind, found) in known else None
    if found is None:
        found = made_id(talk, kind)
    if (kind, found) not in known:
        close_of(talk, speaker)
    talk["open"][kind, speaker] = found
    return str(found)


def is_empty(block: dict[str, Any]) -> bool:
    """Whether a block is text without a character."""
    return block.get("type") == "text" and block.get("text") == ""


def is_blank(block: dict[str, Any]) -> bool:
    """Whether a block is text that may stand between the blocks of an echo."""
    return block.get("type") == "text" and not block["text"].strip()


# -------- echoes
#
# A prompt is awaited until its echo is complete, or until another prompt is sent after its answer.
# `at` is the block that comes next, and `said` how much of its text was echoed already.


def await_echo(talk: Talk, request_id: Any, blocks: list[Any]) -> None:
    """Await the echo of a prompt."""
    last = talk["awaited"][-1:]
    talk["awaited"] = [one for one in talk["awaited"] if not one["answered"] or one in last]
    prompt = {"id": request_id, "blocks": blocks, "at": 0, "said": "", "answered": False}
    talk["awaited"].append(prompt)
    talk["held"] = []


def prompt_was_answered(talk: Talk, request_id: Any) -> None:
    """Note that a prompt was answered; its echo may still come."""
    for prompt in talk["awaited"]:
        prompt["answered"] = prompt["answered"] or prompt["id"] == request_id


def not_echoes(talk: Talk, chunk: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the chunks that turn out to be no echo: none, this one, or those held before it."""
    further = [
        follow(prompt, chunk["content"]) if prompt["said"] or not talk["held"] else None
        for prompt in talk["awaited"]
    ]
    whole = [index for index, prompt in enumerate(further) if prompt and not prompt["said"]]
    waiting = [prompt | {"said": ""} for prompt in talk["awaited"]]
    if whole:
        found = further[whole[0]]
        is_over = found is None or found["at"] == len(found["blocks"])
        talk["awaited"] = [*([] if is_over else [found]), *waiting[whole[0] + 1 :]]
        talk["held"] = []
        return []
    if any(further):
        pairs = zip(further, waiting, strict=True)
        talk["awaited"] = [prompt or other for prompt, other in pairs]
        talk["held"].append(chunk)
        return []
    held, talk["held"], talk["awaited"] = talk["held"], [], waiting
    if held:
        return [*held, *not_echoes(talk, chunk)]
    return [] if talk["awaited"] and is_blank(chunk["content"]) else [chunk]


def follow(prompt: dict[str, Any], block: dict[str, Any]) -> dict[str, Any] | None:
    """Return a prompt with its echo one chunk further; None where the chunk does not fit."""
    for at in range(prompt["at"], len(prompt["blocks"])):
        wanted = prompt["blocks"][at]
        said = prompt["said"] if at == prompt["at"] else ""
        if wanted == block:
            return prompt | {"at": at + 1, "said": ""}
        if wanted.get("type") != "text" or block.get("type") != "text":
            continue
        for grown in (said + block["text"], block["text"]):
            if grown.startswith(said) and wanted["text"].startswith(grown) and grown:
                is_done = grown == wanted["text"]
                return prompt | {"at": at + is_done, "said": "" if is_done else grown}
    return None
