# SPDX-License-Identifier: MIT
"""
Puts macros of <fxtrace/event.h> into the sources of memcached or redis, drives the server, and compares what its archive shows with what was
asked, and with what the server says itself:

    real-macros.py patch PROGRAM DIRECTORY      says how many macros there are
    real-macros.py drive PROGRAM PORT           says what was asked of the server
    real-macros.py agree PROGRAM ARCHIVE ASKED
"""
import collections
import json
import os
import re
import socket
import sys
import threading

CLIENTS, ROUNDS = 8, 50

# Of each program: phases, which are functions whose whole is a duration; and what else: file, a place, what stands behind it.
MEMCACHED_PHASES = {
    "assoc.c": ["assoc_find", "assoc_insert", "assoc_delete"],
    "items.c": ["do_item_alloc", "do_item_link", "do_item_unlink", "do_item_get", "do_item_update", "do_item_remove"],
    "slabs.c": ["slabs_alloc"],
    "thread.c": ["thread_libevent_process", "dispatch_conn_new", "item_get", "item_alloc", "store_item"],
    "memcached.c": ["conn_new", "conn_close", "do_store_item", "transmit", "drive_machine", "try_read_network", "resp_start",
                    "resp_finish"],
    "proto_text.c": ["complete_nread_ascii", "try_read_command_ascii", "process_get_command", "process_update_command",
                     "process_command_ascii"],
}

MEMCACHED_OTHERS = [
    # How many connections wait for their thread, and the arrow to it.
    ("thread.c", "    MEMCACHED_CONN_DISPATCH(sfd,", "before",
     'TRACE_COUNTER("%s", "queue", 0, "connections", TA_INT32(__atomic_add_fetch(&traced_queue, 1, __ATOMIC_SEQ_CST)));'),
    ("thread.c", "    MEMCACHED_CONN_DISPATCH(sfd,", "before",
     'TRACE_FLOW_BEGIN("%s", "dispatch", (uint64_t)sfd, "sfd", TA_INT32(sfd));'),
    ("thread.c", "            case queue_new_conn:", "after",
     'TRACE_FLOW_END("%s", "dispatch", (uint64_t)item->sfd);'),
    ("thread.c", "            case queue_new_conn:", "after",
     'TRACE_COUNTER("%s", "queue", 0, "connections", TA_INT32(__atomic_sub_fetch(&traced_queue, 1, __ATOMIC_SEQ_CST)));'),
    # A request, from its line on until the connection wants the next one.
    ("proto_text.c", ("function", "process_command_ascii"), "after",
     'TRACE_ASYNC_BEGIN("%s", "request", (uint64_t)c->sfd, "line", TA_STRING(command)); traced_requests[c->sfd] = 1;'),
    ("memcached.c", ("function", "reset_cmd_handler"), "after",
     'if (traced_requests[c->sfd]) { TRACE_ASYNC_END("%s", "request", (uint64_t)c->sfd); traced_requests[c->sfd] = 0; }'),
    ("memcached.c", ("function", "conn_close"), "after",
     'TRACE_INSTANT("%s", "closed", TRACE_SCOPE_PROCESS, "sfd", TA_INT32(c->sfd));'),
]

# What stands behind the first header of a file, beside the macros' own.
MEMCACHED_HEADS = {
    "": "extern char traced_requests[];\n",
    "memcached.c": "char traced_requests[65536];\n",
    "thread.c": "extern char traced_requests[];\nstatic int traced_queue;\n",
}

REDIS_PHASES = {
    "src/server.c": ["processCommand", "call", "lookupCommand", "beforeSleep", "serverCron"],
    "src/networking.c": ["readQueryFromClient", "processInputBuffer", "processMultibulkBuffer", "writeToClient", "createClient",
                         "freeClient", "handleClientsWithPendingReadsUsingThreads", "handleClientsWithPendingWritesUsingThreads"],
    "src/db.c": ["lookupKey", "dbAdd", "setKey", "dbGenericDelete"],
    "src/t_string.c": ["setGenericCommand", "getGenericCommand"],
    "src/t_set.c": ["saddCommand"],
    "src/lazyfree.c": ["freeObjAsync", "lazyfreeFreeObject"],
    "src/bio.c": ["bioSubmitJob"],
}

