"""Snapshots to and from JSON, and in files.

`documents` writes the snapshot document, `serialization` the stored form that `loads` reads back,
`hooks` says how each part of a snapshot is written and read, and `files` keeps one in a file.
`change_documents` writes changes, and `applying` applies them to a document.
"""

from __future__ import annotations

from .applying import apply_changes
from .change_documents import change_from_document, change_to_document
from .files import load, save
from .serialization import dumps, loads, raw_document, to_document, to_json

__all__ = [
    "apply_changes",
    "change_from_document",
    "change_to_document",
    "dumps",
    "load",
    "loads",
    "raw_document",
    "save",
    "to_document",
    "to_json",
]
