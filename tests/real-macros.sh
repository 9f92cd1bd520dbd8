#!/bin/bash
# SPDX-License-Identifier: MIT
# Real programs that say more by macros: memcached and redis, of Debian's sources, with some thirty of <fxtrace/event.h> put into each, are asked
# things by several clients; each request, phase, arrow and change of their queues is in the archive, as the server counts them itself. Their
# sources are those in the folders that FX_MEMCACHED_SOURCE and FX_REDIS_SOURCE name (`apt-get source memcached redis'); not a part of `make
# check', since they have to be fetched.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

macros() {
	PYTHONPATH=$FX_SRCDIR/python FXTRACE_READER_LIBRARY=$FX_BUILDDIR/.libs/libfxtrace-reader.so.0 \
		python3 -B "$FX_SRCDIR/tests/real-macros.py" "$@"
}

# built NAME SOURCE STEP...: with macros in it, in a folder of its name; $count is how many.
built() {
	local name=$1 step

	cp -a "$2" "$name" && cd "$name" || fail "cannot copy the sources"
	shift 2
	count=$(macros patch "$name" .) || fail "$name: other sources than those it knows"
	[ "$count" -ge 30 ] || fail "$name: $count macros"
	for step; do
		eval "$step" >built 2>&1 || fail "$name: $step: $(tail -n 5 built)"
	done
}

# Asks a server things, on a port of its own: COMMAND... -p PORT. $server is who has to be waited for.
asked() {
	local name=$1 port

	shift
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	"$@" "$port" >server.out 2>&1 &
	server=$!
	wait_for 20 grep -q ":$(printf '%04X' "$port") 00000000:0000 0A" /proc/net/tcp || fail "$name does not listen"
	expect_ok macros drive "$name" "$port"
	cp out asked
	# It closes connections when it has time.
	is_left() {
		! grep -qE ":$(printf '%04X' "$port") [0-9A-F:]+ 0[18] " /proc/net/tcp
	}
	wait_for 20 is_left || fail "$name keeps connections"
}

# traced_as NAME PROGRAM ARGUMENT...: untraced, and traced, and compared.
traced_as() {
	local name=$1

	shift
	asked "$name" "$@"
	kill "$server"
	wait "$server"
	asked "$name" "$FXTRACE" run -q -c "$name" -o ../trace.fxt -- "$@"
	pkill -TERM -P "$server" -x "$(basename "$1")"
	wait "$server"
	cd .. || exit 99
	expect_clean trace.fxt
	macros agree "$name" trace.fxt "$name/asked" >told 2>&1 || fail "$name: $(tail -n 5 told)"
	expect_ok "$FXTRACE" convert -f perfetto trace.fxt trace.pb
	expect_line '^[0-9]+ events, [23][0-9] kinds$' told
	if [ -n "${FX_TRACE_PROCESSOR-}" ]; then
		echo "select name, value from stats where severity in ('error', 'data_loss') and value > 0;" >faults.sql
		for file in trace.fxt trace.pb; do
			expect_ok "$FX_TRACE_PROCESSOR" -q faults.sql "$file"
			expect_equal '"name","value"' "$(sed '/^ *$/d' out)" "Perfetto's faults with $file"
		done
	fi
	echo "$name: $count macros, $(cat told)"
	mv trace.fxt "$name.fxt"
}

is_tried=no
if [ -d "${FX_MEMCACHED_SOURCE-}" ]; then
	built memcached "$FX_MEMCACHED_SOURCE" ./configure "make -j2 CFLAGS=-O2\ -I$FX_SRCDIR/include memcached"
	traced_as memcached ./memcached -u root -l 127.0.0.1 -t 2 -p
	is_tried=yes
fi
if [ -d "${FX_REDIS_SOURCE-}" ]; then
	built redis "$FX_REDIS_SOURCE" \
		"make -C src -j2 MALLOC=libc USE_SYSTEMD=no BUILD_TLS=no OPTIMIZATION=-O2 REDIS_CFLAGS=-I$FX_SRCDIR/include redis-server"
	traced_as redis src/redis-server --bind 127.0.0.1 --save '' --daemonize no --io-threads 3 --io-threads-do-reads yes --port
	is_tried=yes
fi
[ $is_tried = yes ] || skip "FX_MEMCACHED_SOURCE and FX_REDIS_SOURCE name no folders"