REDIS_OTHERS = [
    # What waits for a thread in the background, the arrow to it, and what that does.
    ("src/bio.c", "    listAddNodeTail(bio_jobs[type],job);", "before",
     'TRACE_FLOW_BEGIN("%s", "job", (uint64_t)(uintptr_t)job, "type", TA_INT32(type));'),
    ("src/bio.c", "    bio_pending[type]++;", "after",
     'TRACE_COUNTER("%s", "queue", type, "jobs", TA_INT32((int32_t)bio_pending[type]));'),
    ("src/bio.c", "        job = ln->value;", "after",
     'TRACE_DURATION("%s", "job"); TRACE_FLOW_END("%s", "job", (uint64_t)(uintptr_t)job);'),
    ("src/bio.c", "        bio_pending[type]--;", "after",
     'TRACE_COUNTER("%s", "queue", type, "jobs", TA_INT32((int32_t)bio_pending[type]));'),
    # A request, from when it has been read until its answer is written.
    ("src/server.c", ("function", "processCommand"), "after",
     'if (c->conn) { TRACE_ASYNC_BEGIN("%s", "request", c->id, "command", TA_STRING(c->argv[0]->ptr)); traced_requests[c->conn->fd] = 1; }'),
    ("src/networking.c", "        c->sentlen = 0;\n        /* Note that writeToClient()", "before",
     'if (traced_requests[c->conn->fd]) { TRACE_ASYNC_END("%s", "request", c->id); traced_requests[c->conn->fd] = 0; }'),
    ("src/networking.c", ("function", "freeClient"), "after",
     'TRACE_INSTANT("%s", "closed", TRACE_SCOPE_PROCESS, "client", TA_UINT64(c->id));'),
]

REDIS_HEADS = {"": "", "src/server.c": "char traced_requests[65536];\n", "src/networking.c": "extern char traced_requests[];\n"}


def function_body(text, name):
    """Where the body of a function's definition begins."""
    for match in re.finditer(r"^[a-z][^\n;{}()]*\b%s\(" % name, text, re.M):
        end, depth = match.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if text[end:].lstrip().startswith("{"):
            return text.index("{", end) + 1
    raise SystemExit("no function " + name)


def insert(text, at, line):
    return text[:at] + "\n" + line + "\n" + text[at:]


def patch(program, directory):
    phases, others, heads, _, _ = PROGRAMS[program]
    count = 0
    for file in phases:
        path = os.path.join(directory, file)
        text = open(path).read()
        for other, place, where, line in others:
            if other != file:
                continue
            at = function_body(text, place[1]) if isinstance(place, tuple) else text.index(place)
            if where == "after" and not isinstance(place, tuple):
                at += len(place)
            text = insert(text, at, line.replace("%s", program))
            count += line.count("TRACE_") - line.count("TRACE_SCOPE_")
        for function in phases[file]:
            text = insert(text, function_body(text, function), 'TRACE_DURATION("%s", "%s");' % (program, function))
            count += 1
        # Behind the first header, which says what the others are to offer.
        at = re.search(r'^#include.*$', text, re.M).end()
        head = "#include <fxtrace/event.h>\n" + heads.get(file, heads[""])
        open(path, "w").write(text[:at] + "\n" + head + text[at:])
    print(count)


# --- What is asked of them --------------------------------------------------------------------------


