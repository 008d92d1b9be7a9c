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
import itertools
import json
import os
import subprocess
from typing import Any

import acp_client
from acp_client import wire

LONGEST_LINE = 32 * 1024 * 1024  # asyncio's own limit is 64 KiB, less than a file in a message
NOT_FOUND = -32601
ENDED = wire.Error(-32000, "the agent's output ended")


def message(**members: Any) -> bytes:
    """Make one line of JSON-RPC."""
    return json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n"


class Connection:
    """An agent's process and the store that follows it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.store = acp_client.Store()
        self.process = process
        self.pipe = process.stdin
        self._output = process.stdout
        self._numbers = itertools.count(1)
        self._waiting: dict[wire.RequestId, asyncio.Future[wire.Response]] = {}
        self._has_ended = False

    @classmethod
    async def start(cls, command: list[str]) -> Connection:
        """Start an agent. Raises `RuntimeError` if that fails."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                limit=LONGEST_LINE,
                start_new_session=True,  # Ctrl-C is for us, not for the agent
            )
        except OSError as error:
            raise RuntimeError(f"{command[0]}: {error.strerror}") from error
        return cls(process)

    async def ask(self, method: str, **params: Any) -> Any:
        """Send a request of our own and wait for the result. Raises `RuntimeError` without one."""
        number = next(self._numbers)
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        data = message(id=number, method=method, params=params)
        self.store.sent(data)  # before it is written: the answer must find its request
        self.pipe.write(data)
        if self._has_ended:
            self._give_up()
        try:
            response = await answer
        finally:
            del self._waiting[number]
        if response.result is None:
            reason = response.error.message if response.error else "the answer is malformed"
            raise RuntimeError(f"{method}: {acp_client.escape(reason, keep_newlines=False)}")
        return response.result.value

    async def read(self) -> None:
        """Feed the store until the agent's output ends."""
        async for line in self._output:
            self.store.receive(line)
            if b'"session/update"' not in line:  # those are the store's business alone
                self._look_at(line)
        self.store.end()
        self.store.disconnect(ENDED)
        self._has_ended = True
        self._give_up()

    def _give_up(self) -> None:
        """Answer all requests that nobody else will answer."""
        for number, answer in self._waiting.items():
            self._settle(answer, wire.Response(number, error=ENDED))

    def _settle(self, answer: asyncio.Future[wire.Response], response: wire.Response) -> None:
        if not answer.done():  # it is, when whoever asked was interrupted
            answer.set_result(response)

    def _look_at(self, line: bytes) -> None:
        """Take answers to our own requests, and refuse requests that we know nothing of."""
        match acp_client.decode(line)[0]:
            case wire.Response() as response if response.id in self._waiting:
                self._settle(self._waiting[response.id], response)
            case wire.Request(method=method) as request if method != "session/request_permission":
                error = {"code": NOT_FOUND, "message": f"{method} is not offered"}
                self.pipe.write(message(id=request.id, error=error))


class Conversation:
    """One session, of which the answers are printed."""

    def __init__(self, connection: Connection, session_id: str, allow: bool) -> None:
        self._connection = connection
        self._session_id = session_id
        self._allow = allow
        self.over = asyncio.Event()
        self._reader = connection.store.reader(session_id)
        connection.store.subscribe(self._follow, session=session_id)

    async def hold(self, question: str) -> None:
        """Ask, and print until the agent comes to rest."""
        outgoing = self._connection.store.prompt(self._session_id, [wire.TextContent(question)])
        self._connection.pipe.write(outgoing.data)
        drawing = asyncio.create_task(self._draw())
        try:
            await self.over.wait()
        except asyncio.CancelledError:
            self._connection.pipe.write(self._connection.store.cancel(self._session_id).data)
            raise
        finally:
            self._reader.close()
            await drawing

    def _follow(self, delivery: acp_client.Delivery) -> None:
        """Answer what is asked, and notice the end.

        A subscriber hears of each line that changes something, so it sees the agent begin and rest
        even where a reader has both in one step.
        """
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
        """Answer as the user has told beforehand, with an option that is for this once if any."""
        kind = "allow" if self._allow else "reject"
        fitting = [option for option in asked.options if option.kind.startswith(kind)]
        once = [option for option in fitting if option.kind.endswith("once")]
        chosen = next(iter(once + fitting), None)
        option_id = chosen.option_id if chosen else None
        store = self._connection.store
        answer = store.answer_permission(self._session_id, asked.request_id, option_id).data
        self._connection.pipe.write(answer)
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
    connection = await Connection.start(command)
    reading = asyncio.create_task(connection.read())
    try:
        info = {"name": "asyncio-example", "version": "1"}
        await connection.ask("initialize", protocolVersion=2, info=info, capabilities={})
        opened = await connection.ask("session/new", cwd=os.getcwd(), mcpServers=[])
        conversation = Conversation(connection, opened["sessionId"], allow)
        reading.add_done_callback(lambda _: conversation.over.set())
        await conversation.hold(question)
    finally:
        connection.pipe.close()
        await reading
        await connection.process.wait()


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
