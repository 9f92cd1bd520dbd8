#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The words through which modules of a process call others, as they stand in its memory: MODULE OFFSET VALUE, a line each.

    attach_words.py PID             all of them; "stub" for one that nobody has called through yet
    attach_words.py --left PID      those that lead into libfxtrace.so
"""
import os
import struct
import sys

SLOT, DATA = 7, 6  # R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT
WANTED = {2: "calls size", 5: "strings", 6: "symbols", 7: "all", 8: "all size", 23: "calls"}


def mappings(pid):
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        for line in maps:
            fields = line.split(None, 5)
            start, end = (int(x, 16) for x in fields[0].split("-"))
            yield start, end, int(fields[2], 16), fields[5].strip() if len(fields) > 5 else ""


def words(read, base):
    head = read(base, 64)
    if head[:4] != b"\x7fELF":
        return
    offset, = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    segments = [struct.unpack_from("<IIQQQQ", read(base + offset + i * size, 56)) for i in range(count)]
    lowest = min(s[3] for s in segments if s[0] == 1)
    bias = base - lowest // 4096 * 4096
    dynamic = [s for s in segments if s[0] == 2]
    if not dynamic:
        return
    entries = {}
    at = bias + dynamic[0][3]
    while True:
        tag, value = struct.unpack("<QQ", read(at, 16))
        at += 16
        if tag == 0:
            break
        if tag in WANTED:
            address = tag in (5, 6, 7, 23) and value < bias
            entries[WANTED[tag]] = value + bias if address else value
    for table in ("calls", "all"):
        if table not in entries:
            continue
        relocations = read(entries[table], entries[table + " size"])
        for place, info, _ in struct.iter_unpack("<QQq", relocations):
            if info & 0xffffffff not in (SLOT, DATA):
                continue
            symbol = read(entries["symbols"] + (info >> 32) * 24, 24)
            value, = struct.unpack("<Q", read(bias + place, 8))
            yield place, value, struct.unpack_from("<H", symbol, 6)[0] == 0


def main():
    left = sys.argv[1] == "--left"
    pid = int(sys.argv[-1])
    spans = list(mappings(pid))
    memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)

    def read(at, size):
        return os.pread(memory, size, at)

    def owner(address):
        return next((path for start, end, _, path in spans if start <= address < end), "")

    seen = set()
    for start, _, offset, path in spans:
        if offset or path in seen or not path.startswith("/") or "/ld-" in path or "libfxtrace.so" in path:
            continue
        seen.add(path)
        try:
            found = list(words(read, start))
        except OSError:  # it has gone meanwhile
            continue
        for place, value, is_foreign in found:
            if left:
                if "libfxtrace.so" in owner(value):
                    print(path, hex(place), hex(value))
            elif is_foreign and owner(value) == path:
                print(path, hex(place), "stub")
            else:
                print(path, hex(place), hex(value))


main()
