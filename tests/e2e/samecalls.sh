# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What tests of real programs share, to be read after lib.sh: the calls in an archive, held against an independent logger.
CALLTREE=$FX_BUILDDIR/tests/e2e/calltree
HOOKLOG_SO=$FX_BUILDDIR/.libs/libhooklog.so

# Of a program in C++, whose names nm has otherwise, threads and depths are compared alone: same_shape=yes.
same_shape=
# (Of equal functions of several files the linker makes one with several names, which differ behind .lto_priv.)
calls_tree() {
	"$CALLTREE" "$@" | sed 's/\.lto_priv\.[0-9].*//' | if [ -n "$same_shape" ]; then cut -d' ' -f1,2; else cat; fi
}

# expect_same_calls NAME PROGRAM...: lossless, with small and with usual buffers. Without address
# randomisation, since hashes of addresses decide what lua calls.
expect_same_calls() {
	local name=$1

	shift
	setarch -R env HOOKLOG="$PWD/hooks.log" LD_PRELOAD="$HOOKLOG_SO" "$@" >logged.out 2>/dev/null </dev/null
	nm "$1" >symbols
	calls_tree hooks hooks.log symbols >logged.tree
	[ "$(wc -l <logged.tree)" -gt 10000 ] || fail "$name: the logger saw too few calls"

	expect_unharmed 0 "$@"
	for size in 256K 16M; do
		setarch -R "$FXTRACE" run -q -o trace.fxt --on-full block -b "$size" -- "$@" >traced.out \
			2>traced.err </dev/null || fail "$name: $(cat traced.err)"
		expect_same_file logged.out traced.out
		expect_clean trace.fxt
		calls_tree archive trace.fxt >traced.tree
		expect_same_file logged.tree traced.tree
	done
	echo "$name: $(wc -l <traced.tree) calls, the same"
}

# expect_same_counts NAME PROGRAM...: of one that is built for a profiler, against what gprof counts of the very run that is traced.
# (It counts main not always.)
expect_same_counts() {
	local name=$1

	shift
	rm -f gmon.out
	"$FXTRACE" run -q -c function -o trace.fxt --on-full block -- "$@" >traced.out 2>traced.err </dev/null ||
		fail "$name: $(cat traced.err)"
	expect_clean trace.fxt
	gprof -b -q "$1" gmon.out 2>/dev/null | awk '/^\[/ && $6 ~ /^[a-zA-Z_]/ && $6 != "main" {
		split($5, calls, "+")
		sum[$6] += calls[1] + calls[2]
	}
	END { for (name in sum) print sum[name], name }' | LC_ALL=C sort >counted
	[ "$(awk '{ sum += $1 } END { print sum + 0 }' counted)" -gt 10000 ] || fail "$name: gprof saw too few calls"
	"$FXTRACE" report --functions --top 0 --json trace.fxt | tr '{' '\n' |
		sed -nE 's/.*"calls": ([0-9]+).*"name": "([^"]+)".*/\1 \2/p' | awk '$2 != "main" { sum[$2] += $1 }
		END { for (name in sum) print sum[name], name }' | LC_ALL=C sort >recorded
	expect_same_file counted recorded
	echo "$name: $(awk '{ sum += $1 } END { print sum }' recorded) calls of $(wc -l <recorded) functions, as gprof counts them"
}

# expect_same_threads NAME WORK SERVER...: of a program that never does the same twice. The logger stands before the tracer's hooks in the
# very process that is traced, and what each thread called is the same, call for call. WORK is a command that has it work, and end.
expect_same_threads() {
	local name=$1 work=$2 server

	shift 2
	rm -f trace.fxt
	FXTRACE_OUTPUT=$PWD/trace.fxt FXTRACE_CATEGORIES=function FXTRACE_ON_FULL=block FXTRACE_QUIET=1 HOOKLOG=$PWD/hooks.log \
		LD_PRELOAD=$HOOKLOG_SO:$LIBFXTRACE "$@" >traced.out 2>traced.err </dev/null &
	server=$!
	"$work" || fail "$name: it does not work: $(tail -n 3 traced.out traced.err)"
	wait "$server" || fail "$name: its end: $?: $(tail -n 3 traced.out traced.err)"
	wait_archive trace.fxt || fail "$name: no archive"
	expect_clean trace.fxt
	nm "$1" >symbols
	calls_tree -t hooks hooks.log symbols >logged.tree
	calls_tree -t archive trace.fxt "$server" >traced.tree
	rm hooks.log
	[ "$(wc -l <logged.tree)" -gt 10000 ] || fail "$name: the logger saw too few calls"
	expect_same_file logged.tree traced.tree
	echo "$name: $(wc -l <traced.tree) calls of $(cut -d' ' -f1 traced.tree | sort -u | wc -l) threads, the same"
}
