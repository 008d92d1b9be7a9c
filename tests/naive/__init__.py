"""The whole design once more, as plainly as it can be said: the second opinion for the store.

It imports nothing of the package under test. Lines go in, one document comes out. Everything is a
dict or a list, nothing is shared, nothing is fast, and only the standard library is used.

- `schema`: the protocol as tables, from its published schemas; `parse`: a value against them;
- `json_text`, `messages`: a line to a value, and the shapes of JSON-RPC;
- `updates`: what each update does to a session; `document`: how a session is shown;
- `connection`: `Naive`, one connection with all its sessions;
- `rules`: which rules of the design are followed;
- `recordings`: frames out of the recorded formats; `replay`: a recording to its document.
"""

from .connection import LINE_LIMIT, Naive
from .json_text import read_json, text_of
from .messages import request_id
from .parse import Raw, Record, is_base64, is_time, parse
from .recordings import read_recording
from .replay import replay
from .rules import ALL, LANDED, LANDED_V1
from .schema import tables
from .updates import HANDLERS

__all__ = [
    "ALL",
    "HANDLERS",
    "LANDED",
    "LANDED_V1",
    "LINE_LIMIT",
    "Naive",
    "Raw",
    "Record",
    "is_base64",
    "is_time",
    "parse",
    "read_json",
    "read_recording",
    "replay",
    "request_id",
    "tables",
    "text_of",
]
