# SPDX-License-Identifier: MIT
"""The shared library: its functions, and its structs as <fxtrace/batch.h> and <fxtrace/reader.h> have them."""

import ctypes
import os

try:
    from ._build import LIBDIR, VERSION as version
except ImportError:  # not installed
    LIBDIR, version = None, "unknown"

SONAME = "libfxtrace-reader.so.0"


class LibraryError(ImportError):
    """The shared library is not there, or too old."""


class Batch(ctypes.Structure):
    _fields_ = [
        ("rows", ctypes.c_void_p),
        ("row_count", ctypes.c_size_t),
        ("row_size", ctypes.c_size_t),
        ("args", ctypes.c_void_p),
        ("arg_count", ctypes.c_size_t),
        ("texts", ctypes.c_void_p),
        ("text_count", ctypes.c_size_t),
        ("bytes", ctypes.c_void_p),
        ("byte_count", ctypes.c_size_t),
    ]


class String(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("length", ctypes.c_uint32),
        ("serial", ctypes.c_uint32),
        ("ref", ctypes.c_uint16),
    ]

    def bytes(self):
        return ctypes.string_at(self.data, self.length) if self.data else b""


class Bytes(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_uint64)]

    def bytes(self):
        return ctypes.string_at(self.data, self.size) if self.data else b""


class Mapping(ctypes.Structure):
    _fields_ = [
        ("start", ctypes.c_uint64),
        ("size", ctypes.c_uint64),
        ("vaddr", ctypes.c_uint64),
        ("module", ctypes.c_uint16),
        ("flags", ctypes.c_uint8),
        ("name", String),
        ("build_id", Bytes),
    ]


class Fault(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int),
        ("offset", ctypes.c_uint64),
        ("word", ctypes.c_uint64),
        ("value", ctypes.c_uint64),
    ]


# A row, but for its reserved bytes: see struct fxt_row.
ROW = "=QQQQQQIIIIIIIHBBBB"
ROW_NAMES = (
    "time", "end", "id", "pid", "tid", "offset",
    "category", "name", "payload", "process", "thread", "provider", "first_arg",
    "cpu", "kind", "type", "nargs", "has_time",
)  # fmt: skip
ARG = "=IB3xq"
TEXT = "=QQ"

FAULT_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Fault))
READ_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)

_PROTOTYPES = {
    "fxt_reader_open_path": (ctypes.c_int, [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)]),
    "fxt_reader_open_memory": (ctypes.c_int, [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)]),
    "fxt_reader_open_function": (ctypes.c_int, [READ_FUNCTION, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)]),
    "fxt_reader_close": (None, [ctypes.c_void_p]),
    "fxt_reader_set_growing": (None, [ctypes.c_void_p, ctypes.c_bool]),
    "fxt_reader_set_bare": (None, [ctypes.c_void_p, ctypes.c_bool]),
    "fxt_reader_set_memory_limit": (None, [ctypes.c_void_p, ctypes.c_uint64]),
    "fxt_reader_set_fault_handler": (None, [ctypes.c_void_p, FAULT_HANDLER, ctypes.c_void_p]),
    "fxt_reader_fault_count": (ctypes.c_uint64, [ctypes.c_void_p]),
    "fxt_reader_progress": (
        None,
        [ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(ctypes.c_uint64)],
    ),
    "fxt_reader_next_batch": (
        ctypes.c_int,
        [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t, ctypes.POINTER(ctypes.POINTER(Batch))],
    ),
    "fxt_reader_find_mapping": (ctypes.POINTER(Mapping), [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]),
    "fxt_fault_format": (None, [ctypes.POINTER(Fault), ctypes.c_char_p, ctypes.c_size_t]),
    "fxt_kind_name": (ctypes.c_char_p, [ctypes.c_uint]),
    "fxt_event_type_name": (ctypes.c_char_p, [ctypes.c_uint]),
    "fxt_scope_name": (ctypes.c_char_p, [ctypes.c_uint64]),
    "fxt_arg_type_name": (ctypes.c_char_p, [ctypes.c_uint]),
    "fxt_blob_type_name": (ctypes.c_char_p, [ctypes.c_uint]),
    "fxt_object_type_name": (ctypes.c_char_p, [ctypes.c_uint]),
    "fxt_thread_state_name": (ctypes.c_char_p, [ctypes.c_uint]),
}


def _load():
    names = [os.environ.get("FXTRACE_READER_LIBRARY"), LIBDIR and os.path.join(LIBDIR, SONAME), SONAME]
    said = []
    for name in filter(None, names):
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            said.append(str(error))
    raise LibraryError("; ".join(said))


def _declare(loaded):
    for name, (result, arguments) in _PROTOTYPES.items():
        try:
            function = getattr(loaded, name)
        except AttributeError:
            raise LibraryError(f"{SONAME} is too old: it has no {name}") from None
        function.restype = result
        function.argtypes = arguments
    return loaded


lib = _declare(_load())


def names_of(function):
    """The names of small numbers, as a list."""
    ret = []
    while (name := function(len(ret))) is not None:
        ret.append(name.decode())
    return ret
