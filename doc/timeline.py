#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws an archive as a picture (SVG), as a viewer would show it:

    fxtrace dump --json demo.fxt | doc/timeline.py [FROM_MS [TO_MS]] >demo.svg

A row of lanes for each thread, under its process; a box for each slice; arrows for flows. For
documents: it takes every record into memory.
"""
import json
import sys
import zlib
from collections import defaultdict
from html import escape

WIDTH, LEFT, LANE, GAP, TOP = 1180, 150, 17, 9, 34
COLOURS = {"function": 215, "syscall": 28, "pthread": 268, "process": 140}


def read(lines):
    slices, flows, names = defaultdict(list), defaultdict(dict), {}
    for line in lines:
        r = json.loads(line)
        if r["kind"] == "kernel-object":
            names[(r["type"], int(r["koid"]))] = r["name"]
        if r["kind"] != "event":
            continue
        key = (r["pid"], r["tid"])
        if r["type"] == "complete":
            slices[key].append((r["ts"], r["end"], r["name"], r["category"]))
        elif r["type"] in ("flow-begin", "flow-end"):
            flows[r["id"]][r["type"]] = (key, r["ts"])
    return slices, flows, names


def lanes(items):
    """Nests the slices of one thread: (start, end, name, category, depth)."""
    placed, open_ends = [], []
    for start, end, name, category in sorted(items, key=lambda s: (s[0], -s[1])):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        placed.append((start, end, name, category, len(open_ends)))
        open_ends.append(end)
    return placed


def box(x, y, w, name, category):
    hue = COLOURS.get(category, 0) + zlib.crc32(name.encode()) % 24 - 12
    fill = f"hsl({hue},62%,{74 + zlib.crc32(name[::-1].encode()) % 10}%)"
    out = f'<rect x="{x:.1f}" y="{y}" width="{max(w, 0.6):.1f}" height="{LANE - 2}" fill="{fill}"/>'
    room = int(w / 6.1)
    if room > 2:
        text = name if len(name) <= room else name[: room - 1] + "…"
        out += f'<text x="{x + 3:.1f}" y="{y + 11}">{escape(text)}</text>'
    return out


def draw(slices, flows, names, begin_ms, end_ms):
    zero = min(s[0] for items in slices.values() for s in items)
    last = max(s[1] for items in slices.values() for s in items)
    begin = zero + begin_ms * 1e6
    end = min(last, zero + end_ms * 1e6) if end_ms else last

    def at(ts):
        return LEFT + (min(max(ts, begin), end) - begin) / (end - begin) * (WIDTH - LEFT - 10)

    out, y, row = [], TOP, {}
    for key in sorted(slices, key=lambda k: (min(s[0] for s in slices[k]), k)):
        pid, tid = key
        if pid == tid:
            process = names.get(("process", pid), "")
            out.append(f'<text x="6" y="{y + 12}" class="p">{escape(process)} {pid}</text>')
            y += LANE
        out.append(f'<text x="14" y="{y + 11}">{escape(names.get(("thread", tid), ""))} {tid}</text>')
        placed = lanes(slices[key])
        row[key] = y
        for start, stop, name, category, depth in placed:
            if stop > begin and start < end:
                out.append(box(at(start), y + depth * LANE, at(stop) - at(start), name, category))
        y += (max(p[4] for p in placed) + 1) * LANE + GAP
    for ends in flows.values():
        if len(ends) < 2:
            continue
        (k1, t1), (k2, t2) = ends["flow-begin"], ends["flow-end"]
        if k1 in row and k2 in row and begin <= t1 and t2 <= end:
            x1, y1, x2, y2 = at(t1), row[k1] + 8, at(t2), row[k2] + 8
            out.append(
                f'<path d="M{x1:.1f} {y1} C{x1 + 25:.1f} {y1} {x2 - 25:.1f} {y2} {x2:.1f} {y2}" '
                'fill="none" stroke="#c33" stroke-width="1.1" marker-end="url(#a)"/>'
            )
    ticks = []
    for i in range(9):
        ts = begin + (end - begin) * i / 8
        ticks.append(
            f'<line x1="{at(ts):.1f}" y1="24" x2="{at(ts):.1f}" y2="{y}" stroke="#e4e4e4"/>'
            f'<text x="{at(ts) + 2:.1f}" y="18" fill="#777">{(ts - zero) / 1e6:.1f} ms</text>'
        )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" '
        f'viewBox="0 0 {WIDTH} {y}" font-family="sans-serif" font-size="10.5">'
        "<style>.p{font-weight:bold}</style>"
        '<defs><marker id="a" markerWidth="7" markerHeight="6" refX="6" refY="3" orient="auto">'
        '<path d="M0 0L7 3L0 6z" fill="#c33"/></marker></defs>'
        f'<rect width="{WIDTH}" height="{y}" fill="#fff"/>'
    )
    return head + "".join(ticks) + "\n".join(out) + "</svg>\n"


def main():
    limits = [float(a) for a in sys.argv[1:3]] + [0, 0]
    sys.stdout.write(draw(*read(sys.stdin), limits[0], limits[1]))


main()
