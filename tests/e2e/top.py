#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`fxtrace top' on a terminal, and the numbers of --batch.

    top.py screen FXTRACE ARCHIVE                 while its session goes on
    top.py batch SAMPLES DUMP                     of a whole session, and `dump --json' of it"""

import collections
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time


def batch(samples, dump):
    ways = {"write": 1, "sendfile": 2} # those of sendfile() are read and written
    calls, moved, times = collections.Counter(), collections.Counter(), [0.0]
    for line in open(dump):
        record = json.loads(line)
        if record["kind"] == "event" and record["type"] == "complete":
            calls[record["pid"]] += 1
            if record["category"] == "syscall" and record["name"] in ways:
                ret = next(a["value"] for a in record["args"] if a["name"] == "ret")
                moved[record["pid"]] += ways[record["name"]] * ret
    totals, bytes_seen, calls_seen, equal = {}, collections.Counter(), collections.Counter(), []
    for line in open(samples):
        words = line.split()
        if words[:1] == ["time"]:
            times.append(float(words[1]))
        elif words and words[0] != "PID":
            pid, tid, total = int(words[0]), int(words[1]), int(words[7])
            assert tid == 0, "a thread"
            seconds = max(times[-1] - times[-2], 0.2)
            assert total >= totals.get(pid, 0), "calls that go back"
            if len(times) > 2:
                more, rate = total - totals.get(pid, 0), int(words[2])
                slack = 2 + more / 20 + seconds
                assert rate * seconds <= more + slack, (rate, seconds, more)
                # What ended before the command began is in the totals alone, and may come with the first samples.
                equal.append(rate * seconds >= more - slack)
            bytes_seen[pid] += int(words[4]) * seconds
            calls_seen[pid] += int(words[2]) * seconds
            totals[pid] = total
    assert len(times) > 4, "few samples"
    assert sum(equal) * 2 >= len(equal), equal
    assert totals == dict(calls), (totals, calls)
    pid, = moved
    assert 0 < bytes_seen[pid] <= moved[pid] * 1.05 + 100, (bytes_seen, moved)
    # Of thirteen calls one is sendfile().
    assert bytes_seen[pid] >= 8000 * (calls_seen[pid] // 13 - 1) * 0.9, (bytes_seen, calls_seen)


class Terminal:
    def __init__(self, rows, columns, *words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            time.sleep(0.2)
            os.environ["TERM"] = "xterm"
            os.execv(words[0], words)
        self.size(rows, columns)
        self.text = ""
        self.modes = termios.tcgetattr(self.fd)

    def size(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def see(self, pattern):
        end = time.monotonic() + 60
        self.text = ""
        while not re.search(pattern, self.text):
            assert time.monotonic() < end, f"no {pattern!r} in {self.text[-2000:]!r}"
            if select.select([self.fd], [], [], 1)[0]:
                self.text += os.read(self.fd, 65536).decode(errors="replace")

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        """Its status; the terminal is as it was."""
        end, status = time.monotonic() + 60, 0
        while True:
            assert time.monotonic() < end, "it does not end"
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                break
        assert "\x1b[?1049l" in self.text, f"the screen is left: {self.text[-300:]!r}"
        after = termios.tcgetattr(self.fd)
        assert after[:4] == self.modes[:4], "the terminal is in another mode"
        return status


def screen(fxtrace, archive):
    words = fxtrace, "top", "--interval", "100ms", archive
    terminal = Terminal(24, 100, *words)
    terminal.see(r"CALLS/s[\s\S]*rate")
    terminal.type("tb")
    terminal.see(r"by(tes)?")
    terminal.size(10, 40)
    terminal.see(r"\d")
    terminal.type("q")
    assert terminal.end() == 0
    terminal = Terminal(5, 20, *words)
    terminal.see(r"NAME|rate")
    terminal.type("\x03")
    assert os.WTERMSIG(terminal.end()) == signal.SIGINT
    terminal = Terminal(24, 80, *words)
    terminal.see(r"rate")
    os.kill(terminal.pid, signal.SIGTERM)
    assert os.WTERMSIG(terminal.end()) == signal.SIGTERM


globals()[sys.argv[1]](*sys.argv[2:])
