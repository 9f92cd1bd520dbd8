#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace report --files': of a program whose transfers are known, and as a script computes them from the archive's
# records.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >io.c <<'END'
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
int main(void)
{
	char bytes[1000] = "";
	struct iovec parts[2] = {{bytes, 100}, {bytes, 11}};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int pair[2], in, out, door = socket(AF_INET, SOCK_STREAM, 0), to = socket(AF_INET, SOCK_STREAM, 0), from;
	FILE *stream;

	out = open("out\n\033[1m\xff", O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < 5; i++)
		write(out, bytes, 1000);
	writev(out, parts, 2);
	pwrite(out, bytes, 7, 0);
	pread(out, bytes, 300, 0);
	in = open("/etc/passwd", O_RDONLY);
	read(in, bytes, 40);
	sendfile(out, in, NULL, 20);
	close(open("/etc/passwd", O_RDONLY));
	close(in);
	write(in, bytes, 1);
	open("/no/such/file", O_RDONLY);
	bind(door, (struct sockaddr *)&address, length);
	getsockname(door, (struct sockaddr *)&address, &length);
	listen(door, 1);
	connect(to, (struct sockaddr *)&address, length);
	from = accept(door, NULL, NULL);
	send(to, bytes, 123, 0);
	poll(&(struct pollfd){from, POLLIN, 0}, 1, -1);
	recv(from, bytes, 1000, 0);
	pipe(pair);
	write(pair[1], bytes, 9);
	read(pair[0], bytes, 9);
	stream = fopen("stream", "w");
	for (int i = 0; i < 3000; i++)
		fprintf(stream, "line %d\n", i);
	fclose(stream);
	return 0;
}
END
compile io -O0 -w io.c
expect_ok "$FXTRACE" run -q -o io.fxt --on-full block -- ./io
expect_ok "$FXTRACE" report --files --top 0 --json io.fxt
mv out io.json

python3 - io.json <<'END' || fail "other transfers"
import json, sys
report = json.load(open(sys.argv[1]))
files = {r["name"]: r for r in report["files"]["rows"]}
KEYS = ("read_bytes", "written_bytes", "reads", "writes", "opens", "errors")
def of(row):
    return tuple(row[k] for k in KEYS)
(out,) = (n for n in files if n.split("/")[-1] == "out\n\x1b[1m\\xFF")
assert out.startswith("/") and of(files[out]) == (300, 5000 + 111 + 7 + 20, 1, 8, 1, 0), files
assert of(files["/etc/passwd"]) == (60, 0, 2, 0, 2, 0), files["/etc/passwd"]
assert of(files["/no/such/file"]) == (0, 0, 0, 0, 0, 1), files
(stream,) = (r for n, r in files.items() if n.endswith("/stream"))
assert stream["calls"] >= 3 and stream["opens"] == 1 and stream["bytes"] == 0, stream
assert any("streams" in note for note in report["files"]["notes"]), report["files"]["notes"]
peers = report["peers"]["rows"]
(pipe,) = (r for r in peers if r["name"].startswith("pipe:["))
assert of(pipe) == (9, 9, 1, 1, 0, 0), pipe
(to,) = (r for r in peers if r["written_bytes"] == 123)
(back,) = (r for r in peers if r["read_bytes"] == 123)
there, here = (r["name"].split()[-1].split("->") for r in (to, back))
assert there == here[::-1] and len(there) == 2, (there, here)
assert len(peers) == 4, peers
END

