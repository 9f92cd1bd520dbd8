#!/bin/bash
# SPDX-License-Identifier: MIT
# calls.sh [PROGRAM...]: larger real programs (bzip2, lua, sqlite3, redis, and in C++ ninja, from Debian's sources) in more ways than `make
# check' has the time for: by gcc, with optimisation at link time, by clang, and with GCC's plugin. The call tree in the archive equals, call
# for call, what an independent logger of the same hooks recorded; of those that are built for a profiler, the entries equal what gprof counts. What
# an archive takes for a call is shown, too. FX_WAYS: some of the ways, divided by commas; FX_BUILDDIR is a build whose test programs are there.
FX_SRCDIR=${FX_SRCDIR:-$(cd "$(dirname "$0")/.." && pwd)}
export FX_SRCDIR
: "${FX_CC:=gcc}"
. "$FX_SRCDIR/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/source.sh"
. "$FX_SRCDIR/tests/e2e/samecalls.sh"
. "$FX_SRCDIR/tests/e2e/programs.sh"
need apt-get dpkg-source nm setarch zstd

ways='gcc -O0,gcc -O2,gcc -O3 -flto=auto,clang -O2,clang -O3 -flto,plugin -O0,plugin -O2,plugin -O3 -flto=auto,profiled -O1'
[ "$(uname -m)" != x86_64 ] || ways+=',profiled -O1 -mfentry'
IFS=, read -ra ways <<<"${FX_WAYS:-$ways}"

bytes() {
	local calls

	calls=$(wc -l <traced.tree)
	zstd -q -f -3 trace.fxt -o trace.fxt.zst
	echo "$1: $(($(stat -c %s trace.fxt) * 100 / calls)) hundredths of a byte a call, $(($(stat -c %s trace.fxt.zst) * 100 / calls)) with zstd"
}

redis_ready() {
	redis-cli -s "$PWD/socket" ping 2>/dev/null | grep -q PONG
}

# Connections enough to have its threads for input and output work; what those do that free memory and write logs; its end.
redis_work() {
	wait_for 60 redis_ready && redis-benchmark -s "$PWD/socket" -q -n 300 -c 40 -P 4 -t set,get,incr,lpush,lrange_100,mset >worked &&
		redis-cli -s "$PWD/socket" eval 'for i = 1, 2000 do redis.call("rpush", "list", i, "text" .. i) end' 0 >worked &&
		redis-cli -s "$PWD/socket" unlink list mylist >worked && sleep 1 || return
	redis-cli -s "$PWD/socket" shutdown nosave >worked 2>&1
	return 0
}

try_redis() {
	need redis-cli redis-benchmark
	printf '%s\n' 'port 0' "unixsocket $PWD/socket" 'save ""' 'appendonly yes' 'io-threads 3' 'io-threads-do-reads yes' >redis.conf
	rm -rf appendonlydir
	expect_same_threads "$1" redis_work "${command[@]}" redis.conf
	# The main one, one for input and output beside it and more, three for what is to be done in the background.
	[ "$(cut -d' ' -f1 traced.tree | sort -u | wc -l)" -ge 6 ] || fail "$1: few threads"
}

[ $# -gt 0 ] || set -- bzip2 lua sqlite3 redis ninja
for program; do
	for way in "${ways[@]}"; do
		# (gprof counts without atomics, names C++ otherwise, and takes what -O2 makes parts of functions for whatever stands before.)
		[[ $way = profiled* && $program = @(redis|ninja) ]] && continue
		"program_$program" "$way"
		[[ $way = profiled* ]] && {
			expect_same_counts "$program, $way" "${command[@]}"
			continue
		}
		same_shape=
		case $program in
		redis) try_redis "$program, $way" ;;
		ninja) same_shape=yes ;;&
		*) expect_same_calls "$program, $way" "${command[@]}" ;;
		esac
		bytes "$program, $way"
	done
done
