"""An agent made with the official Python SDK: it speaks ACP v1 and repeats each prompt.

`python sdk_agent.py` talks over standard input and output; clients start it.
"""

from __future__ import annotations

import asyncio
from typing import Any

import acp


class Parrot:
    """Answers each prompt with its own text, a word at a time."""

    def __init__(self) -> None:
        self._client: Any = None

    def on_connect(self, conn: Any) -> None:
        """Keep the client's side of the connection."""
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> acp.InitializeResponse:
        """Agree on the version of the protocol."""
        return acp.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd: str, **_: Any) -> acp.NewSessionResponse:
        """Begin a session."""
        return acp.NewSessionResponse(session_id="parrot")

    async def prompt(self, prompt: list[Any], session_id: str, **_: Any) -> acp.PromptResponse:
        """Send the words of the prompt back."""
        for word in prompt[0].text.split():
            update = acp.update_agent_message_text(f"{word} ")
            await self._client.session_update(session_id=session_id, update=update)
        return acp.PromptResponse(stop_reason="end_turn")


if __name__ == "__main__":
    agent: Any = Parrot()  # it has what this conversation needs of an `acp.Agent`
    asyncio.run(acp.run_agent(agent))
