# SPDX-License-Identifier: MIT
"""Events as a pandas DataFrame. Neither pandas nor numpy is needed for anything else."""

from . import _library, _reader

_COMPLETE = _reader.EVENT_TYPES.index("complete")
_TEXTS = {"category": "category", "name": "name", "process_name": "process", "thread_name": "thread"}


class _Texts:
    """Texts of all batches by numbers of their own."""

    def __init__(self, numpy):
        self.numpy = numpy
        self.number = {}

    def codes(self, batch, column):
        used, inverse = self.numpy.unique(column, return_inverse=True)
        strings = batch.strings or batch.unpack_strings()
        codes = [self.number.setdefault(strings[text], len(self.number)) for text in used.tolist()]
        return self.numpy.array(codes, dtype="int32")[inverse]


def _row_type(numpy, row_size):
    formats = {"Q": "<u8", "I": "<u4", "H": "<u2", "B": "<u1"}
    kinds = [formats[letter] for letter in _library.ROW[1:]]
    offsets, at = [], 0
    for kind in kinds:
        offsets.append(at)
        at += int(kind[-1])
    return numpy.dtype(
        {"names": list(_library.ROW_NAMES), "formats": kinds, "offsets": offsets, "itemsize": row_size}
    )


def _arguments(batch, rows, wanted, columns):
    """The values of the arguments that are wanted, None where an event has none."""
    for name in wanted:
        columns[name].extend([None] * len(rows))
    if not wanted:
        return
    begin = len(columns[wanted[0]]) - len(rows)
    for i, row in enumerate(batch.tuples()):
        for name, value in _reader.Event(row, batch).arg_items():
            if name in columns:
                columns[name][begin + i] = value


def frame(archive, args=()):
    """The events of an archive (or of a path, as open() takes it) as a DataFrame: time and duration in nanoseconds,
    type, category, name, process_name, thread_name, pid, tid, id, and a column for each argument that args names."""
    import numpy
    import pandas

    if not isinstance(archive, _reader.Archive):
        with _reader.open(archive) as opened:
            return frame(opened, args)
    texts = {name: _Texts(numpy) for name in _TEXTS}
    parts = {name: [] for name in ("time", "end", "id", "pid", "tid", "type", *_TEXTS)}
    values = {name: [] for name in args}
    for batch in archive.batches(1 << _reader.KINDS.index("event"), 1 << 16):
        rows = numpy.frombuffer(batch.rows, dtype=_row_type(numpy, batch.row_size))
        for name in ("time", "end", "id", "pid", "tid", "type"):
            parts[name].append(rows[name].copy())
        for name, column in _TEXTS.items():
            parts[name].append(texts[name].codes(batch, rows[column]))
        _arguments(batch, rows, list(args), values)

    def joined(name, kind):
        return numpy.concatenate(parts[name]).astype(kind) if parts[name] else numpy.array([], dtype=kind)

    time, kind = joined("time", "int64"), joined("type", "int8")
    columns = {
        "time": time,
        "duration": pandas.arrays.IntegerArray(joined("end", "int64") - time, kind != _COMPLETE),
        "type": pandas.Categorical.from_codes(kind, categories=_reader.EVENT_TYPES),
    }
    for name in _TEXTS:
        columns[name] = pandas.Categorical.from_codes(joined(name, "int32"), categories=list(texts[name].number))
    for name in ("pid", "tid", "id"):
        columns[name] = joined(name, "uint64")
    return pandas.DataFrame({**columns, **values})
