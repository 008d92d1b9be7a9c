"""Diffs of both versions in one form, and how those of v1 look as a patch."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_client import wire
from acp_client._diffs import FileDiff, file_diff, is_old_diff, unified_diff


def diff(old: str | None, new: str | None, path: str = "/a", **more: Any) -> wire.Unknown:
    """Make a diff as it is kept."""
    return wire.Unknown({"type": "diff", "path": path, "oldText": old, "newText": new, **more})


RENDERED: dict[str, tuple[wire.ToolCallContent, str | None]] = {
    "a line that changed": (diff("a\nb\nc\n", "a\nB\nc\n"), "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"),
    "a new file": (diff(None, "a\n"), "--- /dev/null\n+++ /a\n@@ -0,0 +1,1 @@\n+a\n"),
    "a file that is gone": (diff("a\n", None), "--- /a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"),
    "a file that Codex deletes": (
        diff("a\n", "", _meta={"kind": "delete"}),
        "--- /a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n",
    ),
    "a file that is emptied": (diff("a\n", ""), "--- /a\n+++ /a\n@@ -1,1 +0,0 @@\n-a\n"),
    "a last line without an end": (
        diff("a", "b"),
        "-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
    ),
    "other line ends": (
        diff("a\r\n\x0cb\u2028c\n", "a\n\x0cb\u2028c\n"),
        "-a\r\n+a\n \x0cb\u2028c\n",
    ),
    "a path that would break the line": (diff("a\n", "b\n", "/x\n+y"), '--- "/x\\n+y"\n'),
    "nothing that changed": (diff("a\n", "a\n"), ""),
    "an empty new file": (diff(None, ""), ""),
    "another item": (wire.Terminal("t"), None),
    "another raw item": (wire.Unknown({"type": "_x", "path": "/a", "newText": ""}), None),
}


@pytest.mark.parametrize("case", RENDERED)
def test_a_diff_is_rendered(case: str) -> None:
    """A diff becomes a unified diff with its path; nothing else does."""
    item, expected = RENDERED[case]
    found = unified_diff(item)
    if expected:
        assert found is not None
        assert expected in found
    else:
        assert found == expected


NO_DIFFS: list[Any] = [
    5,
    {"type": "diff"},
    {"type": "diff", "path": "/a"},
    {"type": "diff", "path": "/a", "oldText": None, "newText": None},
    {"type": "diff", "path": 5, "newText": ""},
    {"type": "diff", "path": "/a", "newText": 5},
    {"type": "diff", "path": "/a", "newText": "", "oldText": []},
    {"type": "diff", "path": "/a", "newText": "", "changes": []},
    {"type": "content", "path": "/a", "newText": ""},
]


@pytest.mark.parametrize("value", NO_DIFFS)
def test_what_is_no_old_diff(value: Any) -> None:
    """Only a path with texts is a diff of v1."""
    assert not is_old_diff(value)


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "-\n", "+x\n", "\\\n"]), max_size=12)
TEXTS = st.builds(lambda lines, end: "".join(lines) + end, LINES, st.sampled_from(["", "z"]))


def patched(before: str, patch: str) -> str:
    """Apply the hunks of a patch, in the simplest way there is."""
    old, new, place = before.splitlines(keepends=True), list[str](), 0
    lines = patch.splitlines(keepends=True)[2:]
    for line, behind in zip(lines, [*lines[1:], ""], strict=True):
        body = line[1:].rstrip("\n") if behind.startswith("\\ ") else line[1:]
        if line.startswith("@@"):
            start, _, count = line.split()[1][1:].partition(",")
            skip_to = int(start) - (count != "0")
            new, place = new + old[place:skip_to], skip_to
        elif line[0] in " -":
            assert old[place] == body
            place += 1
        if line[0] in " +":
            new.append(body)
    return "".join(new + old[place:])


@given(TEXTS, TEXTS, st.booleans())
def test_a_patch_leads_from_the_old_text_to_the_new(old: str, new: str, is_long: bool) -> None:
    """What is rendered says exactly what changed, for long texts too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("acp_client._diffs._MOST_COMPARISONS", -1 if is_long else 10**6)
        rendered = unified_diff(diff(old, new))
    assert rendered is not None
    assert (patched(old, rendered) if rendered else old) == new


