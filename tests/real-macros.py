# SPDX-License-Identifier: MIT
"""
Puts macros of <fxtrace/event.h> into memcached's sources, drives the server, and compares what its archive shows with what was asked:

    real-macros.py patch DIRECTORY      says how many macros there are
    real-macros.py drive PORT           says what was asked of the server
    real-macros.py agree ARCHIVE ASKED
"""
import collections
import json
import os
import re
import socket
import sys
import threading

CATEGORY = "memcached"
CLIENTS, ROUNDS = 4, 50

# Phases: functions whose whole is a duration.
PHASES = {
    "assoc.c": ["assoc_find", "assoc_insert", "assoc_delete"],
    "items.c": ["do_item_alloc", "do_item_link", "do_item_unlink", "do_item_get", "do_item_update", "do_item_remove"],
    "slabs.c": ["slabs_alloc"],
    "thread.c": ["thread_libevent_process", "dispatch_conn_new", "item_get", "item_alloc", "store_item"],
    "memcached.c": ["conn_new", "conn_close", "do_store_item", "transmit", "drive_machine", "try_read_network", "resp_start",
                    "resp_finish"],
    "proto_text.c": ["complete_nread_ascii", "try_read_command_ascii", "process_get_command", "process_update_command",
                     "process_command_ascii"],
}

# What else: file, a place, what stands behind it.
OTHERS = [
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


def patch(directory):
    count = 0
    for file in PHASES:
        path = os.path.join(directory, file)
        text = open(path).read()
        for other, place, where, line in OTHERS:
            if other != file:
                continue
            at = function_body(text, place[1]) if isinstance(place, tuple) else text.index(place)
            if where == "after" and not isinstance(place, tuple):
                at += len(place)
            text = insert(text, at, line % CATEGORY)
            count += line.count("TRACE_") - line.count("TRACE_SCOPE_")
        for function in PHASES[file]:
            text = insert(text, function_body(text, function), 'TRACE_DURATION("%s", "%s");' % (CATEGORY, function))
            count += 1
        head = "#include <fxtrace/event.h>\n"
        head += "char traced_requests[65536];\n" if file == "memcached.c" else "extern char traced_requests[];\n"
        head += "static int traced_queue;\n" if file == "thread.c" else ""
        # Behind the first header, which says what the others are to offer.
        at = re.search(r'^#include.*$', text, re.M).end()
        open(path, "w").write(text[:at] + "\n" + head + text[at:])
    print(count)


def client(port, asked):
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


def drive(port):
    asked = [collections.Counter() for _ in range(CLIENTS)]
    threads = [threading.Thread(target=client, args=(port, a)) for a in asked]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(json.dumps(sum(asked, collections.Counter())))


def agree(archive, asked):
    import fxtrace

    asked = json.load(open(asked))
    names, threads, lines = collections.Counter(), collections.defaultdict(set), collections.Counter()
    queue, slices = [], collections.defaultdict(list)
    for e in fxtrace.open(archive):
        if e.category != CATEGORY:
            continue
        names[e.type, e.name] += 1
        threads[e.type, e.name].add(e.tid)
        if e.type == "async-begin":
            lines[e.args["line"].split()[0]] += 1
        if e.type == "counter":
            queue.append((e.time, e.args["connections"]))
        if e.type == "complete":
            slices[e.tid].append((e.time, e.time + e.duration, e.name))

    def same(what, found, wanted):
        if found != wanted:
            sys.exit("%s: %s, not %s" % (what, found, wanted))

    same("requests that begin", names["async-begin", "request"], asked["request"])
    same("requests that end", names["async-end", "request"], asked["request"])
    same("their commands", dict(lines), {"set": asked["set"], "get": asked["get"]})
    same("lines that were worked on", names["complete", "process_command_ascii"], asked["request"])
    same("sets", names["complete", "process_update_command"], asked["set"])
    same("gets", names["complete", "process_get_command"], asked["get"])
    same("values that came", names["complete", "complete_nread_ascii"], asked["set"])
    same("connections that were handed on", names["flow-begin", "dispatch"], CLIENTS)
    same("and taken", names["flow-end", "dispatch"], CLIENTS)
    same("connections that closed", names["instant", "closed"], CLIENTS)
    same("changes of the queue", len(queue), 2 * CLIENTS)
    same("the queue in the end", sorted(queue)[-1][1], 0)
    if threads["flow-begin", "dispatch"] & threads["flow-end", "dispatch"]:
        sys.exit("an arrow that does not go to another thread")
    # Each line is worked on inside the function that reads it, and nothing crosses.
    for tid, found in slices.items():
        found.sort(key=lambda s: (s[0], -s[1]))
        stack = []
        for begin, end, name in found:
            while stack and stack[-1][1] <= begin:
                stack.pop()
            if stack and end > stack[-1][1]:
                sys.exit("%s crosses %s" % (name, stack[-1][2]))
            if name == "process_command_ascii":
                same("where it is called", "try_read_command_ascii" in [s[2] for s in stack], True)
            stack.append((begin, end, name))
    print(sum(names.values()), "events,", len(names), "kinds")


if __name__ == "__main__":
    action, *rest = sys.argv[1:]
    {"patch": patch, "drive": lambda port: drive(int(port)), "agree": agree}[action](*rest)
