# SPDX-License-Identifier: MIT
"""Reads trace archives in the Fuchsia trace format, as fxtrace writes them.

    import fxtrace

    for event in fxtrace.open("app.fxt"):
        print(event.time, event.thread_name, event.category, event.name, event.duration, event.args)

open() takes a path (compressed or not), a file object, or bytes. What it returns yields events; its
records() yields records of all kinds, its frame() is a pandas DataFrame. What is malformed in an archive is
told to the function on_fault, if there is one, and passed over.

The work is done by libfxtrace-reader, a batch at a time.
"""

from ._library import LibraryError, version
from ._reader import (
    ALL_KINDS,
    EVENT_TYPES,
    KINDS,
    Archive,
    ArchiveError,
    Event,
    Fault,
    Record,
    open,
)
from ._frame import frame

__all__ = [
    "ALL_KINDS",
    "EVENT_TYPES",
    "KINDS",
    "Archive",
    "ArchiveError",
    "Event",
    "Fault",
    "LibraryError",
    "Record",
    "frame",
    "open",
]
__version__ = version
