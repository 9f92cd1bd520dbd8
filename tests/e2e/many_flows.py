#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""many_flows.py pairs|mess COUNT: an archive of calls of six threads in three processes with flows between them. In
pairs each flow has a beginning and an end, and an id of its own. In a mess they begin, go on and end as it happens, with
few ids for all."""

import random
import struct
import sys

BEGIN, STEP, END, COMPLETE = 8, 9, 10, 4
CALL, WAKE, OTHER = 2, 3, 4
THREADS = 6


def words(*values):
    sys.stdout.buffer.write(struct.pack(f"<{len(values)}Q", *values))


def text(index, name):
    data = name.encode().ljust((len(name) + 7) // 8 * 8, b"\0")
    words(2 | (1 + len(data) // 8) << 4 | index << 16 | len(name) << 32, *struct.unpack(f"<{len(data) // 8}Q", data))


def event(kind, thread, name, ts, extra):
    words(4 | 3 << 4 | kind << 16 | thread << 24 | 1 << 32 | name << 48, ts, extra)


def pair(number, now):
    a, b = random.randint(1, THREADS), random.randint(1, THREADS)
    event(COMPLETE, a, CALL, now, now + 5)
    event(BEGIN, a, WAKE, now + 2, number + 1)
    event(COMPLETE, b, CALL, now + 7, now + 20)
    event(END, b, WAKE, now + 9, number + 1)
    return now + random.choice((3, 25))


def mess(_, now):
    thread, start = random.randint(1, THREADS), now + random.randint(0, 30)
    for _ in range(random.randint(0, 2)):
        event(COMPLETE, thread, random.choice((CALL, OTHER)), start, start + random.randint(0, 40))
    kind, name = random.choice((BEGIN, STEP, END)), random.choice((WAKE, OTHER))
    event(kind, thread, name, start + random.randint(0, 3), random.randint(1, 12))
    return now + random.randint(0, 20)


random.seed(1)
words(0x0016547846040010)
for position, word in enumerate(("cat", "call", "wake", "other"), 1):
    text(position, word)
for position in range(1, THREADS + 1):
    words(3 | 3 << 4 | position << 16, 100 + position % 3, 1000 + position)
time = 1000
for position in range(int(sys.argv[2])):
    time = (pair if sys.argv[1] == "pairs" else mess)(position, time)
