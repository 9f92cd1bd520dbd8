#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes an archive as another machine would have recorded it.

    fxt_edit.py IN OUT [--drift PPM [--base NS]] [--later SECONDS] [--machine N] [--session N] [--no-clocks]

All times, those of the clock records too, are stretched by PPM, from the first clock record or NS on, and moved by SECONDS;
the clock records are of machine and session N, or left out. The dates in them stay, as a machine would have them whose
clock alone is another one.
"""
import argparse
import struct

parser = argparse.ArgumentParser()
parser.add_argument("input")
parser.add_argument("output")
parser.add_argument("--drift", type=float, default=0)
parser.add_argument("--base", type=int)
parser.add_argument("--later", type=float, default=0)
parser.add_argument("--machine", type=int)
parser.add_argument("--session", type=int)
parser.add_argument("--no-clocks", action="store_true")
options = parser.parse_args()

data = open(options.input, "rb").read()
words = list(struct.unpack("<%dQ" % (len(data) // 8), data))
CLOCK = b"fxtrace:clock\0\0\0"


def is_clock(at, size):
    return words[at] & 15 == 5 and size == 11 and data[at * 8 + 8:at * 8 + 24] == CLOCK


def records():
    at = 0
    while at < len(words):
        size = words[at] >> 4 & 0xfff
        yield at, size
        at += size


base = options.base
if base is None:
    base = next((words[at + 4] for at, size in records() if is_clock(at, size)), 0)


def moved(ns):
    return base + int((ns - base) * (1 + options.drift / 1e6)) + int(options.later * 1e9)


kept = []
for at, size in records():
    kind, subtype = words[at] & 15, words[at] >> 16 & 15
    if is_clock(at, size):
        if options.no_clocks:
            continue
        words[at + 4] = moved(words[at + 4])
        if options.session is not None:
            words[at + 6] = options.session
        if options.machine is not None:
            words[at + 7:at + 9] = [options.machine, options.machine]
    elif kind in (4, 8, 9, 10):
        words[at + 1] = moved(words[at + 1])
        if kind == 4 and subtype == 4:
            words[at + size - 1] = moved(words[at + size - 1])
    kept += words[at:at + size]
open(options.output, "wb").write(struct.pack("<%dQ" % len(kept), *kept))
