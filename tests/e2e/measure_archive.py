#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes an archive whose every time and argument is known: measure_archive.py FILE

Process 100 with the threads 100 and 101, times in ns from 1,000,000 on:
  work      100 slices on each thread, the I-th I us long, with index = I and kind = "even" or "odd"
  send      instants, I = 0..9 on thread 100, with id = I
  recv      instants on thread 101, 10 us, 20 us, ... later, the last one missing; and one with an id nobody sent
  fetch     asynchronous operations, three that overlap, 5, 7 and 9 us long, with size = 1, 2, 3; and one without an end
  level     a counter with the values 10, 20 and 30
  open      a slice that did not finish
"""

import struct
import sys

words = []
START = 1_000_000


def text(string):
    """A reference to a string that stands in the record, and its words."""
    data = string.encode()
    padded = data + b"\0" * (-len(data) % 8)
    return 0x8000 | len(data), list(struct.unpack(f"={len(padded) // 8}Q", padded))


def argument(name, value):
    name_ref, body = text(name)
    if isinstance(value, str):
        value_ref, more = text(value)
        body = body + more
        head = 6 | value_ref << 32
    else:
        body = body + list(struct.unpack("=Q", struct.pack("=q", value)))
        head = 3
    return [head | (len(body) + 1) << 4 | name_ref << 16] + body


def event(kind, name, thread, at, last=None, /, **args):
    category_ref, category = text("test")
    name_ref, name_words = text(name)
    body = [START + at, 100, thread] + category + name_words
    for key, value in args.items():
        body += argument(key, value)
    if last is not None:
        body.append(last)
    words.append(4 | (len(body) + 1) << 4 | kind << 16 | len(args) << 20 | category_ref << 32 | name_ref << 48)
    words.extend(body)


INSTANT, COUNTER, BEGIN, END, COMPLETE, ASYNC_BEGIN, ASYNC_INSTANT, ASYNC_END = range(8)

words.append(0x0016547846040010)
words.extend([1 | 2 << 4, 1_000_000_000])
for thread in (100, 101):
    at = 0
    for i in range(1, 101):
        event(COMPLETE, "work", thread, at, START + at + i * 1000, index=i, kind="even" if i % 2 == 0 else "odd")
        at += i * 1000 + 10
for i in range(10):
    event(INSTANT, "send", 100, 20_000_000 + i * 1000, id=i)
for i in range(9):
    event(INSTANT, "recv", 101, 20_000_000 + i * 1000 + (i + 1) * 10_000, id=i)
event(INSTANT, "recv", 101, 20_500_000, id=77)
for i, length in enumerate((5000, 7000, 9000)):
    event(ASYNC_BEGIN, "fetch", 100, 21_000_000 + i * 100, 1000 + i, size=i + 1)
event(ASYNC_BEGIN, "fetch", 100, 21_000_000, 2000, size=4)
for i, length in enumerate((5000, 7000, 9000)):
    event(ASYNC_END, "fetch", 101, 21_000_000 + i * 100 + length, 1000 + i, done=i * 11)
for i in range(3):
    event(COUNTER, "level", 100, 22_000_000 + i, 1, value=10 * (i + 1))
event(BEGIN, "open", 100, 23_000_000)

with open(sys.argv[1], "wb") as f:
    f.write(struct.pack(f"={len(words)}Q", *words))
