# SPDX-License-Identifier: MIT
"""Archives, and what they yield."""

import ctypes
import errno
import itertools
import os
import struct

from . import _library
from ._library import lib

KINDS = _library.names_of(lib.fxt_kind_name)
EVENT_TYPES = _library.names_of(lib.fxt_event_type_name)
_OBJECT_TYPES = {number: lib.fxt_object_type_name(number).decode() for number in (1, 2, 3, 5, 6, 14, 19, 22)}
_THREAD_STATES = _library.names_of(lib.fxt_thread_state_name)
_BLOB_TYPES = {number: lib.fxt_blob_type_name(number).decode() for number in (1, 2, 3)}

ALL_KINDS = (1 << 64) - 1
_NUMBER = {name: number for number, name in enumerate(KINDS)}
_EVENT = _NUMBER["event"]
_EVENT_BIT = 1 << _EVENT
_COMPLETE = EVENT_TYPES.index("complete")
_INSTANT = EVENT_TYPES.index("instant")

_ROW = struct.Struct(_library.ROW)
_ARG_SIZE = struct.calcsize(_library.ARG)
_TEXT = struct.Struct(_library.TEXT)
_AT = {name: number for number, name in enumerate(_library.ROW_NAMES)}
_FIRST_ARG, _NARGS, _TYPE = _AT["first_arg"], _AT["nargs"], _AT["type"]

# Rows at a time: enough that a call costs nothing, few enough to be in the cache.
_BATCH_ROWS = 8192


class ArchiveError(OSError):
    """The archive cannot be read; errno is EBADMSG if it is none."""


class Fault:
    """What is malformed: kind, a number; offset of the record in bytes; text."""

    __slots__ = ("kind", "offset", "word", "value", "text")

    def __init__(self, fault):
        buffer = ctypes.create_string_buffer(256)
        lib.fxt_fault_format(ctypes.byref(fault), buffer, len(buffer))
        self.kind, self.offset, self.word, self.value = fault.kind, fault.offset, fault.word, fault.value
        self.text = buffer.value.decode(errors="replace")

    def __str__(self):
        return f"{self.offset}: {self.text}"


class _Batch:
    """Copies of a batch's tables; its texts and arguments become objects when they are asked for, all that there are at once."""

    __slots__ = ("row_size", "rows", "args", "texts", "bytes", "strings", "arg_names", "arg_values")

    def __init__(self, batch):
        self.row_size = batch.row_size
        self.rows = ctypes.string_at(batch.rows, batch.row_count * batch.row_size)
        self.args = ctypes.string_at(batch.args, batch.arg_count * _ARG_SIZE) if batch.arg_count else b""
        self.texts = ctypes.string_at(batch.texts, batch.text_count * _TEXT.size)
        self.bytes = ctypes.string_at(batch.bytes, batch.byte_count)
        self.strings = self.arg_names = None

    def raw(self, number):
        offset, length = _TEXT.unpack_from(self.texts, number * _TEXT.size)
        return self.bytes[offset : offset + length]

    def unpack_strings(self):
        # Each text ends with a zero: where there are no others, they are what stands between.
        strings = self.bytes.decode(errors="replace").split("\0")
        if len(strings) != len(self.texts) // _TEXT.size + 1:
            data = self.bytes
            strings = [
                data[offset : offset + length].decode(errors="replace")
                for offset, length in _TEXT.iter_unpack(self.texts)
            ]
        self.strings = strings
        return strings

    def unpack_args(self):
        """Columns of the arguments of all rows: names, values."""
        table = memoryview(self.args)
        strings, values, conversions = self.strings or self.unpack_strings(), table.cast("q")[1::2].tolist(), _VALUES
        names = list(map(strings.__getitem__, table.cast("I")[::4].tolist()))
        kinds = bytes(table[4::_ARG_SIZE])
        converted = _CONVERTED if min(values, default=0) < 0 else _CONVERTED_UNSIGNED
        for at in itertools.compress(itertools.count(), kinds.translate(converted)):
            kind = kinds[at]
            values[at] = strings[values[at]] if kind == _STRING else conversions[kind](self, values[at])
        # The names last: another thread takes them for a sign that the values are there.
        self.arg_values = values
        self.arg_names = names
        return names

    def tuples(self):
        if self.row_size == _ROW.size + _ROW_RESERVED:
            return _PADDED_ROW.iter_unpack(self.rows)
        # A later library, whose rows are longer
        return (_ROW.unpack_from(self.rows, at) for at in range(0, len(self.rows), self.row_size))


_ROW_RESERVED = 6
_PADDED_ROW = struct.Struct(_library.ROW + f"{_ROW_RESERVED}x")


def _number(name, doc):
    at = _AT[name]

    def get(self):
        return self._row[at]

    return property(get, doc=doc)


