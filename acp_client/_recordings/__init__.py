"""Recorded traffic: files to frames, frames into a store, and one's own traffic into a file.

`reading` is the way in: it asks `detection` which layout of `layouts` and which format of `formats`
a stream has, and the modules of these cut the stream into frames. `playback` plays frames into a
store, and `recorder` writes them.
"""

from __future__ import annotations

from .formats import FORMAT_NAMES
from .frames import Frame
from .playback import Feeder, Player, Stop, feed
from .reading import Recording, read_recording
from .recorder import Recorder, write_envelope
from .times import date_and_time

__all__ = [
    "FORMAT_NAMES",
    "Feeder",
    "Frame",
    "Player",
    "Recorder",
    "Recording",
    "Stop",
    "date_and_time",
    "feed",
    "read_recording",
    "write_envelope",
]