def memcached_client(port, asked):
    """ROUNDS times a set, a get that hits and one that misses, one after the other."""
    connection = socket.create_connection(("127.0.0.1", port))
    reader = connection.makefile("rb")
    name = "%d" % connection.getsockname()[1]
    for i in range(ROUNDS):
        key = "key-%s-%d" % (name, i)
        connection.sendall(b"set %s 0 0 5\r\nvalue\r\n" % key.encode())
        assert reader.readline() == b"STORED\r\n"
        connection.sendall(b"get %s\r\n" % key.encode())
        assert [reader.readline() for _ in range(3)][1:] == [b"value\r\n", b"END\r\n"]
        connection.sendall(b"get missing-%s\r\n" % key.encode())
        assert reader.readline() == b"END\r\n"
        asked["request"] += 3
        asked["set"] += 1
        asked["get"] += 2
    connection.close()


class Redis:
    """A connection that asks one thing after the other."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.reader = self.socket.makefile("rb")

    def ask(self, *words):
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in (w.encode() for w in words)))
        line = self.reader.readline()
        if line[:1] == b"$" and line != b"$-1\r\n":
            return self.reader.read(int(line[1:]) + 2)[:-2].decode()
        return line.decode().rstrip()


def redis_client(port, asked):
    """ROUNDS times a set, a get that hits and one that misses, and a large set that is taken away in the background."""
    redis = Redis(port)
    name = "%d" % redis.socket.getsockname()[1]
    for i in range(ROUNDS):
        key = "%s-%d" % (name, i)
        assert redis.ask("SET", key, "value") == "+OK"
        assert redis.ask("GET", key) == "value"
        assert redis.ask("GET", "missing-" + key) == "$-1"
        assert redis.ask("SADD", "set-" + key, *("member-%d" % n for n in range(100))) == ":100"
        assert redis.ask("UNLINK", "set-" + key) == ":1"
        asked.update({"SET": 1, "GET": 2, "SADD": 1, "UNLINK": 1})
    redis.socket.close()


def clients_run(client, port):
    asked = [collections.Counter() for _ in range(CLIENTS)]
    threads = [threading.Thread(target=client, args=(port, a)) for a in asked]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return sum(asked, collections.Counter())


def memcached_drive(port):
    return clients_run(memcached_client, port)


def redis_drive(port):
    monitor, control = Redis(port), Redis(port)
    assert monitor.ask("MONITOR") == "+OK"
    asked = clients_run(redis_client, port)
    assert control.ask("PING", "done") == "done"
    seen = collections.Counter()
    while not seen["PING"]:
        seen[monitor.reader.readline().split(b'"')[1].decode()] += 1
    asked.update({"MONITOR": 1, "PING": 1})
    seen["MONITOR"] += 1
    assert seen == asked, (seen, asked)
    said = control.ask("INFO", "commandstats")
    for command, calls in asked.items():
        assert int(re.search(r"^cmdstat_%s:calls=(\d+)" % command.lower(), said, re.M).group(1)) == calls, (command, calls, said)
    while int(re.search(r"^lazyfreed_objects:(\d+)", control.ask("INFO", "memory"), re.M).group(1)) != asked["UNLINK"]:
        asked["INFO"] += 1
    asked["INFO"] += 2
    return asked


def drive(program, port):
    print(json.dumps(PROGRAMS[program][3](int(port))))


# --- What is there ----------------------------------------------------------------------------------


class Shown:
    """What an archive has of a program's macros."""

    def __init__(self, program, archive):
        import fxtrace

        self.names, self.threads = collections.Counter(), collections.defaultdict(set)
        self.queue, self.slices, self.asyncs = [], collections.defaultdict(list), []
        for e in fxtrace.open(archive):
            if e.category != program:
                continue
            self.names[e.type, e.name] += 1
            self.threads[e.type, e.name].add(e.tid)
            if e.type == "async-begin":
                self.asyncs.append(e)
            if e.type == "counter":
                self.queue.append((e.time, *e.args.values()))
            if e.type == "complete":
                self.slices[e.tid].append((e.time, e.time + e.duration, e.name))

    def expect(self, what, wanted, *keys):
        for key in keys:
            same(what, self.names[key], wanted)

    def expect_nesting(self, inner, outer):
        """Each `inner' lies inside an `outer', and nothing crosses."""
        for found in self.slices.values():
            found.sort(key=lambda s: (s[0], -s[1]))
            stack = []
            for begin, end, name in found:
                while stack and stack[-1][1] <= begin:
                    stack.pop()
                if stack and end > stack[-1][1]:
                    sys.exit("%s crosses %s" % (name, stack[-1][2]))
                if name == inner:
                    same("where %s is called" % inner, outer in [s[2] for s in stack], True)
                stack.append((begin, end, name))


