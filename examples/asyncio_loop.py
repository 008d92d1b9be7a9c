r"""One question to an agent, with asyncio: `python asyncio_loop.py [--allow] QUESTION AGENT ...`.

Prints what the agent says while it says it, and ends when the agent comes to rest. Permissions are
declined, or allowed with `--allow`. Ctrl-C cancels. To try it without an agent, from the root of
the checkout:

    python examples/asyncio_loop.py --allow "What is wrong?" \
        python examples/scripted_agent.py examples/recordings/coding-session.ndjson

Everything happens on one event loop: a task reads, another one draws, and the question is sent from
the main one. No thread is needed.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
from collections.abc import Callable
from typing import Any

import acp_client
from acp_client import wire

ENDED = wire.Error(-32000, "the agent's output ended")


class Client:
    """An agent's process and the store that follows it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self.pipe = process.stdin
        self._output = process.stdout
        self.store = acp_client.Store()
        self.store.on_data_to_send = self._write

    @classmethod
    async def start(cls, command: list[str]) -> Client:
        """Start an agent. Raises `RuntimeError` if that fails."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for us, not for the agent
            )
        except OSError as error:
            raise RuntimeError(f"{command[0]}: {error.strerror}") from error
        return cls(process)

    async def ask(self, call: Callable[..., object], *arguments: Any) -> Any:
        """Make a call of the store and wait for its answer. Raises `RuntimeError` for an error."""
        future = asyncio.get_running_loop().create_future()

        def settle(answer: object) -> None:
            if not future.done():  # it is, when the caller was interrupted
                future.set_result(answer)

        call(*arguments, on_answer=settle)
        answer = await future
        if isinstance(answer, wire.Error):
            reason = acp_client.escape(answer.message, keep_newlines=False)
            raise RuntimeError(f"the agent refused: {reason}")
        return answer

    async def read(self) -> None:
        """Feed the store until the agent's output ends."""
        while data := await self._output.read(65536):
            self.store.receive(data)
        self.store.end()
        self.store.disconnect(ENDED)

    def _write(self) -> None:
        self.pipe.write(self.store.data_to_send())  # this never waits


class Conversation:
    """One session, of which the answers are printed."""

    def __init__(self, store: acp_client.Store, session_id: str, allow: bool) -> None:
        self._store = store
        self._session_id = session_id
        self._allow = allow
        self.over = asyncio.Event()
        self._reader = store.reader(session_id)
        store.subscribe(self._follow, session=session_id)

    async def hold(self, question: str) -> None:
        """Ask, and print until the agent comes to rest."""
        self._store.prompt(self._session_id, [wire.TextContent(question)])
        drawing = asyncio.create_task(self._draw())
        try:
            await self.over.wait()
        except asyncio.CancelledError:
            self._store.cancel(self._session_id)
            raise
        finally:
            self._reader.close()
            await drawing

    def _follow(self, delivery: acp_client.Delivery) -> None:
        """Answer what is asked, and notice the end of the turn."""
        for change in delivery.changes:
            match change:
                case acp_client.Reset():
                    for asked in change.new.permissions:
                        self._answer(asked)
                case acp_client.PermissionsChanged():
                    for place in change.added:
                        self._answer(change.new[place])
                case acp_client.StateChanged(new=wire.StateUpdate(state="idle")):
                    self.over.set()
                case acp_client.PromptChanged(new=prompt) if prompt.error:
                    print(f"\n({prompt.status}: {acp_client.escape(prompt.error.message)})")
                    self.over.set()

    def _answer(self, asked: acp_client.Permission) -> None:
        """Answer as the command line says, with an option for this once if there is one."""
        kind = "allow" if self._allow else "reject"
        fitting = [option for option in asked.options if option.kind.startswith(kind)]
        once = [option for option in fitting if option.kind.endswith("once")]
        chosen = next(iter(once + fitting), None)
        option_id = chosen.option_id if chosen else None
        self._store.answer_permission(self._session_id, asked.request_id, option_id)
        words = f"{asked.title} -> {chosen.name if chosen else 'no answer'}"
        print(f"\n({acp_client.escape(words, keep_newlines=False)})")

    async def _draw(self) -> None:
        """Print what the agent says, as the reader has it."""
        async for delivery in self._reader:
            for change in delivery.changes:
                match change:
                    case acp_client.EntryAdded(new=acp_client.Message("agent_message") as said):
                        print("\n" + acp_client.escape(said.text), end="", flush=True)
                    case acp_client.TextAppended(key=("agent_message", _)):
                        print(acp_client.escape(change.text), end="", flush=True)
        print()


async def converse(question: str, command: list[str], allow: bool) -> None:
    """Start an agent, ask it one question, and end it."""
    client = await Client.start(command)
    reading = asyncio.create_task(client.read())
    try:
        await client.ask(client.store.initialize, "asyncio-example", "1")
        opened: wire.NewSessionResponse = await client.ask(client.store.new_session, os.getcwd())
        conversation = Conversation(client.store, opened.session_id, allow)
        reading.add_done_callback(lambda _: conversation.over.set())
        await conversation.hold(question)
    finally:
        client.pipe.close()
        await reading
        await client.process.wait()


def main() -> None:
    """Run an agent and ask it."""
    parser = argparse.ArgumentParser(description="Ask an ACP agent one question.")
    parser.add_argument("--allow", action="store_true", help="grant what the agent asks for")
    parser.add_argument("question")
    parser.add_argument("agent", nargs=argparse.REMAINDER, help="the agent's command")
    arguments = parser.parse_args()
    if not arguments.agent:
        parser.error("the agent's command is missing")
    try:
        asyncio.run(converse(arguments.question, arguments.agent, arguments.allow))
    except RuntimeError as error:
        parser.exit(1, f"{error}\n")
    except KeyboardInterrupt:
        parser.exit(130)


if __name__ == "__main__":
    main()