def _string(name, doc):
    at = _AT[name]

    def get(self):
        batch = self._batch
        return (batch.strings or batch.unpack_strings())[self._row[at]]

    return property(get, doc=doc)


class Record:
    """A record of any kind. What its kind does not have is None, 0 or empty: see <fxtrace/batch.h>."""

    __slots__ = ("_row", "_batch")

    def __init__(self, row, batch):
        self._row = row
        self._batch = batch

    kind = property(lambda self: KINDS[self._row[_AT["kind"]]], doc='Its kind, such as "event" or "log".')
    offset = _number("offset", "Where it begins in the archive, in bytes, after decompression.")
    provider = _number("provider", "The id of the provider whose section it stands in.")
    pid = _number("pid", "The process that it is of.")
    tid = _number("tid", "The thread that it is of.")
    process_name = _string("process", "What the process was called then, as far as the archive tells.")
    thread_name = _string("thread", "What the thread was called then, as far as the archive tells.")
    category = _string("category", "The category.")
    name = _string("name", "The name; of a log, its message; of a string, its text.")
    id = _number("id", "The id that it has by its kind, such as of an async event or a kernel object.")
    type_number = _number("type", "The type, as a number.")
    cpu = _number("cpu", "Of scheduling: the processor.")

    @property
    def time(self):
        """When it was, in nanoseconds; None: it is of no time."""
        row = self._row
        return row[0] if row[_AT["has_time"]] else None

    @property
    def type(self):
        """The type by its name: of events, kernel objects, blobs; of context switches, the state of who stops."""
        kind, number = self.kind, self.type_number
        if kind == "event":
            return EVENT_TYPES[number]
        if kind == "kernel-object":
            return _OBJECT_TYPES.get(number, number)
        if kind == "blob":
            return _BLOB_TYPES.get(number, number)
        if kind.endswith("context-switch"):
            return _THREAD_STATES[number] if number < len(_THREAD_STATES) else number
        return number or None

    @property
    def payload(self):
        """The bytes of a blob, a build id, or of a record of unknown kind."""
        number = self._row[_AT["payload"]]
        return self._batch.raw(number) if number else None

    @property
    def args(self):
        """The arguments: a dict. Of several with one name, the last one."""
        row, batch = self._row, self._batch
        first = row[_FIRST_ARG]
        last = first + row[_NARGS]
        names = batch.arg_names or batch.unpack_args()
        return dict(zip(names[first:last], batch.arg_values[first:last]))

    def arg_items(self):
        """The arguments: a list of (name, value)."""
        row, batch = self._row, self._batch
        first = row[_FIRST_ARG]
        last = first + row[_NARGS]
        names = batch.arg_names or batch.unpack_args()
        return list(zip(names[first:last], batch.arg_values[first:last]))

    def __repr__(self):
        said = [self.kind, f"time={self.time}", repr(self.category), repr(self.name)]
        if self.args:
            said.append(repr(self.args))
        return f"<{' '.join(said)}>"


class Event(Record):
    """An event: duration, instant, counter, async, flow."""

    __slots__ = ()

    kind = property(lambda self: "event")
    type = property(lambda self: EVENT_TYPES[self._row[_TYPE]], doc='Its type, such as "complete".')
    time = _number("time", "When it was, or began, in nanoseconds.")
    end = _number("end", "When it ended, in nanoseconds; the same as time but for complete events.")

    @property
    def duration(self):
        """Of a complete event: its length in nanoseconds; else None."""
        row = self._row
        return row[1] - row[0] if row[_TYPE] == _COMPLETE else None

    @property
    def scope(self):
        """Of an instant: "thread", "process" or "global"; else None."""
        row = self._row
        if row[_TYPE] != _INSTANT:
            return None
        name = lib.fxt_scope_name(row[_AT["id"]])
        return name.decode() if name else row[_AT["id"]]


def _unsigned(_, value):
    return value & _WORD_MASK


_DOUBLE = struct.Struct("=d")
_WORD = struct.Struct("=q")
_WORD_MASK = (1 << 64) - 1
_CONVERT = {
    "null": lambda batch, value: None,
    "uint64": _unsigned,
    "pointer": _unsigned,
    "koid": _unsigned,
    "double": lambda batch, value: _DOUBLE.unpack(_WORD.pack(value))[0],
    "string": lambda batch, value: batch.strings[value],
    "bool": lambda batch, value: bool(value),
    "blob": lambda batch, value: batch.raw(value),
}
_ARG_TYPES = _library.names_of(lib.fxt_arg_type_name)
# Those that are not what a signed word says; the same where no word has its highest bit; and how they are told from it.
_CONVERTED = bytes(n >= len(_ARG_TYPES) or _ARG_TYPES[n] in _CONVERT for n in range(256))
_CONVERTED_UNSIGNED = bytes(
    is_so and (n >= len(_ARG_TYPES) or _CONVERT[_ARG_TYPES[n]] is not _unsigned) for n, is_so in enumerate(_CONVERTED)
)
_STRING = _ARG_TYPES.index("string")
_VALUES = [_CONVERT.get(_ARG_TYPES[n] if n < len(_ARG_TYPES) else "null") for n in range(256)]


