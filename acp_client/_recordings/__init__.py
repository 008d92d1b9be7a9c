"""Recorded traffic: any of the known formats to frames, and frames into a store.

`reading` is the way in: it asks `detection` which format a stream is in, and the module of that
format cuts the stream into frames. `playback` plays frames into a store.
"""

from __future__ import annotations

from .formats import FORMAT_NAMES
from .frames import Frame
from .playback import Feeder, feed
from .reading import Recording, read_recording, write_envelope
from .times import date_and_time

__all__ = [
    "FORMAT_NAMES",
    "Feeder",
    "Frame",
    "Recording",
    "date_and_time",
    "feed",
    "read_recording",
    "write_envelope",
]
