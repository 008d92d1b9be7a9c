"""Hypothesis strategies for whole ACP v2 sessions, as lines of JSON.

Nothing here imports the package under test: a session is a list of frames, a frame is one line and
its direction, and whoever reads it brings a parser of their own.

- `choices`: tapes, the only thing that Hypothesis draws; `builders`: JSON from a tape;
- `update_builders`, `messages`: the protocol as tables of builders; `writing`: a message as a line;
- `damage`, `junk`: what a hostile peer makes of that;
- `books`: what each peer may say next; `steps`: a connection as frames;
- `v1_sessions`: well-formed connections that speak v1;
- `generators`: the strategies; `deliveries`: bytes cut up, sequences merged.

With `well_formed=True` every frame is valid by the schema and every response answers an open
request. With `well_formed=False` frames are damaged as well, and lines come between that were never
messages.

Generated values may share parts with each other: read them, never write to them.
"""

from .books import Connection
from .choices import TAPE, Choices, Frame, step_tapes
from .damage import VALUE_MUTATIONS, mutated
from .deliveries import interleavings, received, splits
from .generators import junk_lines, odd_update, odd_updates, sessions, update_lists, updates
from .junk import INERT_JUNK, JUNK, junk_line
from .messages import notification
from .steps import session_frames, step
from .update_builders import UNKNOWN, VARIANTS
from .v1_sessions import v1_frames, v1_sessions
from .writing import TOKENS, encode

__all__ = [
    "INERT_JUNK",
    "JUNK",
    "TAPE",
    "TOKENS",
    "UNKNOWN",
    "VALUE_MUTATIONS",
    "VARIANTS",
    "Choices",
    "Connection",
    "Frame",
    "encode",
    "interleavings",
    "junk_line",
    "junk_lines",
    "mutated",
    "notification",
    "odd_update",
    "odd_updates",
    "received",
    "session_frames",
    "sessions",
    "splits",
    "step",
    "step_tapes",
    "update_lists",
    "updates",
    "v1_frames",
    "v1_sessions",
]
