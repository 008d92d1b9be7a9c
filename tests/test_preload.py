"""What `preload` loads and builds, so that nothing has to wait for it later."""

import subprocess
import sys

import pytest

LATER = """
import sys
import acp_client
{preload}
before = set(sys.modules)
store = acp_client.Store(protocol={protocol!r})
store.subscribe(lambda delivery: delivery.changes)
head = b'{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":'
for update in (
    b'{{"sessionUpdate":"tool_call_update","toolCallId":"c","title":3,"locations":[{{"path":1}}]}}',
    b'{{"sessionUpdate":"plan_update","plan":{{"type":"items","planId":"p","entries":[{{}}]}}}}',
    b'{{"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"G1szMm14w6nnnIvMgQ0K"}}',
    b'{{"sessionUpdate":"agent_message","messageId":3}}',
):
    store.receive(head + update + b"}}}}\\n")
for terminal in store.snapshot("s").terminals:
    terminal.text
acp_client.loads(acp_client.dumps(store.snapshot("s")))
print(len(set(sys.modules) - before))
"""


@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_nothing_is_imported_after_preloading(protocol: str) -> None:
    """What the first messages of each kind would import is there already."""
    without, preloaded = (
        _modules_loaded_later(protocol, preload) for preload in ("", "acp_client.preload()")
    )
    assert without > 5
    assert preloaded == 0


def _modules_loaded_later(protocol: str, preload: str) -> int:
    program = LATER.format(protocol=protocol, preload=preload)
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(ended.stdout)


def test_no_pattern_is_compiled_after_preloading() -> None:
    """The regular expressions of texts and terminals are there already."""
    program = """
import acp_client
from acp_client._text import compiled
acp_client.preload()
before = compiled.cache_info().currsize
texts = ["a\\x1b[31m\\u65e5\\u0301\\r\\x1b[K", "\\u202e", "\\t\\x1b[3\\nC\\U0001f600", "\\x9b1K"]
for text in texts:
    acp_client.escape(acp_client.terminal_text(text))
    acp_client.display_width(text)
print(compiled.cache_info().currsize - before)
"""
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, check=True, capture_output=True, text=True)
    assert ended.stdout == "0\n"
