#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shape of a Perfetto trace, as tests/convert/show_perfetto prints it: what is in it, without times, numbers and
addresses. Processes and threads are numbered in the order of their first events, arrows as they come.

    PROCESS.THREAD  what is open  kind category:name  argument names  arrow"""

import re
import sys

EVENT = re.compile(r"(\d+)/(\d+) @(\d+) (begin|end|instant)(?: (.*))?$")
COUNTER = re.compile(r"track '([^']*)' .* of process (\d+) counter")
WORDS = re.compile(r"(\w+)=('[^']*'|\S+)|\S+(?: (?![\w]+=)\S+)*")

tracks, counters = {}, set()
for line in sys.stdin:
    line = line.rstrip("\n")
    if (m := EVENT.match(line)):
        pid, tid, time, kind, rest = m.groups()
        tracks.setdefault((int(pid), int(tid)), []).append((int(time), kind, rest or ""))
    elif (m := COUNTER.match(line)):
        counters.add((int(m.group(2)), m.group(1)))


def first(key):
    return tracks[key][0][0]


def numbered(keys):
    return {key: i + 1 for i, key in enumerate(keys)}


order = sorted(tracks, key=first)
processes = numbered(dict.fromkeys(pid for pid, _ in order))
arrows = {}
for pid, process in processes.items():
    threads = [key for key in order if key[0] == pid]
    for thread, key in enumerate(threads, 1):
        depth, raw = 0, []
        for _, kind, rest in tracks[key]:
            if kind == "end":
                depth -= 1
                raw.pop()
                continue
            words = list(WORDS.finditer(rest))
            name = words[0].group(0)
            known = [w.group(1) for w in words if w.group(1)]
            values = {w.group(1): w.group(2) for w in words if w.group(1)}
            is_raw = name.startswith("syscall:") and "number" in known
            if not is_raw:
                arrow = ""
                if "flow" in known:
                    known.remove("flow")
                    flow = values["flow"]
                    arrow = " arrow %d" % arrows.setdefault(flow, len(arrows) + 1)
                print("%d.%d %s%s %s%s%s" % (process, thread, "| " * depth, kind, name,
                                             " (%s)" % " ".join(known) if known else "", arrow))
            if kind == "begin":
                depth += 1
                raw.append(is_raw)
        if depth:
            print("%d.%d %d still open" % (process, thread, depth))
    for name in sorted(n for p, n in counters if p == pid):
        print("%d counter %s" % (process, name))
