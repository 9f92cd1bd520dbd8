#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A trace provider in plain Python for x86-64, after doc/PROTOCOL.md and doc/BUFFER.md.

    FXTRACE_DISABLE=1 fxtrace run -o out.fxt -- python3 provider.py [THREADS [ROUNDS]]

FXTRACE_DISABLE keeps libfxtrace.so from registering the interpreter: a process is one provider.
Each thread writes into a chunk of its own, without a lock. What threads share (claims of chunks,
slots, strings, packets) this process alone writes, so a lock of ours stands in for the atomic
operations of engine/. Release and acquire need nothing: to assign to an element of a ctypes array
is one store, and x86-64 keeps stores, and loads, in order. Signal handlers must not record.
"""
import contextlib
import ctypes
import mmap
import os
import socket
import struct
import sys
import threading
import time

MESSAGE_MAGIC, MESSAGE_VERSION, REGISTER, CAUSE_START = 0x54584630, 1, 1, 0
CONTROL_MAGIC, BUFFER_MAGIC, LAYOUT_VERSION = 0x304C545254584746, 0x3046554254584746, 1
STARTED, SAVE_BUFFER, FIFO_VERSION = 1, 2, 1  # packets
CIRCULAR, BLOCK, CATEGORY_USER, OWNER_DIED = 2, 1, 1 << 8, 1 << 30
HELD, RELEASED, BEYOND = 1 << 24, 1 << 25, (1 << 64) - 2  # in words of the chunk table; in saved[]
INSTANT, COUNTER, COMPLETE, LOCAL, SLOT_WORDS = 0, 1, 4, 0x7000, 2048
# Places, in words: of the control page, the buffer's header, a slot, and the common page.
STATE, SPACE, SAVED = 8, 9, 512
ROLLING, HINT, NEXT_STRING, EPOCH, PACKET_HEAD, PACKETS = 8, 16, 17, 26, 40, 512
NAME, DROPPED, FIRST_DROP, LAST_DROP, LAST_TID = 2, 4, 5, 6, 10
SYS_FUTEX, FUTEX_WAIT, FUTEX_WAKE, TEN_MS = 202, 0, 1, struct.pack("=QQ", 0, 10_000_000)

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


def futex(words, byte, operation, value, timeout=None):
    address = ctypes.c_uint64(ctypes.addressof(words) + byte)
    libc.syscall(SYS_FUTEX, address, operation, value, timeout, None, 0)


def register(name):
    """One request, one answer. Returns control page, common page and buffer."""
    request = struct.pack("=IHHIIII104s", MESSAGE_MAGIC, MESSAGE_VERSION, REGISTER, os.getpid(),
                          threading.get_native_id(), CAUSE_START, os.getppid(), name.encode()[:100])
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.settimeout(3)
        s.connect(os.environ["FXTRACE_SOCKET"])
        s.send(request)
        reply, fds, _, _ = socket.recv_fds(s, 32, 3)
    _, version, _, status, _, control, buffer = struct.unpack("=IHHiIQQ", reply)
    if version != MESSAGE_VERSION or status:
        raise OSError(-status, "the manager refused: " + os.strerror(-status))
    return (map_words(control, mmap.PROT_READ, mmap.MAP_SHARED, fds[0]),
            map_words(4096, mmap.PROT_READ, mmap.MAP_SHARED, fds[1]),
            map_words(buffer, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, fds[2]))


def words_of(data):
    return [*struct.unpack("=%dQ" % ((len(data) + 7) // 8), data + bytes(-len(data) % 8))]


def string_record(index, text):
    text = text.encode()[:32000]
    words = words_of(text)
    return [2 | (1 + len(words)) << 4 | index << 16 | len(text) << 32] + words


def argument(name, value):
    if isinstance(value, bool):
        return [9 | 1 << 4 | name << 16 | value << 32]
    if isinstance(value, int):
        return [3 | 2 << 4 | name << 16, value & 2**64 - 1]
    if isinstance(value, float):
        return [5 | 2 << 4 | name << 16] + words_of(struct.pack("=d", value))
    text = str(value).encode()[:32000]
    words, ref = words_of(text), 0x8000 | len(text) if text else 0  # stands in the record itself
    return [6 | (1 + len(words)) << 4 | name << 16 | ref << 32] + words


class Provider:
    """The process. Places are in words."""

    def __init__(self, name):
        self.control, self.common, self.buffer = register(name)
        (magic, version, clock, _, self.mode, self.on_full, self.step, _, _, _, total, _, slots,
         table, durable, durable_size, half0, half1, self.slot_count, chunk, self.per_half,
         self.halves) = struct.unpack("=QII112s4I10Q4I", bytes(self.control)[:240])
        if (magic, version) != (CONTROL_MAGIC, LAYOUT_VERSION):
            raise OSError("the control page is of another version")
        boottime = lambda: time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self.ticks = counter_function() if clock else boottime
        self.slots, self.table, self.rolling = slots // 8, table // 8, (half0 // 8, half1 // 8)
        self.durable, self.room, self.chunk_words = durable // 8, durable_size // 8, chunk // 8
        self.lock, self.alive, self.strings, self.durable_used = threading.Lock(), True, {}, 0
        os.register_at_fork(after_in_child=lambda: setattr(self, "alive", False))
        pid, half_size = os.getpid(), self.per_half * chunk
        self.buffer[1:5] = LAYOUT_VERSION | pid << 32, total, durable_size, half_size
        self.buffer[NEXT_STRING] = 1
        self.buffer[0] = BUFFER_MAGIC

    def post(self, request, data32, data64):
        """A packet into the ring. With the lock held."""
        head = self.buffer[PACKET_HEAD]
        slot = PACKETS + head % 64 * 4
        self.buffer[PACKET_HEAD] = head + 1
        self.buffer[slot + 1:slot + 3] = request | data32 << 32, data64
        self.buffer[slot] = head + 1

    def string(self, text, local):
        """A string's index. One without room for good is defined in `local`, for one chunk."""
        with self.lock:
            if text in self.strings:
                return self.strings[text]
            index, at = 1 + len(self.strings), self.durable + self.durable_used
            record = string_record(index, text)
            if index < LOCAL and self.durable_used + len(record) <= self.room:
                self.buffer[at] = 5 | len(record) << 4  # the claim: a blob of the same size
                self.buffer[at + 1:at + len(record)] = record[1:]
                self.buffer[at] = record[0]
                self.strings[text], self.durable_used = index, self.durable_used + len(record)
                self.buffer[HINT:HINT + 2] = 8 * self.durable_used, index + 1
                return index
        local.append(string_record(LOCAL + len(local), text))
        return LOCAL + len(local) - 1

    def claim(self):
        """Takes a chunk: its serial and number; None: the buffer is full. With the lock held."""
        for _ in range(2 * self.halves * self.per_half + 2):
            wrap, used = divmod(self.buffer[ROLLING], 1 << 32)
            if used < self.per_half:
                serial, number = (w * self.per_half + used for w in (wrap, wrap % self.halves))
                word, saved = self.buffer[self.table + number], self.control[SAVED + number]
                self.buffer[ROLLING] = wrap << 32 | used + 1
                beyond = self.control[SAVED + number] == BEYOND
                if self.mode == CIRCULAR and not (word & HELD or beyond):
                    self.buffer[self.table + number] = serial << 26 | HELD | RELEASED
                    return serial, number
                if self.mode != CIRCULAR and word == saved and not beyond:
                    return serial, number
            elif self.mode == CIRCULAR:
                self.buffer[ROLLING] = wrap + 1 << 32
            elif self.halves == 1 or self.control[SPACE] & 0xFFFFFFFF < wrap:
                break  # oneshot, or the other half is not saved yet
            else:
                self.buffer[ROLLING] = wrap + 1 << 32
                self.post(SAVE_BUFFER, wrap, 8 * self.durable_used)
                futex(self.common, 4, FUTEX_WAKE, 1)


