#!/bin/bash
# SPDX-License-Identifier: MIT
# An unmodified server under load: redis-server answers redis-benchmark, saves, shuts down cleanly.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need redis-server redis-benchmark redis-cli

cli() {
	redis-cli -s "$PWD/redis.sock" "$@"
}

"$FXTRACE" run -q -o trace.fxt -- redis-server --port 0 --unixsocket "$PWD/redis.sock" \
	--dir "$PWD" --save '' --appendonly yes --io-threads 2 >server.out 2>server.err &
server=$!
wait_for 20 cli ping || fail "the server does not answer: $(tail -n 5 server.out server.err)"
redis-benchmark -s "$PWD/redis.sock" -q -n 5000 -c 20 -t set,get,lpush,lpop >bench.out 2>&1 ||
	fail "benchmark: $(tail -n 5 bench.out)"
expect_equal OK "$(cli set key value)" "SET"
expect_equal value "$(cli get key)" "GET"
# A forked child writes the dump.
expect_equal 'Background saving started' "$(cli bgsave)" "BGSAVE"
wait_for 10 sh -c "redis-cli -s '$PWD/redis.sock' info persistence | grep -q rdb_bgsave_in_progress:0"
[ -s dump.rdb ] || fail "no dump was saved"
cli shutdown nosave >/dev/null 2>&1
wait "$server" || fail "the server ends with status $?: $(tail -n 5 server.out server.err)"
expect_no_line 'crashed|signal' server.out
expect_equal 0 "$(wc -c <server.err)" "bytes on stderr: $(cat server.err)"
expect_clean trace.fxt
list_archive trace.fxt
expect_equal 2 "$(grep -c redis processes)" "processes of the server: $(cat processes)"
# Redis names its threads of background work.
grep -q 'bio_' threads || fail "the names of threads are missing: $(cat threads)"
expect_events 1000+ 'name == "read" || name == "write"'
expect_events 1+ 'category == "syscall" && name == "accept" || name == "accept4"'
expect_events 1+ 'name == "epoll_wait"'