class Archive:
    """An open archive. It is read once, by whatever goes over it: `for event in archive`, records(), frame()."""

    def __init__(self, handle, name, keeps, thrown, on_fault):
        self._handle = handle
        self._name = name
        self._keeps = keeps
        self._thrown = thrown
        if on_fault:

            def tell(_, fault):
                try:
                    on_fault(Fault(fault.contents))
                except BaseException as error:  # goes on in batches()
                    thrown.append(error)

            self._handler = _library.FAULT_HANDLER(tell)
            lib.fxt_reader_set_fault_handler(handle, self._handler, None)

    def _open(self):
        if not self._handle:
            raise ValueError("the archive is closed")
        return self._handle

    def close(self):
        """Frees what it takes. Events that it has yielded stay."""
        handle, self._handle = self._handle, None
        if handle:
            lib.fxt_reader_close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def set_growing(self, growing):
        """Whether the archive is still being written: going over it ends where it ends so far, and may begin again."""
        lib.fxt_reader_set_growing(self._open(), growing)

    def set_memory_limit(self, size):
        """How many bytes may be remembered of it; what there is no room for is unknown, and a fault."""
        lib.fxt_reader_set_memory_limit(self._open(), size)

    @property
    def fault_count(self):
        return lib.fxt_reader_fault_count(self._open())

    @property
    def progress(self):
        """Bytes of input consumed, and their total, 0 if it is not known."""
        done, total = ctypes.c_uint64(), ctypes.c_uint64()
        lib.fxt_reader_progress(self._open(), ctypes.byref(done), ctypes.byref(total))
        return done.value, total.value

    def find_mapping(self, pid, address):
        """What lies at an address of a process: (module's name, address in it, build id as bytes), or None."""
        mapping = lib.fxt_reader_find_mapping(self._open(), pid, address)
        if not mapping:
            return None
        m = mapping.contents
        return m.name.bytes().decode(errors="replace"), address - m.start + m.vaddr, m.build_id.bytes()

    def batches(self, kinds, rows=_BATCH_ROWS):
        """Copies of one batch after the other."""
        batch = ctypes.POINTER(_library.Batch)()
        while True:
            r = lib.fxt_reader_next_batch(self._open(), kinds, rows, ctypes.byref(batch))
            if self._thrown:
                raise self._thrown.pop()
            if r == 0 or r == -errno.EAGAIN:
                return
            if r < 0:
                raise ArchiveError(-r, os.strerror(-r) if r != -errno.EBADMSG else "not a trace archive", self._name)
            yield _Batch(batch.contents)

    def __iter__(self):
        """Its events."""
        return itertools.chain.from_iterable(
            map(Event, batch.tuples(), itertools.repeat(batch)) for batch in self.batches(_EVENT_BIT)
        )

    def records(self, kinds=ALL_KINDS):
        """Records of all kinds, or of those in a list, such as ["event", "log"]."""
        if not isinstance(kinds, int):
            kinds = sum(1 << _NUMBER[kind] for kind in kinds)
        at = _AT["kind"]
        for batch in self.batches(kinds):
            for row in batch.tuples():
                yield (Event if row[at] == _EVENT else Record)(row, batch)

    def frame(self):
        """Its events as a pandas DataFrame: see fxtrace.frame()."""
        from ._frame import frame

        return frame(self)


def _read_function(file, thrown):
    def read(_, buffer, size):
        try:
            data = file.read(size)
        except BaseException as error:  # goes on in batches()
            thrown.append(error)
            return -errno.EIO
        if data is None:
            return -errno.EAGAIN
        ctypes.memmove(buffer, data, len(data))
        return len(data)

    return _library.READ_FUNCTION(read)


def open(source, *, on_fault=None, growing=False):
    """Opens an archive: a path, a binary file object, or bytes. Raises OSError."""
    handle = ctypes.c_void_p()
    keeps, name, thrown = None, "archive", []
    if isinstance(source, (bytes, bytearray, memoryview)):
        keeps = bytes(source)
        r = lib.fxt_reader_open_memory(keeps, len(keeps), ctypes.byref(handle))
    elif hasattr(source, "read"):
        keeps = _read_function(source, thrown)
        r = lib.fxt_reader_open_function(keeps, None, ctypes.byref(handle))
    else:
        name = os.fspath(source)
        r = lib.fxt_reader_open_path(os.fsencode(name), ctypes.byref(handle))
    if r < 0:
        raise OSError(-r, os.strerror(-r), name)
    archive = Archive(handle, name, keeps, thrown, on_fault)
    if growing:
        archive.set_growing(True)
    return archive
