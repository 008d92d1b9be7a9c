"""Snapshots to and from JSON, and in files.

`documents` writes the snapshot document, `serialization` the stored form that `loads` reads back,
`hooks` says how each part of a snapshot is written and read, and `files` keeps one in a file.
"""

from __future__ import annotations

from .files import load, save
from .serialization import dumps, loads, to_document, to_json

__all__ = ["dumps", "load", "loads", "save", "to_document", "to_json"]