def same(what, found, wanted):
    if found != wanted:
        sys.exit("%s: %s, not %s" % (what, found, wanted))


def memcached_agree(shown, asked):
    shown.expect("requests", asked["request"], ("async-begin", "request"), ("async-end", "request"), ("complete", "process_command_ascii"))
    lines = collections.Counter(e.args["line"].split()[0] for e in shown.asyncs)
    same("their commands", dict(lines), {"set": asked["set"], "get": asked["get"]})
    shown.expect("sets", asked["set"], ("complete", "process_update_command"), ("complete", "complete_nread_ascii"))
    shown.expect("gets", asked["get"], ("complete", "process_get_command"))
    shown.expect("connections", CLIENTS, ("flow-begin", "dispatch"), ("flow-end", "dispatch"), ("instant", "closed"))
    same("changes of the queue", len(shown.queue), 2 * CLIENTS)
    same("the queue in the end", sorted(shown.queue)[-1][1], 0)
    same("arrows within a thread", shown.threads["flow-begin", "dispatch"] & shown.threads["flow-end", "dispatch"], set())
    # Each line is worked on inside the function that reads it.
    shown.expect_nesting("process_command_ascii", "try_read_command_ascii")


def redis_agree(shown, asked):
    shown.expect("requests", sum(asked.values()), ("async-begin", "request"), ("async-end", "request"), ("complete", "call"))
    same("their commands", dict(collections.Counter(e.args["command"] for e in shown.asyncs)), asked)
    shown.expect("sets", asked["SET"], ("complete", "setGenericCommand"), ("complete", "setKey"))
    shown.expect("gets", asked["GET"], ("complete", "getGenericCommand"))
    shown.expect("members", asked["SADD"], ("complete", "saddCommand"))
    shown.expect("what is taken away", asked["UNLINK"], ("flow-begin", "job"), ("flow-end", "job"), ("complete", "job"),
                 ("complete", "bioSubmitJob"), ("complete", "lazyfreeFreeObject"))
    shown.expect("clients", CLIENTS + 2, ("instant", "closed"))
    same("changes of the queue", len(shown.queue), 2 * asked["UNLINK"])
    same("the queue in the end", sorted(shown.queue)[-1][1], 0)
    # Each change is by one.
    lengths = [0] + [length for _, length in sorted(shown.queue)]
    same("jumps of the queue", {abs(b - a) for a, b in zip(lengths, lengths[1:])}, {1})
    same("arrows within a thread", shown.threads["flow-begin", "job"] & shown.threads["flow-end", "job"], set())
    shown.expect_nesting("setGenericCommand", "call")
    shown.expect_nesting("lazyfreeFreeObject", "job")


def agree(program, archive, asked):
    shown = Shown(program, archive)
    PROGRAMS[program][4](shown, json.load(open(asked)))
    print(sum(shown.names.values()), "events,", len(shown.names), "kinds")


PROGRAMS = {
    "memcached": (MEMCACHED_PHASES, MEMCACHED_OTHERS, MEMCACHED_HEADS, memcached_drive, memcached_agree),
    "redis": (REDIS_PHASES, REDIS_OTHERS, REDIS_HEADS, redis_drive, redis_agree),
}

if __name__ == "__main__":
    action, *rest = sys.argv[1:]
    {"patch": patch, "drive": drive, "agree": agree}[action](*rest)
