# SPDX-License-Identifier: MIT
"""What a provider in another language can get into: provider_load.py CASE, below fxtrace run.

Threads write events that are numbered from 0 and carry values that follow from the number, so that
provider_expect.py can tell from an archive what is missing and what is wrong.
"""
import errno
import os
import signal
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.environ["FX_SRCDIR"], "examples"))
import provider  # noqa: E402 (found by the path above)


def start(work, count):
    """Runs work(number) in `count` threads of their own."""
    threads = [threading.Thread(target=work, args=(i,), name="worker %d" % i) for i in range(count)]
    for thread in threads:
        thread.start()
    return threads


def load(threads, rounds):
    """The work of the example."""
    p = provider.Provider("load")
    for thread in start(lambda i: provider.work(p, i, rounds), threads):
        thread.join()


def names(count):
    """More strings than the buffer has room for."""
    p = provider.Provider("names")
    w = provider.Writer(p)
    for i in range(count):
        w.instant("demo", "name %d" % i, number=i, text="name %d" % i)
    w.leave()


def killed(threads, rounds):
    """Each thread says in a file how many of its events are written. Then kill -9."""
    p = provider.Provider("killed")
    done = [0] * threads

    def work(number):
        w = provider.Writer(p)
        with open("done.%d" % number, "wb", buffering=0) as f:
            while True:
                w.instant("demo", "tick", number=done[number])
                done[number] += 1
                os.pwrite(f.fileno(), struct.pack("=Q", done[number]), 0)

    start(work, threads)
    while min(done) < rounds:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGKILL)


def stopped():
    """Goes on after the stop. What stands in the file was written before: nothing, where the session
    was over before the manager took the program."""
    number = 0
    try:
        p = provider.Provider("stopped")
    except OSError as e:
        if e.errno != errno.ESHUTDOWN:
            raise
        with open("done", "w") as f:
            f.write("0")
        return
    w = provider.Writer(p)
    while w.on():
        w.instant("demo", "tick", number=number)
        number += 1
        time.sleep(0.001)
    with open("done", "w") as f:
        f.write(str(number))
    for i in range(number, number + 1000):
        w.instant("demo", "tick", number=i)
    w.leave()


def sessions():
    """Registered before any session, and records in each, until there is a file `end`. Leaves the
    packets that it has posted in the file `packets`: request, data32, data64."""
    p = provider.Provider("sessions", ["demo", "other"])
    w = provider.Writer(p)
    number = 0
    while not os.path.exists("end"):
        w.instant("demo", "tick", number=number)
        w.instant("other", "tock", number=number)
        number += 1
        time.sleep(0.0002)
    w.leave()
    with open("packets", "w") as f:
        for at in range(p.buffer[provider.PACKET_HEAD]):
            first, data64 = p.buffer[provider.PACKETS + at * 4 + 1:provider.PACKETS + at * 4 + 3]
            f.write("%d %d %d\n" % (first & 0xFFFFFFFF, first >> 32, data64))


class Unhurried(socket.socket):
    """Between its request and its answer lies all that happens until there is a file `go`."""
    def recvmsg(self, *args):
        open("asked", "w").close()
        while not os.path.exists("go"):
            time.sleep(0.001)
        answer = super().recvmsg(*args)
        status, started = struct.unpack("=8xiI16x", answer[0])
        if status or started:
            sys.exit("status %d, started %d" % (status, started))
        return answer


def asynchronous():
    """RegisterProvider: does not wait for what becomes of it."""
    provider.socket.socket = Unhurried
    sessions()


def forked(rounds):
    """A forked child goes on with what it inherited; it must not reach its parent's buffer."""
    p = provider.Provider("forked")
    w = provider.Writer(p)
    for i in range(rounds):
        w.instant("demo", "tick", number=i)
        if i == rounds // 2:
            child = os.fork()
            if child == 0:
                for _ in range(rounds):
                    w.instant("demo", "tick", number=-1)
                w.leave()
                os._exit(0)
            os.waitpid(child, 0)
    w.leave()


def twice(rounds):
    """Who registers again was another program before: the first provider has ended."""
    for name in ("first", "second"):
        w = provider.Writer(provider.Provider(name))
        for i in range(rounds):
            w.instant("demo", name, number=i)
        w.leave()


def refused():
    """Requests that are none, and the errors that they get."""
    good = struct.pack("=IHHIIII104s", 0x54584630, 1, 1, os.getpid(), 0, 0, 0, b"refused")
    for request, error in (
            (good[:-1], "EMSGSIZE"),
            (good + b"\0", "EMSGSIZE"),
            (b"?" + good[1:], "EBADMSG"),
            (good[:6] + b"\2" + good[7:], "EBADMSG"),
            (good[:4] + b"\2" + good[5:], "EPROTONOSUPPORT")):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
            s.settimeout(10)
            s.connect(os.environ["FXTRACE_SOCKET"])
            s.send(request)
            reply, fds, _, _ = socket.recv_fds(s, 64, 3)
            status = struct.unpack("=IHHiIQQ", reply)[3]
            if os.strerror(-status) != os.strerror(getattr(__import__("errno"), error)) or fds:
                sys.exit("%s instead of %s, %d descriptors" % (os.strerror(-status), error, len(fds)))
            if s.recv(1):
                sys.exit("a second answer after %s" % error)


globals()[sys.argv[1]](*map(int, sys.argv[2:]))
