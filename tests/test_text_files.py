"""The shipped handlers of text files: what they read and write, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from traffic import line

import acp_client
from acp_client import Store

TEXT = "one\ntwo\r\nthree"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a folder with a file in it, and things beside it."""
    (tmp_path / "root").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "root" / "file").write_bytes(TEXT.encode())
    (tmp_path / "root" / "binary").write_bytes(b"\xff")
    (tmp_path / "root" / "out").symlink_to(tmp_path / "secret")
    (tmp_path / "root" / "circle").symlink_to(tmp_path / "root" / "circle")
    (tmp_path / "root" / "in").symlink_to(tmp_path / "root" / "file")
    return tmp_path / "root"


def ask(root: Path, method: str, params: Any, *, writing: bool = True) -> Any:
    """Ask a store of v1 something, and give its answer."""
    store = Store(protocol="v1")
    acp_client.handle_text_files(store, root, writing=writing)
    store.receive(line(id=1, method=method, params=params))
    (answer,) = map(json.loads, store.data_to_send().splitlines())
    return answer.get("result", answer.get("error"))


@pytest.mark.parametrize(
    ("more", "content"),
    [
        ({}, TEXT),
        ({"line": None, "limit": None}, TEXT),
        ({"line": 2}, "two\r\nthree"),
        ({"limit": 1}, "one\n"),
        ({"line": 2, "limit": 1}, "two\r\n"),
        ({"line": 9}, ""),
        ({"limit": 0}, ""),
    ],
)
def test_lines_are_read(root: Path, more: dict[str, Any], content: str) -> None:
    """A file is read from a line on, as many lines as are asked for, with their own endings."""
    for name in ("file", "in"):
        params = {"sessionId": "s", "path": str(root / name), **more}
        assert ask(root, "fs/read_text_file", params) == {"content": content}


@pytest.mark.parametrize(
    "path", ["file/../../secret", "out", "circle", "missing", "binary", ".", "a\0b"]
)
@pytest.mark.parametrize("method", ["fs/read_text_file", "fs/write_text_file"])
def test_what_is_not_in_the_folder_is_refused(root: Path, path: str, method: str) -> None:
    """Nothing outside is read or written, and what cannot be is an error for the agent."""
    if (method, path) in {("fs/write_text_file", "missing"), ("fs/write_text_file", "binary")}:
        return
    answer = ask(root, method, {"path": f"{root}/{path}", "content": "changed"})
    assert answer["code"] < 0
    assert "secret" not in str(answer.get("data"))
    assert (root.parent / "secret").read_text() == "secret"


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {"path": 5},
        {"path": "file"},
        {"path": "/etc/passwd"},
        {"line": 0},
        {"line": "1"},
        {"limit": True},
    ],
)
def test_bad_parameters_are_refused(root: Path, params: Any) -> None:
    """Relative paths, and numbers that are none, are the agent's mistake."""
    given = {"path": str(root / "file"), **params} if isinstance(params, dict) else params
    assert ask(root, "fs/read_text_file", given)["code"] == -32602


def test_files_are_written(root: Path) -> None:
    """A new file has exactly the text; without leave to write, the method is not found."""
    params = {"path": str(root / "new"), "content": TEXT}
    assert ask(root, "fs/write_text_file", params, writing=False)["code"] == -32601
    assert ask(root, "fs/write_text_file", params) == {}
    assert (root / "new").read_bytes() == TEXT.encode()
    assert ask(root, "fs/write_text_file", {**params, "content": 5})["code"] == -32602


def test_a_root_is_a_path() -> None:
    """Anything else is the caller's mistake."""
    wrong: Any = 5
    with pytest.raises(acp_client.InvalidValueError):
        acp_client.handle_text_files(Store(), wrong)
