#!/bin/bash
# SPDX-License-Identifier: MIT
# A real program that says more by macros: memcached, of Debian's sources, with some thirty of <fxtrace/event.h> put into it, is asked
# things by several clients; each request, phase, arrow and change of its queue is in the archive. Its sources are those in the folder
# that FX_MEMCACHED_SOURCE names (`apt-get source memcached'); not a part of `make check', since they have to be fetched.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

[ -d "${FX_MEMCACHED_SOURCE-}" ] || skip "FX_MEMCACHED_SOURCE names no folder"
cp -a "$FX_MEMCACHED_SOURCE" memcached && cd memcached || fail "cannot copy the sources"
count=$(python3 "$FX_SRCDIR/tests/real-macros.py" patch .) || fail "other sources than those it knows"
[ "$count" -ge 30 ] || fail "$count macros"
for step in ./configure "make -j2 CFLAGS=-O2\ -I$FX_SRCDIR/include memcached"; do
	eval "$step" >built 2>&1 || fail "$step: $(tail -n 5 built)"
done

for run in none traced; do
	port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	command=(./memcached -u root -l 127.0.0.1 -p "$port" -t 2)
	[ $run = none ] || command=("$FXTRACE" run -q -c memcached -o ../trace.fxt -- "${command[@]}")
	"${command[@]}" &
	server=$!
	wait_for 20 grep -q ":$(printf '%04X' "$port") 00000000:0000 0A" /proc/net/tcp || fail "it does not listen"
	expect_ok python3 "$FX_SRCDIR/tests/real-macros.py" drive "$port"
	cp out asked
	sleep 0.3 # it closes connections when it has time
	if [ $run = none ]; then
		kill "$server"
	else
		pkill -TERM -P "$server" -x memcached
	fi
	wait "$server"
done
cd .. || exit 99
expect_clean trace.fxt
PYTHONPATH=$FX_SRCDIR/python FXTRACE_READER_LIBRARY=$FX_BUILDDIR/.libs/libfxtrace-reader.so.0 \
	python3 "$FX_SRCDIR/tests/real-macros.py" agree trace.fxt memcached/asked >told 2>&1 || fail "$(tail -n 5 told)"
expect_ok "$FXTRACE" convert -f perfetto trace.fxt trace.pb
expect_line '^[0-9]+ events, [23][0-9] kinds$' told
echo "$count macros, $(cat told)"
