#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A trace provider in plain Python for x86-64, after doc/PROTOCOL.md and doc/BUFFER.md.

    FXTRACE_DISABLE=1 fxtrace run -o out.fxt -- python3 provider.py [THREADS ROUNDS]

FXTRACE_DISABLE keeps libfxtrace.so from registering the interpreter: a process is one provider.
Each thread writes into a chunk of its own, without a lock. What threads share (claims of chunks,
slots, strings, packets) this process alone writes, so a lock of ours stands in for the atomic
operations of engine/. Release and acquire need nothing: an assignment to an element of a ctypes
array is one store, and x86-64 keeps their order. Signal handlers must not record.
"""
import ctypes
import fcntl
import mmap
import os
import socket
import struct
import sys
import threading
import time

MESSAGE_MAGIC, MESSAGE_VERSION, REGISTER = 0x54584630, 1, 1
CONTROL_MAGIC, BUFFER_MAGIC, LAYOUT_VERSION = 0x304C545254584746, 0x3046554254584746, 1
STARTED, SAVE_BUFFER, STOPPED, FIFO_VERSION = 1, 2, 3, 1  # packets
CIRCULAR, BLOCK, OWNER_DIED, CONTROL = 2, 1, 1 << 30, "=QII120xI36x6Q4I"
CATEGORY_USER, STOPPING, KNOWN = 1 << 8, 1 << 29, 1 << 49  # in the state; in a string's header
HELD, RELEASED, BEYOND = 1 << 24, 1 << 25, (1 << 64) - 2  # in words of the chunk table; in saved[]
INSTANT, COUNTER, COMPLETE, LOCAL, SLOT_WORDS, SYS_FUTEX, FUTEX_WAKE = 0, 1, 4, 0x7000, 2048, 202, 1
# Places, in words: of the control page, the buffer's header, a slot, and the common page.
STATE, SPACE, MODE, SERIAL_LIMIT, WANTED, SAVED = 8, 9, 16, 30, 31, 512
ROLLING, HINT, EPOCH_STARTED, EPOCH_STOPPED, PACKET_HEAD, PACKETS = 8, 16, 26, 27, 40, 512
NAME, DROPPED, FIRST_DROP, LAST_DROP, LAST_TID, GAP = 2, 4, 5, 6, 10, 29

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + 3 * [ctypes.c_int] + [ctypes.c_long]
libc.mmap.restype = ctypes.c_size_t


def map_words(size, prot, flags, fd=-1):
    address = libc.mmap(None, size, prot, flags, fd, 0)
    if fd >= 0:
        os.close(fd)
    if address == ctypes.c_size_t(-1).value:
        raise OSError(ctypes.get_errno(), "cannot map memory")
    return (ctypes.c_uint64 * (size // 8)).from_address(address)


def counter_function():
    page = map_words(4096, mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC,
                     mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    page[:2] = words_of(bytes.fromhex("0f31 48c1e220 4809d0 c3"))  # rdtsc; join its halves; ret
    return ctypes.PYFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(page))


def check_manager(s):
    """It is to be root's or ours: who listens at a path is who was there first."""
    _, uid, _ = struct.unpack("3i", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if uid not in (0, os.geteuid()):
        raise OSError(1, "the manager is another user's")


def check_memory(fd, size):
    """What can be cut off would end us by a signal. The seal first, then the size."""
    if not fcntl.fcntl(fd, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK or os.fstat(fd).st_size < size:
        raise OSError(71, "the manager's memory can shrink, or is too small")


def register(name):
    """One request, one answer. Returns control page, common page and buffer."""
    request = struct.pack("=IHH16x104s", MESSAGE_MAGIC, MESSAGE_VERSION, REGISTER,
                          name.encode()[:100])
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(3)
        s.connect(os.environ["FXTRACE_SOCKET"])
        check_manager(s)
        s.send(request)
        reply, fds, _, _ = socket.recv_fds(s, 32, 3)
    _, version, _, status, _, control, buffer = struct.unpack("=IHHiIQQ", reply)
    if version != MESSAGE_VERSION or status:
        raise OSError(-status, "the manager refused: " + os.strerror(-status))
    for fd, size in zip(fds, (control, 4096, buffer)):
        check_memory(fd, size)
    return (map_words(control, mmap.PROT_READ, mmap.MAP_SHARED, fds[0]),
            map_words(4096, mmap.PROT_READ, mmap.MAP_SHARED, fds[1]),
            map_words(buffer, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fds[2]))


def words_of(data):
    return [*struct.unpack("=%dQ" % ((len(data) + 7) // 8), data + bytes(-len(data) % 8))]


def string_record(index, text, flags=0):
    text = text.encode()[:32000]
    return [2 | (len(text) + 15) // 8 << 4 | index << 16 | len(text) << 32 | flags] + words_of(text)


def argument(name, value):
    if isinstance(value, int):
        return [3 | 2 << 4 | name << 16, value & 2**64 - 1]
    if isinstance(value, float):
        return [5 | 2 << 4 | name << 16] + words_of(struct.pack("=d", value))
    text = str(value).encode()[:32000]
    words, ref = words_of(text), 0x8000 | len(text) if text else 0  # stands in the record itself
    return [6 | (1 + len(words)) << 4 | name << 16 | ref << 32] + words


class Provider:
    """The process. Places are in words."""

    def __init__(self, name, known=()):
        self.control, self.common, self.buffer = register(name)
        (magic, version, clock, self.step, slots, table, durable, room, half0, half1, self.slot_count,
         chunk, self.per_half, self.halves) = struct.unpack_from(CONTROL, self.control)
        if (magic, version) != (CONTROL_MAGIC, LAYOUT_VERSION):
            raise OSError("the control page is of another version")
        boottime = lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.ticks = counter_function() if clock else boottime
        self.slots, self.table, self.rolling = slots // 8, table // 8, (half0 // 8, half1 // 8)
        self.durable, self.room, self.chunk_words = durable // 8, room // 8, chunk // 8
        self.lock, self.alive, self.strings, self.durable_used = threading.Lock(), True, {}, 0
        os.register_at_fork(after_in_child=lambda: setattr(self, "alive", False))
        for category in known:
            self.string(category, [], KNOWN)
        self.buffer[0] = BUFFER_MAGIC

    def wants(self, category):
        """Whether the list of categories has this one: the last word that matches decides."""
        for word in reversed(self.words):
            name = word.removeprefix("-")
            if name == category or name.endswith("*") and category.startswith(name[:-1]):
                return name == word
        return not self.words[0]

    def notice(self, state):
        """A thread has found another state. The first that finds a start or a stop says so."""
        epoch, bits = divmod(state, 1 << 32)
        with self.lock:
            started, stopped = self.buffer[EPOCH_STARTED:EPOCH_STOPPED + 1]
            if bits & ~STOPPING and started < epoch:
                self.on_full, self.mode = divmod(self.control[MODE], 1 << 32)
                self.limit = self.control[SERIAL_LIMIT] or 1 << 64
                words = bytes(self.control)[self.control[WANTED]:].partition(b"\0\0")[0]
                self.words = words.decode().split("\0")
                self.buffer[EPOCH_STARTED] = epoch
                self.post(STARTED, FIFO_VERSION, epoch)
            elif bits == STOPPING and stopped < epoch == started:
                self.buffer[EPOCH_STOPPED] = epoch
                self.post(STOPPED, 0, epoch)

    def post(self, request, data32, data64):
        """A packet into the ring. With the lock held."""
        head = self.buffer[PACKET_HEAD]
        slot = PACKETS + head % 64 * 4
        self.buffer[PACKET_HEAD] = head + 1
        self.buffer[slot + 1:slot + 3] = request | data32 << 32, data64
        self.buffer[slot] = head + 1
        self.ring_doorbell()

    def ring_doorbell(self):
        libc.syscall(SYS_FUTEX, ctypes.byref(self.common, 4), FUTEX_WAKE, 1, None, None, 0)

    def string(self, text, local, flags=0):
        """A string's index. One without room for good is defined in `local`, for one chunk."""
        with self.lock:
            if text in self.strings:
                return self.strings[text]
            index, at = 1 + len(self.strings), self.durable + self.durable_used
            record = string_record(index, text, flags)
            if index < LOCAL and self.durable_used + len(record) <= self.room:
                self.buffer[at + 1:at + len(record)] = record[1:]
                self.buffer[at] = record[0]
                self.strings[text], self.durable_used = index, self.durable_used + len(record)
                self.buffer[HINT] = 8 * self.durable_used
                return index
        local.append(string_record(LOCAL + len(local), text))
        return LOCAL + len(local) - 1

    def claim(self):
        """Takes a chunk: its serial and number; None: there is no room."""
        with self.lock:
            for _ in range(2 * self.halves * self.per_half + 2):
                wrap, used = divmod(self.buffer[ROLLING], 1 << 32)
                serial, number = (w * self.per_half + used for w in (wrap, wrap % self.halves))
                if serial >= self.limit:
                    return None
                if used < self.per_half:
                    word, saved = self.buffer[self.table + number], self.control[SAVED + number]
                    free = not word & HELD if self.mode == CIRCULAR else word == saved
                    self.buffer[ROLLING] = wrap << 32 | used + 1
                    if free and self.control[SAVED + number] != BEYOND:
                        if self.mode == CIRCULAR:
                            self.buffer[self.table + number] = serial << 26 | HELD | RELEASED
                        return serial, number
                elif self.mode == CIRCULAR or self.control[SPACE] & 0xFFFFFFFF >= wrap:
                    self.buffer[ROLLING] = wrap + 1 << 32
                    if self.mode != CIRCULAR:
                        self.post(SAVE_BUFFER, wrap, 8 * self.durable_used)
                else:
                    return None  # the other half is not saved yet


class Writer:
    """A thread: its slot in the thread area, and the chunk that it holds."""

    def __init__(self, p):
        self.p, self.b, self.state, self.last, self.chunk = p, p.buffer, 0, 0, 0
        self.name = threading.current_thread().name.encode()[:15]
        with p.lock:
            slots = range(p.slots, p.slots + p.slot_count * SLOT_WORDS, SLOT_WORDS)
            self.slot = next(s for s in slots if not self.b[s] & 0xFFFFFFFF)
            self.b[self.slot + NAME:self.slot + NAME + 2] = words_of(self.name.ljust(16, b"\0"))
            self.b[self.slot + LAST_TID] = threading.get_native_id()
            self.b[self.slot] += (1 << 32) + self.b[self.slot + LAST_TID]

    def on(self):
        """Whether the program's own events are wanted now."""
        p, state = self.p, self.p.control[STATE]
        if not p.alive or p.common[0] & OWNER_DIED:
            return False
        if self.state != state:
            self.release()
            p.notice(state)
            self.state = state
        return bool(state & CATEGORY_USER)

    def now(self):
        self.last = max(self.p.ticks(), self.last + self.p.step)
        return self.last

    def take(self):
        """Another chunk in place of what is held. False: there is none."""
        p, patience = self.p, time.monotonic() + 10
        self.release()
        while not (claim := p.claim()):
            if p.on_full != BLOCK or time.monotonic() > patience or not self.on():
                return False
            p.ring_doorbell()
            time.sleep(0.001)
        serial, number = claim
        self.chunk = p.rolling[number // p.per_half] + number % p.per_half * p.chunk_words
        self.at, self.end = self.chunk + 3, self.chunk + p.chunk_words
        self.b[self.chunk:self.end] = [0] * p.chunk_words
        self.b[self.chunk + 1:self.at] = os.getpid(), threading.get_native_id()
        self.b[self.chunk] = 3 | 3 << 4 | 1 << 16  # Thread Record: index 1
        self.place, self.serial = p.table + number, serial << 26
        self.b[self.place] = self.serial | HELD
        s = self.slot
        if self.b[s + FIRST_DROP]:  # what was lost until now is a gap
            self.b[s + GAP:s + GAP + 2] = self.b[s + FIRST_DROP], self.b[s + LAST_DROP]
            self.b[s + GAP + 2], self.b[s + FIRST_DROP] = self.b[s + DROPPED], 0
        return True

    def release(self):
        if self.chunk:
            self.b[self.place] = self.serial | RELEASED | 8 * (self.at - self.chunk)
        self.chunk = 0

    def leave(self):
        """The thread ends: says its name, gives back what it holds."""
        if not self.p.alive:
            return
        name = words_of(self.name)
        header = 7 | (2 + len(name)) << 4 | 2 << 16 | (0x8000 | len(self.name)) << 24
        if self.on() and self.has_room(2 + len(name)):
            self.write([header, threading.get_native_id(), *name])
        self.release()
        self.b[self.slot] &= ~0xFFFFFFFF  # the thread id

    def has_room(self, count):
        return count <= self.p.chunk_words - 3 and (
            self.chunk and self.at + count <= self.end or self.take())

    def write(self, words):
        """Records in one piece. The first word comes last, so that all are there or none."""
        if self.has_room(len(words)):
            self.b[self.at + 1:self.at + len(words)] = words[1:]
            self.b[self.at] = words[0]
            self.at += len(words)
        else:
            self.b[self.slot + LAST_DROP] = self.now()
            self.b[self.slot + FIRST_DROP] = self.b[self.slot + FIRST_DROP] or self.last
            self.b[self.slot + DROPPED] += 1

    def event(self, kind, category, name, arguments, start=None, *extra):
        if not self.on() or not self.p.wants(category):
            return
        local, payload = [], [start or self.now()]
        header = 4 | kind << 16 | len(arguments) << 20 | 1 << 24
        header |= self.p.string(category, local) << 32 | self.p.string(name, local) << 48
        for key, value in arguments.items():
            payload += argument(self.p.string(key, local), value)
        header |= (1 + len(payload) + len(extra)) << 4
        self.write(sum(local, []) + [header, *payload, *extra])

    def instant(self, category, name, **arguments):
        self.event(INSTANT, category, name, arguments)

    def counter(self, category, name, number, **values):
        self.event(COUNTER, category, name, values, None, number)

    def complete(self, category, name, start, **arguments):
        self.event(COMPLETE, category, name, arguments, start, self.now())


def work(provider, number, rounds):
    w = Writer(provider)
    for i in range(rounds):
        start = w.now()
        w.instant("demo", "tick", number=i)
        w.counter("demo", "rounds", number, done=i)
        w.complete("demo", "round", start, number=i, half=i / 2, even=i % 2 == 0, text=str(i))
    w.leave()


if __name__ == "__main__":
    count, rounds = map(int, sys.argv[1:] or (4, 1000))
    demo = Provider("provider.py", ["demo"])
    for i in range(count):
        threading.Thread(target=work, args=(demo, i, rounds), name="worker %d" % i).start()
