"""The plugin's process: `python -m acp_nvim BUFFER COMMAND…`, started by lua/acp.lua.

Standard input and output are the RPC channel to Neovim. Two threads: one reads the agent's pipe and
does nothing but feed the store; the main one talks with Neovim. The store's reader is between them:
it holds the newest step until Neovim has taken the one before, so a slow editor gets fewer steps
and never a backlog.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from typing import Any

import pynvim

import acp_client as acp
from acp_client import wire

from . import drawing
from .agent import Agent
from .view import View

INFO, WARNING, ERROR = 2, 3, 4  # of vim.log.levels
LEVELS = {"warning": WARNING, "error": ERROR}


class Plugin:
    """One conversation in one buffer."""

    def __init__(self, nvim: pynvim.Nvim, buffer: int, command: list[str]) -> None:
        self._nvim = nvim
        self._buffer = buffer
        self._store = acp.Store()
        self._agent = Agent(command, self._store)
        self._view = View()
        self._session = ""
        self._is_drawing = False
        self._has_failed = False

    def start(self) -> None:
        """Let a thread read what the agent writes."""
        threading.Thread(target=self._follow, daemon=True).start()

    def stop(self) -> None:
        """End the agent."""
        self._agent.stop()

    def _follow(self) -> None:
        self._agent.open_session(os.getcwd(), self._opened, self._refused)
        self._agent.listen()
        self._session = ""
        self._store.end()
        self._store.disconnect(wire.Error(-32000, "the agent has ended"))
        self._report("the agent has ended")

    def _opened(self, session_id: str) -> None:
        self._session = session_id
        self._store.reader(session_id, wake=self._schedule)

    def _refused(self, reason: str) -> None:
        self._report(reason)
        self._agent.stop()

    def _report(self, reason: str) -> None:
        """Say why there is no session; only the first reason counts."""
        if not self._has_failed:
            self._has_failed = True
            self._nvim.async_call(self._say, reason, ERROR)

    # --- What is drawn ---

    def _schedule(self, reader: acp.Reader) -> None:
        self._nvim.async_call(self._draw, reader)

    def _draw(self, reader: acp.Reader) -> None:
        """Draw until there is nothing left.

        While Neovim works on one step, other calls come here: they leave it to the first.
        """
        if self._is_drawing:
            return
        self._is_drawing = True
        try:
            while (delivery := reader.take()) is not None:
                self._draw_changes(delivery)
        finally:
            self._is_drawing = False

    def _draw_changes(self, delivery: acp.Delivery) -> None:
        view, changes = self._view, delivery.changes
        view.draw(delivery)
        rows = ((place, view.document.row(place)) for place in view.signs)
        signs = [(place + 1, row, *view.signs[place]) for place, row in rows]
        view.signs.clear()
        is_new = any(isinstance(change, acp.Reset) for change in changes)
        edits = view.document.take_edits()
        self._call("draw", self._buffer, is_new, edits, signs, len(view.options))
        for change in changes:
            if isinstance(change, acp.NoticesAdded):
                for notice in change.new:
                    level = LEVELS.get(notice.severity, INFO)
                    self._say(drawing.joined(notice.title, notice.description), level)

    def _call(self, name: str, *arguments: Any) -> None:
        self._nvim.exec_lua(f"require('acp').{name}(...)", *arguments)

    def _say(self, text: str, level: int) -> None:
        self._call("say", drawing.joined(text), level)

    # --- What the user does ---

    def act(self, name: str, arguments: list[Any]) -> None:
        """Do what a key asks for."""
        try:
            if self._session:
                ACTIONS[name](self, *arguments)
            else:
                self._say("there is no session", WARNING)
        except acp.AcpClientError as error:
            self._say(str(error), WARNING)

    def prompt(self, text: str) -> None:
        """Send a message."""
        self._store.prompt(self._session, [wire.TextContent(text)])

    def cancel(self) -> None:
        """Cancel what the agent does."""
        self._store.cancel(self._session)

    def answer(self, number: int) -> None:
        """Answer a permission request with one of the options that are drawn."""
        asked, option = self._view.options[number - 1]
        self._store.answer_permission(self._session, asked.request_id, option.option_id)


ACTIONS: dict[str, Callable[..., None]] = {
    "prompt": Plugin.prompt,
    "cancel": Plugin.cancel,
    "answer": Plugin.answer,
}


def main() -> None:
    """Serve one buffer until Neovim ends, or lets go of it."""
    buffer, *command = sys.argv[1:]
    nvim = pynvim.attach("stdio")
    try:
        plugin = Plugin(nvim, int(buffer), command)
    except OSError as error:
        sys.exit(f"the agent cannot be started: {error}")
    try:
        nvim.run_loop(lambda name, arguments: None, plugin.act, plugin.start)
    finally:
        plugin.stop()


if __name__ == "__main__":
    main()
