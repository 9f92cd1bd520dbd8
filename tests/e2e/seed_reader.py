#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A strict reader of the format's first text: what that does not have is an error.

    seed_reader.py ARCHIVE

Prints each event as a line of JSON: type, process, thread, time, end or id, category, name, arguments.
"""
import json
import struct
import sys

data = open(sys.argv[1], "rb").read()
assert len(data) % 8 == 0, "not whole words"
words = struct.unpack("<%dQ" % (len(data) // 8), data)
EVENTS = ("instant counter duration-begin duration-end complete async-begin async-instant async-end "
          "flow-begin flow-step flow-end").split()


def bits(word, low, high):
    return word >> low & (1 << high - low + 1) - 1


class Record:
    def __init__(self, at, size, tables):
        self.at, self.end, self.tables = at, at + size, tables

    def word(self):
        assert self.at < self.end, "beyond the record"
        self.at += 1
        return words[self.at - 1]

    def stream(self, length):
        size = (length + 7) // 8
        raw = data[self.at * 8:(self.at + size) * 8]
        self.at += size
        assert self.at <= self.end, "a stream beyond the record"
        assert not raw[length:].strip(b"\0"), "padding"
        return raw[:length]

    def text(self, length):
        return self.stream(length).decode("utf-8")

    def string(self, ref):
        if ref == 0:
            return ""
        if ref & 0x8000:
            assert ref & 0x7fff <= 32000
            return self.text(ref & 0x7fff)
        return self.tables["strings"][ref]

    def thread(self, ref):
        return self.tables["threads"][ref] if ref else (self.word(), self.word())

    def args(self, count):
        result = []
        for _ in range(count):
            start = self.at
            head = self.word()
            kind, size = bits(head, 0, 3), bits(head, 4, 15)
            assert kind <= 8, ("argument", kind)
            name = self.string(bits(head, 16, 31))
            value = bits(head, 32, 63)
            if kind == 1:
                value = value - (1 << 32) if value >> 31 else value
            elif kind == 6:
                assert bits(head, 48, 63) == 0
                value = self.string(bits(head, 32, 47))
            elif kind != 2:
                assert value == 0, "reserved bits of an argument"
                value = None if kind == 0 else self.word()
                if kind == 3:
                    value = value - (1 << 64) if value >> 63 else value
                if kind == 5:
                    value = struct.unpack("<d", struct.pack("<Q", value))[0]
            assert self.at - start == size, "size of an argument"
            result.append([name, kind, value])
        return result


def metadata(head, record, providers):
    kind = bits(head, 16, 19)
    if kind == 1:
        assert bits(head, 60, 63) == 0
        record.text(bits(head, 52, 59))
        assert bits(head, 20, 51) not in providers, "a provider twice"
        providers[bits(head, 20, 51)] = {"strings": {}, "threads": {}}
        return providers[bits(head, 20, 51)]
    if kind == 2:
        assert bits(head, 52, 63) == 0
        return providers[bits(head, 20, 51)]
    if kind == 3:
        assert bits(head, 52, 63) == 0, "an event that a provider has not"
        return record.tables
    assert head == 0x0016547846040010, "no trace info"
    return record.tables


def event(head, record):
    kind, nargs = bits(head, 16, 19), bits(head, 20, 23)
    when = record.word()
    pid, tid = record.thread(bits(head, 24, 31))
    category = record.string(bits(head, 32, 47))
    name = record.string(bits(head, 48, 63))
    args = record.args(nargs)
    more = record.word() if kind in (1, 4, 5, 6, 7, 8, 9, 10) else None
    print(json.dumps([EVENTS[kind], pid, tid, when, more, category, name, args]))


def other(head, kind, record):
    if kind == 1:
        assert bits(head, 16, 63) == 0 and record.word() > 0
    elif kind == 2:
        assert bits(head, 31, 31) == bits(head, 47, 63) == 0 and bits(head, 16, 30) > 0
        record.tables["strings"][bits(head, 16, 30)] = record.text(bits(head, 32, 46))
    elif kind == 3:
        assert bits(head, 24, 63) == 0 and bits(head, 16, 23) > 0
        record.tables["threads"][bits(head, 16, 23)] = (record.word(), record.word())
    elif kind == 5:
        assert bits(head, 47, 47) == bits(head, 56, 63) == 0 and bits(head, 48, 55) in (1, 2)
        record.string(bits(head, 16, 31))
        record.stream(bits(head, 32, 46))
    elif kind == 6:
        assert bits(head, 44, 63) == 0
        record.word()
        if bits(head, 16, 23) == 0:
            record.word()
        record.string(bits(head, 24, 39))
        record.args(bits(head, 40, 43))
    elif kind == 7:
        assert bits(head, 44, 63) == 0
        record.word()
        record.string(bits(head, 24, 39))
        record.args(bits(head, 40, 43))
    elif kind == 8:
        assert bits(head, 60, 63) == 0 and bits(head, 24, 27) <= 5
        record.word()
        record.thread(bits(head, 28, 35))
        record.thread(bits(head, 36, 43))
    elif kind == 9:
        assert bits(head, 31, 31) == bits(head, 40, 63) == 0
        record.word()
        record.thread(bits(head, 32, 39))
        record.text(bits(head, 16, 30))
    else:
        raise AssertionError(("record type", kind))


def main():
    at, providers, tables = 0, {}, None
    assert words[0] == 0x0016547846040010, "no magic number"
    while at < len(words):
        head = words[at]
        kind, size = bits(head, 0, 3), bits(head, 4, 15)
        assert size > 0 and at + size <= len(words), "size of a record"
        record = Record(at + 1, size - 1, tables)
        try:
            assert kind == 0 or tables is not None, "before any provider"
            if kind == 0:
                tables = metadata(head, record, providers)
            elif kind == 4:
                event(head, record)
            else:
                other(head, kind, record)
            assert record.at == record.end, "words behind the record"
        except Exception as error:
            sys.exit("offset %#x: record type %d: %r" % (at * 8, kind, error))
        at += size


main()