"$FXTRACE" dump --json io.fxt >dump.json || fail "dump"
python3 - dump.json io.json <<'END' || fail "other numbers than the records'"
import collections, json, sys
READ = {"read", "readv", "pread", "recv", "recvfrom", "recvmsg"}
WRITE = {"write", "writev", "pwrite", "send", "sendto", "sendmsg"}
want = collections.defaultdict(lambda: [0, 0, 0, 0, 0, 0])
for record in map(json.loads, open(sys.argv[1], encoding="utf-8")):
    if record["kind"] == "initialization":
        assert record["ticks_per_second"] == 1_000_000_000
    if record["kind"] != "event" or record["type"] != "complete" or record["name"] in ("poll", "open", "fopen"):
        continue
    if record["category"] not in ("syscall", "stdio"):
        continue
    values = {a["name"]: a.get("value") for a in record.get("args", [])}
    for key in "file", "in_file", "out_file":
        if not values.get(key):
            continue
        name = values[key].split("]")[0] if values[key].startswith("socket:[") else values[key]
        row = want[name]
        row[2] += 1
        row[3] += record["end"] - record["ts"]
        moved = max(0, values["ret"]) if isinstance(values.get("ret"), int) else 0
        reads = key == "in_file" or key == "file" and record["name"] in READ
        writes = key == "out_file" or key == "file" and record["name"] in WRITE
        row[0] += moved if reads else 0
        row[1] += moved if writes else 0
        row[4] += record["end"] - record["ts"] if reads else 0
        row[5] += record["end"] - record["ts"] if writes else 0
report = json.load(open(sys.argv[2]))
got = {}
for r in report["files"]["rows"] + report["peers"]["rows"]:
    name = r["name"].split("]")[0] if r["name"].startswith("socket:[") else r["name"]
    if name != "/no/such/file":
        assert name not in got, name
        got[name] = [r["read_bytes"], r["written_bytes"], r["calls"], r["time_ns"], r["read_ns"], r["write_ns"]]
assert got == dict(want), (got, dict(want))
END

# What is only looked at is not moved; of several messages the bytes count, and not their number.
cat >moves.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
int main(void)
{
	char bytes[1000] = "";
	struct iovec parts[2] = {{bytes, 100}, {bytes, 11}};
	struct mmsghdr some[2] = {{.msg_hdr = {NULL, 0, parts, 2}}, {.msg_hdr = {NULL, 0, parts, 1}}};
	int stream[2], datagrams[2], from[2], to[2];

	socketpair(AF_UNIX, SOCK_STREAM, 0, stream);
	send(stream[0], bytes, 50, 0);
	recv(stream[1], bytes, 40, MSG_PEEK | MSG_DONTWAIT);
	recv(stream[1], bytes, 50, 0);
	socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams);
	sendmmsg(datagrams[0], some, 2, 0);
	recvmmsg(datagrams[1], some, 2, 0, NULL);
	pipe(from);
	pipe(to);
	vmsplice(from[1], parts, 2, 0);
	tee(from[0], to[1], 1000, 0);
	read(from[0], bytes, 1000);
	read(to[0], bytes, 1000);
	return 0;
}
END
compile moves -O0 -w moves.c
expect_ok "$FXTRACE" run -q -o moves.fxt --on-full block -- ./moves
expect_ok "$FXTRACE" report --files --top 0 --json moves.fxt
python3 - out <<'END' || fail "bytes that were only looked at, or messages instead of bytes: $(cat out)"
import json, sys
rows = json.load(open(sys.argv[1]))["peers"]["rows"]
ways = sorted((r["read_bytes"], r["written_bytes"]) for r in rows)
assert ways == [(0, 50), (0, 211), (50, 0), (111, 111), (111, 111), (211, 0)], ways
END
"$FXTRACE" report --peer 'pipe:*' --json moves.fxt >peers.json || fail "no history of pipes"
python3 - peers.json <<'END' || fail "another history of pipes: $(cat peers.json)"
import json, sys
rows = [r for t in json.load(open(sys.argv[1])).values() for r in t["rows"] if "read_bytes" in r and "first_ns" not in r]
assert rows and all(r["read_bytes"] in (None, 0, 111) for r in rows), rows
END
COLUMNS=60 "$FXTRACE" report --files --top 0 io.fxt >text || fail "no report of 60 columns"
expect_line '  …[^ ]*/[^ /]+$' text # of a path that does not fit, the end
! grep -q "$(printf '[\001-\010\013-\037]')" text || fail "control characters: $(cat -v text)"
iconv -f UTF-8 -t UTF-8 text >/dev/null || fail "no UTF-8"
