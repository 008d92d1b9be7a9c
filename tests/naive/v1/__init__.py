"""Version 1 once more: the same sessions, made of what deployed agents send.

What v1 leaves unsaid is inferred here: `messages` (where one ends, and which are echoes),
`tool_calls` (what is known stays known), `settings` (modes, models and options as one list),
`terminals`. `connection` puts them together. Messages are taken to be well formed.
"""

from .connection import NaiveV1

__all__ = ["NaiveV1"]
