#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`fxtrace view', as browsers and others meet it, over sockets.

    view.py FXTRACE ARCHIVE CONVERTED PAGE    what it serves is CONVERTED, and PAGE with --html"""

import os
import pty
import re
import signal
import socket
import subprocess
import sys
import time

# What a shell starts in the background ignores it, and so would all that is started here.
signal.signal(signal.SIGINT, signal.SIG_DFL)

PERFETTO = "https://ui.perfetto.dev"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class View:
    """A server, on a port of its own."""

    all = []

    def __init__(self, *options, port=None, browser=False, **how):
        self.port = port or free_port()
        words = [fxtrace, "view", "--port", str(self.port), *options, archive]
        if not browser:
            words.append("--no-browser")
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)
        View.all.append(self)
        self.link = self.process.stdout.readline().strip()
        where = "127.0.0.1:%d" % (self.port if "--html" in options else 9001)
        match = re.search("http://%s(/[0-9a-f]{32}/[A-Za-z0-9._-]+)$" % where, self.link)
        assert match, f"no link: {self.link!r} {self.process.poll()}"
        self.path = match.group(1)

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def raw(self, data):
        """What comes back until the server closes."""
        with self.connect() as s:
            s.sendall(data)
            return receive(s)

    def ask(self, method="GET", path=None, **fields):
        fields = {"Host": "127.0.0.1:%d" % self.port, **fields}
        lines = ["%s %s HTTP/1.1" % (method, path or self.path)] + ["%s: %s" % f for f in fields.items() if f[1]]
        head, _, body = self.raw(("\r\n".join(lines) + "\r\n\r\n").encode()).partition(b"\r\n\r\n")
        status, *answers = head.decode().split("\r\n")
        return int(status.split()[1]), dict(a.split(": ", 1) for a in answers), body

    def expect(self, want, what, *args, **fields):
        status, answers, body = self.ask(*args, **fields)
        assert status == want, f"{what}: {status} instead of {want}"
        assert status == 200 or not body, f"{what}: a body"
        return answers

    def fetch(self, want, **fields):
        status, answers, body = self.ask(**fields)
        assert status == 200 and body == want, f"another file: {status}, {len(body)} bytes instead of {len(want)}"
        return answers

    def goes_on(self, what):
        time.sleep(0.2)
        assert self.process.poll() is None, f"it ended: {what}"

    def end(self, status=0):
        assert self.process.wait(timeout=120) == status, f"status {self.process.returncode}"
        assert self.process.stdout.read() == "", "more than a link"
        said = self.process.stderr.read()
        assert said == "", f"it said {said!r}"


def receive(s):
    data = b""
    while piece := s.recv(1 << 16):
        data += piece
    return data


def refusals(view):
    """Nobody else gets it, and nothing of this ends it."""
    view.expect(404, "another path", path="/")
    view.expect(404, "a name without its secret", path="/" + view.path.rsplit("/", 1)[1])
    view.expect(404, "more behind it", path=view.path + "?x")
    view.expect(404, "a way around", path="/.." + view.path)
    view.expect(404, "Perfetto's question for a processor", "POST", "/status", Origin=PERFETTO)
    for method in "POST", "PUT", "DELETE", "CONNECT", "get", "":
        answers = view.expect(405, method, method)
        assert answers["Allow"] == "GET, HEAD, OPTIONS"
    for origin in "https://evil.example", PERFETTO + ".evil.example", "http://ui.perfetto.dev", "null", "http://127.0.0.1:1":
        answers = view.expect(403, f"origin {origin}", Origin=origin)
        assert "Access-Control-Allow-Origin" not in answers, answers
        view.expect(403, f"preflight of {origin}", "OPTIONS", Origin=origin)
    for host in "evil.example", "evil.example:9001", "127.0.0.1.evil.example", "localhost.evil.example:9001":
        view.expect(403, f"host {host}", Host=host)
    view.expect(400, "no host", Host=None)
    view.goes_on("refusals")


def nonsense(view):
    own = b"Host: 127.0.0.1\r\n"
    get = b"GET " + view.path.encode() + b" HTTP/1.1\r\n"
    for data in (b"\r\n\r\n", b"GET\r\n\r\n", b"GET /\r\n\r\n", get + own + own + b"\r\n", get + own + b"no field\r\n\r\n",
                 get + own + b"Origin: " + PERFETTO.encode() + b"\r\nOrigin: https://evil.example\r\n\r\n",
                 get + own + b"\0\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n"):
        answer = view.raw(data)
        assert re.match(rb"HTTP/1.1 4\d\d ", answer), (data, answer)
    # Longer than anybody needs. What it leaves unread may cost its answer, but no more.
    try:
        answer = view.raw(get + own + b"X: " + b"x" * 100000 + b"\r\n\r\n")
        assert re.match(rb"HTTP/1.1 431 ", answer) or not answer, answer
    except ConnectionError:
        pass
    view.connect().close()
    view.goes_on("nonsense")


def dawdlers(view):
    """More than there is room for, who say nothing or a part; and one who takes a little and goes."""
    slow = [view.connect() for _ in range(100)]
    for s in slow[::2]:
        try:
            s.sendall(b"GET " + view.path.encode())
        except ConnectionError:
            pass  # made room for others
    with view.connect() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        s.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % view.path.encode())
        s.recv(1)
    view.goes_on("a part was fetched")
    view.fetch(converted)
    view.end()
    for s in slow:
        s.close()


def check():
    view = View()
    assert view.link.startswith(PERFETTO + "/#!/?url="), view.link
    refusals(view)
    nonsense(view)
    answers = view.expect(204, "preflight", "OPTIONS", Origin=PERFETTO)
    assert answers["Access-Control-Allow-Origin"] == PERFETTO, answers
    answers = view.expect(200, "head", "HEAD", Origin=PERFETTO)
    assert int(answers["Content-Length"]) == len(converted), answers
    view.goes_on("questions")
    answers = view.fetch(converted, Origin=PERFETTO, Host="localhost:9001")
    assert answers["Access-Control-Allow-Origin"] == PERFETTO, answers
    view.end()

    dawdlers(View())

    # One who takes his time, in the middle, while others come.
    view = View()
    with view.connect() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        s.sendall(b"GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % view.path.encode())
        first = s.recv(100)
        view.expect(404, "another meanwhile", path="/")
        body = (first + receive(s)).partition(b"\r\n\r\n")[2]
        assert body == converted, "taken slowly, it is another"
    view.end()

    view = View("--html")
    view.expect(403, "Perfetto's page", Origin=PERFETTO)
    answers = view.fetch(page, Origin="http://127.0.0.1:%d" % view.port)
    assert answers["Content-Type"].startswith("text/html"), answers
    view.end()

    # Ctrl-C leaves nothing, and the port can be had again.
    view = View()
    view.process.send_signal(signal.SIGINT)
    view.end(-signal.SIGINT)
    again = View(port=view.port)
    again.fetch(converted)
    again.end()

    browser()


def browser():
    """A desktop's browser is told the link; one that is not there, and no terminal, are no failure."""
    os.mkdir("bin")
    with open("bin/xdg-open", "w") as f:
        f.write('#!/bin/sh\nprintf "%s\\n" "$1" >opened.new\nmv opened.new opened\necho noise\n')
    os.chmod("bin/xdg-open", 0o755)
    path = os.environ["PATH"]
    for terminal, desktop, there in (True, ":9", True), (True, ":9", False), (True, "", True), (False, ":9", True):
        inside, outside = pty.openpty() if terminal else (None, subprocess.DEVNULL)
        view = View(browser=True, stdin=outside,
                    env={**os.environ, "DISPLAY": desktop, "PATH": ("bin:" if there else "") + path})
        if terminal and desktop and there:
            while not os.path.exists("opened"):
                time.sleep(0.05)
            with open("opened") as f:
                assert f.read().strip() == view.link, "another link is opened"
            os.unlink("opened")
        view.fetch(converted)
        view.end()
        assert not os.path.exists("opened"), (terminal, desktop, there)
        if terminal:
            os.close(inside)
            os.close(outside)


fxtrace, archive = sys.argv[1:3]
with open(sys.argv[3], "rb") as f:
    converted = f.read()
with open(sys.argv[4], "rb") as f:
    page = f.read()
try:
    check()
finally:
    for view in View.all:
        view.process.kill()
