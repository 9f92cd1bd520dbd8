#!/bin/bash
# SPDX-License-Identifier: MIT
# Unmodified servers with processes or threads of their own, on Unix sockets: nginx, memcached, postgresql. They
# answer, end with the status that they have alone, and the archive shows how they served.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
ran=0
PATH=$PATH:/usr/sbin:/sbin

# ask SOCKET TEXT: sends it, prints what comes until the server says no more or hangs up.
cat >ask.py <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.settimeout(30)
s.connect(sys.argv[1])
s.sendall(sys.argv[2].encode().decode("unicode_escape").encode())
while data := s.recv(65536):
    sys.stdout.buffer.write(data)
END
ask() {
	python3 ask.py "$@"
}

# ended PID STATUS WHAT
ended() {
	local status=0

	wait "$1" || status=$?
	expect_equal "$2" "$status" "status of $3: $(tail -n 5 server.err)"
}

web() {
	local server page

	mkdir -p www logs
	seq 20000 >www/page
	cat >nginx.conf <<END
daemon off;
worker_processes 2;
pid $PWD/nginx.pid;
error_log $PWD/logs/error.log;
$([ "$(id -u)" -ne 0 ] || echo 'user root;')
events { worker_connections 64; }
http {
	access_log $PWD/logs/access.log;
	client_body_temp_path $PWD/logs;
	proxy_temp_path $PWD/logs;
	fastcgi_temp_path $PWD/logs;
	uwsgi_temp_path $PWD/logs;
	scgi_temp_path $PWD/logs;
	server {
		listen unix:$PWD/web.sock;
		root $PWD/www;
		sendfile on;
		location = /short { return 200 "short\n"; }
	}
}
END
	"$FXTRACE" run -q -o trace.fxt -- nginx -p "$PWD" -c "$PWD/nginx.conf" -e "$PWD/logs/error.log" \
		>server.out 2>server.err &
	server=$!
	wait_for 30 ask web.sock 'GET /short HTTP/1.0\r\n\r\n' || fail "nginx: $(cat server.err logs/error.log)"
	for page in 1 2 3 4 5 6 7 8 9 10; do
		ask web.sock 'GET /page HTTP/1.0\r\n\r\n' >"page$page"
		sed '1,/^\r$/d' "page$page" | cmp - www/page || fail "nginx sent something else"
	done
	ask web.sock 'GET /missing HTTP/1.0\r\n\r\n' >missing
	expect_line '^HTTP/1.1 404' missing
	kill -QUIT "$(cat nginx.pid)"
	ended "$server" 0 nginx
	expect_no_line 'alert|emerg|exited on signal' logs/error.log
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_equal 3 "$(grep -c '	nginx$' processes)" "processes of nginx: $(cat processes)"
	expect_events 12+ 'process == "nginx" && name ~ /^accept/ && !/errno=/'
	expect_events 12+ 'process == "nginx" && name == "epoll_wait"'
	expect_events 10+ 'process == "nginx" && name ~ /^sendfile/'
	expect_events 1+ 'process == "nginx" && name ~ /^(writev|send|write)$/'
	expect_events 10+ 'process == "nginx" && name ~ /^open/ && /www.page/'
	expect_events 2+ 'process == "nginx" && type == "flow-begin"'
}

cache() {
	local server

	"$FXTRACE" run -q -o trace.fxt -- memcached -s "$PWD/cache.sock" -t 4 -m 8 \
		-u "$(id -un)" >server.out 2>server.err &
	server=$!
	wait_for 30 ask cache.sock 'version\r\nquit\r\n' || fail "memcached: $(cat server.err)"
	for key in 1 2 3 4 5 6 7 8 9 10 11 12; do
		ask cache.sock "set key$key 0 0 5\\r\\nvalue\\r\\nquit\\r\\n" >answer
		expect_line '^STORED' answer
	done
	ask cache.sock 'get key1 key12 none\r\nquit\r\n' >answer
	expect_equal 2 "$(grep -c '^value' answer)" "values"
	wait_for 10 pgrep -P "$server" memcached || fail "memcached is gone"
	kill -TERM "$(pgrep -P "$server" memcached)"
	ended "$server" 0 memcached
	expect_clean trace.fxt
	list_archive trace.fxt
	# Four that serve, and the first; others sweep.
	[ "$(grep -c . threads)" -ge 5 ] || fail "threads of memcached: $(cat threads)"
	[ "$(awk -F'\t' '$7 ~ /^(read|sendmsg)$/ && $4 == "memcached" { print $3 }' events | sort -u | wc -l)" -ge 4 ] ||
		fail "not every thread has served"
	expect_events 12+ 'process == "memcached" && name == "sendmsg"'
	expect_events 12+ 'process == "memcached" && name ~ /^accept/ && !/errno=/'
}

# database_user COMMAND...: initdb refuses to be root's.
database_user() {
	if [ "$(id -u)" -eq 0 ]; then
		setpriv --reuid=postgres --regid=postgres --init-groups "$@"
	else
		"$@"
	fi
}

database() {
	local bin=$1 server

	chmod 755 .
	mkdir -m 700 data run
	[ "$(id -u)" -ne 0 ] || chown postgres data run
	database_user "$FXTRACE" --version >/dev/null 2>&1 || return 0
	database_user env TMPDIR="$PWD/run" "$bin/initdb" -D "$PWD/data" --no-sync -A trust -U postgres -E UTF8 \
		--locale=C >initdb.out 2>&1 || fail "initdb: $(tail -n 5 initdb.out)"
	database_user "$FXTRACE" run -q -o "$PWD/run/trace.fxt" -- "$bin/postgres" -D "$PWD/data" -k "$PWD/run" \
		-c listen_addresses= -c fsync=off >server.out 2>server.err &
	server=$!
	ask_sql() {
		database_user "$bin/psql" -h "$PWD/run" -U postgres -X -q -t -A -c "$1" postgres
	}
	wait_for 60 ask_sql 'SELECT 1' || fail "postgres: $(tail -n 5 server.err)"
	ask_sql 'CREATE TABLE t AS SELECT i, md5(i::text) AS m FROM generate_series(1, 2000) i'
	expect_equal "$(printf 1500 | md5sum | cut -c 1-32)" "$(ask_sql 'SELECT m FROM t WHERE i = 1500')" "a row"
	expect_equal '2000' "$(ask_sql 'CHECKPOINT; SELECT count(DISTINCT m) FROM t')" "rows"
	kill -INT "$(head -n 1 data/postmaster.pid)"
	ended "$server" 0 postgres
	expect_no_line 'PANIC|FATAL:.*signal|terminated by signal' server.err
	cp run/trace.fxt trace.fxt
	expect_clean trace.fxt
	list_archive trace.fxt
	# The first, its helpers, and one for each connection.
	[ "$(grep -c postgres processes)" -ge 8 ] || fail "processes of postgres: $(cat processes)"
	expect_events 3+ 'process ~ /postgres/ && name ~ /^accept/ && !/errno=/'
	expect_events 3+ 'process ~ /postgres/ && name ~ /^p?write(64)?$/ && !/errno=/'
	expect_events 3+ 'process ~ /postgres/ && name == "epoll_wait"'
}

if command -v nginx >/dev/null; then
	ran=1
	web
fi
if command -v memcached >/dev/null && command -v pgrep >/dev/null; then
	ran=1
	cache
fi
for bin in /usr/lib/postgresql/*/bin; do
	[ -x "$bin/initdb" ] && command -v setpriv >/dev/null || continue
	ran=1
	database "$bin"
	break
done
[ "$ran" -eq 1 ] || skip "neither nginx nor memcached nor postgresql is installed"