class Writer:
    """A thread: its slot in the thread area, and the chunk that it holds."""

    def __init__(self, p):
        self.p, self.b, self.state, self.last, self.chunk = p, p.buffer, 0, 0, 0
        self.name = threading.current_thread().name.encode()[:15]
        with p.lock:
            slots = range(p.slots, p.slots + p.slot_count * SLOT_WORDS, SLOT_WORDS)
            self.slot = next((s for s in slots if not self.b[s] & 0xFFFFFFFF), None)
            if not self.slot:
                raise OSError("too many threads")
            self.b[self.slot + NAME:self.slot + NAME + 2] = words_of(self.name.ljust(16, b"\0"))
            self.b[self.slot + LAST_TID] = threading.get_native_id()
            self.b[self.slot] += (1 << 32) + self.b[self.slot + LAST_TID]

    def on(self):
        """Whether the program's own events are wanted now."""
        p, state = self.p, self.p.control[STATE]
        if not state & CATEGORY_USER or not p.alive or p.common[0] & OWNER_DIED:
            return False
        if self.state != state:
            with p.lock:
                if self.b[EPOCH] < state >> 32:  # nobody has noticed this start yet
                    self.b[EPOCH] = state >> 32
                    p.post(STARTED, FIFO_VERSION, state >> 32)
            self.state = state
        return True

    def now(self):
        self.last = max(self.p.ticks(), self.last + self.p.step)
        return self.last

    def take(self):
        """Another chunk in place of what is held. False: there is none."""
        p, claim, patience = self.p, None, time.monotonic() + 10
        self.release()
        while not claim:
            seen = p.control[SPACE] >> 32
            with p.lock:
                claim = p.claim()
            if not claim:
                if p.on_full != BLOCK or p.halves == 1 or time.monotonic() > patience or (
                        not self.on()):
                    return False
                futex(p.common, 4, FUTEX_WAKE, 1)
                futex(p.control, 8 * SPACE + 4, FUTEX_WAIT, seen, TEN_MS)
        serial, number = claim
        self.chunk = p.rolling[number // p.per_half] + number % p.per_half * p.chunk_words
        self.at, self.end = self.chunk + 3, self.chunk + p.chunk_words
        self.b[self.chunk:self.end] = [0] * p.chunk_words
        self.b[self.chunk + 1:self.at] = os.getpid(), threading.get_native_id()
        self.b[self.chunk] = 3 | 3 << 4 | 1 << 16  # Thread Record: index 1
        self.place, self.serial = p.table + number, serial << 26
        self.b[self.place] = self.serial | HELD
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
        if not self.on():
            return
        local, payload = [], [start or self.now()]
        header = 4 | kind << 16 | len(arguments) << 20 | 1 << 24
        header |= self.p.string(category, local) << 32 | self.p.string(name, local) << 48
        for key, value in arguments.items():
            payload += argument(self.p.string(key, local), value)
        payload += extra
        self.write(sum(local, []) + [header | (1 + len(payload)) << 4] + payload)

    def instant(self, category, name, **arguments):
        self.event(INSTANT, category, name, arguments)

    def counter(self, category, name, number, **values):
        self.event(COUNTER, category, name, values, None, number)

    @contextlib.contextmanager
    def duration(self, category, name, **arguments):
        start = self.now()
        try:
            yield
        finally:
            self.event(COMPLETE, category, name, arguments, start, self.now())


def work(provider, number, rounds):
    w = Writer(provider)
    for i in range(rounds):
        with w.duration("demo", "round", number=i, half=i / 2, even=i % 2 == 0, text=str(i)):
            w.instant("demo", "tick", number=i)
            w.counter("demo", "rounds", number, done=i)
    w.leave()


def main(count=4, rounds=1000):
    provider = Provider("provider.py")
    for i in range(int(count)):
        threading.Thread(target=work, args=(provider, i, int(rounds)), name="worker %d" % i).start()


if __name__ == "__main__":
    main(*sys.argv[1:])
