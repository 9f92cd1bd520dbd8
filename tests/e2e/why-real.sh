#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace why' of unmodified programs that wait for each other: a pipeline of five, make -j2, nginx before a server before redis,
# a row of PostgreSQL that another session has locked, and a login by ssh. What the time went to is known, since each has one
# stage that sleeps; the answer must lead there, through all that stand between.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
PATH=$PATH:/usr/sbin:/sbin

# The whole way to each row, and its time: of the thread and call that are given.
cat >ways.py <<'END'
import json
import re
import sys

rows = json.load(open(sys.argv[1]))["why"]["rows"]
for row in rows:
    row["thread"] = re.sub("^python.*", "python", row["thread"])
way, found = [], {}
assert sum(row["self_ns"] for row in rows) == rows[0]["total_ns"], "own times are not the whole"
for row in rows:
    way[row.get("depth", 0):] = [row["call"] or row["thread"]]
    if row["thread"] == sys.argv[2] and row["call"] == sys.argv[3]:
        key = (" ".join(way), row["sure"])
        found[key] = found.get(key, 0) + row["self_ns"]
for (text, sure), ns in sorted(found.items(), key=lambda item: -item[1]):
    print(ns // 1000000, sure, text)
END

# leads FILE OPTION... -- THREAD CALL MS SURE WAY: most of what that thread has slept in that call is found there: MS at least.
leads() {
	local file=$1 options=() ms sure way

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	expect_ok "$FXTRACE" why --json --min-share 0 "${options[@]}" "$file"
	cp out why.json
	python3 ways.py why.json "$2" "$3" >ways 2>&1 || fail "$file: $(cat ways)"
	read -r ms sure way <ways || fail "$file: $2 is not in $3: $("$FXTRACE" why "${options[@]}" "$file")"
	expect_equal "$6" "$way" "what led to $3 of $2"
	expect_equal "$5" "$sure" "how sure that is"
	[ "$ms" -ge "$4" ] || fail "$file: $ms ms in place of $4 in $3 of $2"
}

# --- A pipeline: what the last one waits for is the one that sleeps, though several write and read inside libc

cat >pipeline.sh <<'END'
slow() {
	while read -r line; do
		sleep 0.04
		echo "$line"
	done
}
seq 5 | sed -u 's/^/a/' | slow | tr a b | wc -l
END
expect_ok "$FXTRACE" run -q -o pipeline.fxt -- bash pipeline.sh
expect_equal 5 "$(cat out)" 'lines'
expect_ok "$FXTRACE" why --json --min-share 0 --process wc pipeline.fxt
cp out why.json
python3 ways.py why.json sleep nanosleep >ways || fail 'the one that sleeps is not found'
# Each of five processes has slept: merged by what led there.
read -r ms sure way <ways
expect_equal 'yes wc read tr read bash waitpid sleep nanosleep' "$sure $way" 'what the last one waits for'
# It may have begun after the first line.
[ "$ms" -ge 158 ] || fail "$ms ms of 200"
expect_ok "$FXTRACE" why --process wc pipeline.fxt
expect_line ' tr \(pid [0-9]+\)' out
# Five processes have slept, and are one row.
expect_line '^ *[0-9.]+ % +[0-9.]+ ms +time to pass +[45] +sleep +nanosleep$' out
# The end of a pipe has none: who had the other end is known, and that nobody else had is not.
expect_ok "$FXTRACE" run -q -o end.fxt -- sh -c 'sleep 0.3 | cat'
expect_ok "$FXTRACE" why --process cat end.fxt
expect_line 'perhaps sleep \(pid [0-9]+\)' out
expect_line 'have no arrow, and are taken to be for the only thread that is known to have the other end of the pipe' out
# The shell waits for all five, and so for the one that ends last.
expect_ok "$FXTRACE" why --json --min-share 0 pipeline.fxt
cp out why.json
python3 ways.py why.json sleep nanosleep >ways || fail 'the one that sleeps is not found'
expect_line '^(1[5-9][0-9]|[2-9][0-9][0-9]) [a-z]+ bash waitpid (wc read tr read )?bash waitpid sleep nanosleep$' ways

# --- make -j2: b.o needs what sleeps, a.o is made beside it

if command -v make >/dev/null; then
	cat >Makefile <<'END'
all: a.o b.o
	@sleep 0.1; echo all
a.o:
	@sleep 0.2
b.o: generated
	@exec sleep 0.1
generated:
	@sleep 0.3; echo generated
.PHONY: all a.o b.o generated
END
	expect_ok "$FXTRACE" run -q -o make.fxt -- make -j2
	leads make.fxt -- sleep nanosleep 392 yes 'make wait sh wait3 sleep nanosleep'
	python3 - <<'END' || fail "make: $("$FXTRACE" why make.fxt)"
import json
rows = json.load(open("why.json"))["why"]["rows"]
slept = sorted(r["self_ns"] // 1000000 for r in rows if r["thread"] == "sleep" and r["call"] == "nanosleep")
# generated, b.o, all; not a.o.
assert len(slept) == 3 and slept[2] >= 294 and sum(slept) < 690, slept
END
fi

# --- nginx, a server behind it, and redis, for which that waits

# For each request in turn the server asks redis, which then sleeps itself, or waits for what another client brings.
cat >server.py <<'END'
import socket, sys

redis = socket.socket(socket.AF_UNIX)
redis.connect("redis.sock")
listener = socket.socket(socket.AF_UNIX)
listener.bind("server.sock")
listener.listen(8)
for ask in (b"DEBUG SLEEP 0.4\r\n", b"BLPOP list 20\r\n"):
    client, _ = listener.accept()
    client.recv(65536)
    redis.sendall(ask)
    if ask.startswith(b"BLPOP"):
        open("push", "w").close()
    redis.recv(65536)
    client.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
    client.close()
END
cat >client.py <<'END'
import socket

client = socket.socket(socket.AF_UNIX)
client.settimeout(30)
client.connect("web.sock")
client.sendall(b"GET / HTTP/1.0\r\n\r\n")
while client.recv(65536):
    pass
END
# Its connection is there before it is needed.
cat >pusher.py <<'END'
import os, socket, time

redis = socket.socket(socket.AF_UNIX)
redis.connect("redis.sock")
redis.sendall(b"PING\r\n")
redis.recv(100)
open("pusher.ready", "w").close()
while not os.path.exists("push"):
    time.sleep(0.01)
time.sleep(0.4)
redis.sendall(b"LPUSH list x\r\n")
redis.recv(100)
END
cat >web.sh <<'END'
there() {
	for _ in $(seq 600); do
		[ -e "$1" ] && return
		sleep 0.05
	done
	echo "$1 is not there"
	exit 1
}
redis-server --port 0 --unixsocket "$PWD/redis.sock" --save '' --dir "$PWD" --enable-debug-command yes >redis.out 2>&1 &
redis=$!
there redis.sock
"$1" server.py &
there server.sock
nginx -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/error.log" &
nginx=$!
there web.sock
"$1" client.py
"$1" pusher.py &
there pusher.ready
"$1" client.py
kill -QUIT "$nginx"
kill "$redis"
wait
END
web() {
	cat >nginx.conf <<END
daemon off;
worker_processes 1;
pid $PWD/nginx.pid;
error_log $PWD/error.log;
$([ "$(id -u)" -ne 0 ] || echo 'user root;')
events { worker_connections 64; }
http {
	access_log off;
	client_body_temp_path $PWD;
	proxy_temp_path $PWD;
	fastcgi_temp_path $PWD;
	uwsgi_temp_path $PWD;
	scgi_temp_path $PWD;
	server {
		listen unix:$PWD/web.sock;
		location / { proxy_pass http://unix:$PWD/server.sock; }
	}
}
END
	expect_ok "$FXTRACE" run -q -o web.fxt -- bash web.sh "$(python3 -c 'import sys; print(sys.executable)')"
	# Both clients are python3: of the first and of the second it is asked why.
	python3 - "$FXTRACE" >pids 2>&1 <<'END' || fail "clients: $(cat pids)"
import subprocess, sys
pids = []
for line in subprocess.check_output([sys.argv[1], "replay", "--name", "connect", "web.fxt"], text=True).splitlines():
    if "web.sock" in line and line.split()[1].startswith("python"):
        pids.append(line.split()[2])
print(*pids)
END
	read -r first second <pids
	leads web.fxt --process "$first" -- redis-server nanosleep 396 yes \
		'python poll nginx epoll_wait python recv redis-server nanosleep'
	leads web.fxt --process "$second" -- python clock_nanosleep 380 yes \
		'python poll nginx epoll_wait python recv redis-server epoll_wait python clock_nanosleep'
}
if command -v nginx >/dev/null && command -v redis-server >/dev/null; then
	web
fi

# --- PostgreSQL: a row that another session has locked

# database_user COMMAND...: initdb refuses to be root's.
database_user() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=postgres --regid=postgres --init-groups "$@"
	else
		"$@"
	fi
}
cat >database.sh <<'END'
bin=$1 run=$2
ask() {
	exec "$bin/psql" -h "$run" -U postgres -X -q -t -A -c "$1" postgres
}
"$bin/postgres" -D "$run/data" -k "$run" -c listen_addresses= -c fsync=off >"$run/server.err" 2>&1 &
server=$!
for _ in $(seq 300); do
	(ask 'SELECT 1') >/dev/null 2>&1 && break
	sleep 0.1
done
(ask 'CREATE TABLE t (i int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 0)')
(ask "BEGIN; UPDATE t SET v = 1 WHERE i = 1; SELECT pg_notify('x', 'y'); SELECT pg_sleep(0.8); COMMIT") >/dev/null &
first=$!
for _ in $(seq 300); do
	[ "$(ask "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'BEGIN; UPDATE%' AND wait_event = 'PgSleep'")" = 1 ] && break
	sleep 0.02
done
(ask 'UPDATE t SET v = 2 WHERE i = 1') &
second=$!
wait $first $second
echo $second >"$run/second"
kill -INT "$server"
wait
END
database() {
	local bin=$1

	chmod 755 .
	mkdir -m 700 run
	[ "$(id -u)" -ne 0 ] || chown postgres run
	database_user "$FXTRACE" --version >/dev/null 2>&1 || return 0
	database_user env TMPDIR="$PWD/run" "$bin/initdb" -D "$PWD/run/data" --no-sync -A trust -U postgres -E UTF8 \
		--locale=C >initdb.out 2>&1 || fail "initdb: $(tail -n 5 initdb.out)"
	chmod 644 database.sh
	expect_ok database_user "$FXTRACE" run -q -o "$PWD/run/database.fxt" -- bash database.sh "$bin" "$PWD/run"
	cp run/database.fxt .
	# The one that has the row locked sleeps, then wakes the other by a signal.
	leads database.fxt --process "$(cat run/second)" -- postgres epoll_wait 300 yes \
		'psql poll postgres epoll_wait postgres epoll_wait'
	python3 - <<'END' || fail "database: $("$FXTRACE" why --process "$(cat run/second)" database.fxt)"
import json
rows = json.load(open("why.json"))["why"]["rows"]
pids = {r["pid"] for r in rows if r["thread"] == "postgres"}
assert [r["kind"] for r in rows if r["thread"] == "postgres" and r["self_ns"] > 300e6] == ["time to pass"]
assert len(pids) >= 2, pids
END
}
for bin in /usr/lib/postgresql/*/bin; do
	[ -x "$bin/initdb" ] && command -v setpriv >/dev/null || continue
	database "$bin"
	break
done

# --- A login by ssh: to the parts of sshd, one of which locks itself in. The shell that they start writes inside libc

login() {
	local port=$((20000 + RANDOM % 10000))

	ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ed25519 -N '' -f user || return 0
	cp user.pub authorized
	cat >sshd.conf <<END
Port $port
ListenAddress 127.0.0.1
HostKey $PWD/host
AuthorizedKeysFile $PWD/authorized
PidFile $PWD/sshd.pid
UsePAM no
StrictModes no
PermitRootLogin yes
END
	cat >login.sh <<END
$(command -v sshd) -D -e -f $PWD/sshd.conf 2>sshd.err &
server=\$!
for _ in \$(seq 100); do
	[ -s sshd.pid ] && break
	sleep 0.05
done
ssh -F none -p $port -i $PWD/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o IdentitiesOnly=yes \\
	127.0.0.1 'sleep 0.4; echo in' 2>ssh.err
kill \$server
wait
END
	expect_status 0 "$FXTRACE" run -q -o login.fxt -- timeout 60 bash login.sh
	[ "$(cat out)" = in ] || return 0
	expect_ok "$FXTRACE" why --json --min-share 0 --process ssh login.fxt
	cp out why.json
	python3 ways.py why.json ssh poll >ways || fail "login: $(cat ways)"
	expect_ok "$FXTRACE" why --process ssh login.fxt
	expect_line 'p?poll: .* tcp 127\.0\.0\.1:[0-9]+->127\.0\.0\.1:'$port out
	expect_line '^ .* sshd \(pid [0-9]+\)' out
	expect_line 'waits, .* of the time .*, are followed no further: what ended them is not recorded' out
}
if command -v sshd >/dev/null && command -v ssh-keygen >/dev/null && [ "$(id -u)" -eq 0 ]; then
	login
fi
