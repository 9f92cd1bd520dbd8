#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""waits.py ARCHIVE [CATEGORY]: the threads of a trace by how long they were in calls of a category (syscall)."""

import collections
import sys

import fxtrace

if len(sys.argv) not in (2, 3):
    sys.exit(f"Usage: {sys.argv[0]} ARCHIVE [CATEGORY]")
category = sys.argv[2] if len(sys.argv) == 3 else "syscall"
totals = collections.Counter()
names = {}
try:
    for event in fxtrace.open(sys.argv[1], on_fault=lambda fault: print(fault, file=sys.stderr)):
        if event.category == category and event.duration is not None:
            totals[event.tid] += event.duration
            names[event.tid] = event.thread_name or event.process_name
except OSError as error:
    sys.exit(f"{sys.argv[0]}: {error}")
for tid, ns in totals.most_common():
    print(f"{ns / 1e6:12.3f} ms  {names[tid]} ({tid})")