@pytest.mark.skipif(shutil.which("patch") is None, reason="there is no patch program")
@pytest.mark.parametrize("is_long", [False, True])
def test_a_patch_is_one_to_other_programs(
    is_long: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The patch program takes what is rendered."""
    monkeypatch.setattr("acp_client._diffs._MOST_COMPARISONS", -1 if is_long else 10**6)
    old = "".join(f"line {at}\n" for at in range(40))
    new = old.replace("line 5\n", "").replace("line 30\n", "line thirty\nand more\n") + "end"
    file = tmp_path / "file"
    file.write_text(old)
    rendered = unified_diff(diff(old, new, str(file)))
    assert rendered is not None
    command = ["patch", "--silent", str(file)]
    subprocess.run(command, input=rendered, text=True, check=True, cwd=tmp_path)
    assert file.read_text() == new


def test_long_texts_cost_no_more_than_their_length() -> None:
    """Texts with nothing in common are not compared line by line."""
    lines = 5_000
    old = "".join(f"{at}\n" for at in range(lines))
    new = "".join(f"{at}\n" for at in range(lines, 2 * lines))
    rendered = unified_diff(diff(f"same\n{old}end\n", f"same\n{new}end\n"))
    assert rendered is not None
    assert rendered.count("\n") == 2 + 1 + 2 * lines + 2
    long = "x\n" * 200_000
    assert unified_diff(diff(f"{long}a\n{long}", f"{long}b\n{long}")) == (
        "--- /a\n+++ /a\n@@ -199998,7 +199998,7 @@\n x\n x\n x\n-a\n+b\n x\n x\n x\n"
    )


FILE_DIFFS: dict[str, tuple[wire.ToolCallContent, FileDiff | None]] = {
    "all line endings and a line": (
        diff("a\r\nb\r\nc\r\n", "a\nB\nc\n"),
        FileDiff(
            (wire.DiffModify("/a"),),
            "--- /a\n+++ /a\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
            ("CRLF", "LF"),
        ),
    ),
    "all line endings alone": (
        diff("a\nb\n", "a\r\nb\r\n"),
        FileDiff((wire.DiffModify("/a"),), "", ("LF", "CRLF")),
    ),
    "one line ending": (
        diff("a\r\nb\n", "a\nb\n"),
        FileDiff((wire.DiffModify("/a"),), "--- /a\n+++ /a\n@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n"),
    ),
    "a missing last newline": (
        diff("a\n", "a"),
        FileDiff(
            (wire.DiffModify("/a"),),
            "--- /a\n+++ /a\n@@ -1,1 +1,1 @@\n-a\n+a\n\\ No newline at end of file\n",
        ),
    ),
    "a created file": (
        diff(None, "a\n"),
        FileDiff((wire.DiffAdd("/a"),), "--- /dev/null\n+++ /a\n@@ -0,0 +1,1 @@\n+a\n"),
    ),
    "an emptied file": (
        diff("a\n", ""),
        FileDiff((wire.DiffModify("/a"),), "--- /a\n+++ /a\n@@ -1,1 +0,0 @@\n-a\n"),
    ),
    "a deleted file": (
        diff("a\n", None),
        FileDiff((wire.DiffDelete("/a"),), "--- /a\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n"),
    ),
    "a diff of v2": (
        wire.Diff((wire.DiffMove("/a", "/b"),), wire.DiffPatch("git_patch", "the patch")),
        FileDiff((wire.DiffMove("/a", "/b"),), "the patch"),
    ),
    "a diff of v2 without a patch": (
        wire.Diff((wire.DiffAdd("/a"),)),
        FileDiff((wire.DiffAdd("/a"),)),
    ),
    "a terminal": (wire.Terminal("t"), None),
    "an unknown item": (wire.Unknown({"type": "_x"}), None),
}


@pytest.mark.parametrize("case", FILE_DIFFS)
def test_diffs_of_both_versions_have_one_form(case: str) -> None:
    """What changed and its text are there whichever version a diff came in."""
    item, expected = FILE_DIFFS[case]
    assert file_diff(item) == expected
