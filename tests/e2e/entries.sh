#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs built for a profiler, whose functions call mcount or __fentry__ at their entry: each call is in the archive, as the program
# counts them itself; its results are the same, whatever registers its arguments are in; and gprof gets its own counts.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# entries ARCHIVE [OPTION...]: "CALLS NAME" of what the report says, sorted.
entries() {
	"$FXTRACE" report --functions --json "$@" >report.json || fail "no report: $(head -n 5 report.json)"
	tr '{' '\n' <report.json | sed -nE 's/.*"calls": ([0-9]+).*"name": "([a-z_0-9]+)(\.[0-9a-z.]+)?".*/\1 \2/p' | sort
}

for name in one two; do
	echo "int helper_$name(int a) { return a * 2; } int part(int a) { return helper_$name(a) + 1; }" >$name.c
done

# Before glibc 2.35 modules that are loaded later are not known, nor the names of what is in them.
libraries=(./one.so ./two.so)
glibc_since 35 || libraries=()

# try NAME OPTION...: with the library twice at one address, if the system gives it twice.
try() {
	local built=$1

	shift
	for name in one two; do
		"$compiler" "$@" -fno-inline -fPIC -shared -w -o $name.so $name.c || fail "$compiler $*: $name"
	done
	"$compiler" "$@" -fno-inline -fno-optimize-sibling-calls -w -o "$built" "$FX_SRCDIR/tests/e2e/targets/entered.c" -lpthread -ldl || fail "$compiler $*"
	"./$built" "${libraries[@]}" >plain || fail "$built fails untraced: $(cat plain)"
	[ ! -f gmon.out ] || mv gmon.out gmon.plain
	# Small pieces: their ends, where more is saved than usual, meet every function.
	expect_ok "$FXTRACE" run --buffer-size 256K --on-full block -o "$built.fxt" "./$built" "${libraries[@]}"
	expect_same_file plain out
	{
		sed 1d plain
		echo '1 main'
		[ ${#libraries[@]} = 0 ] || printf '%s\n' '100 helper_one' '100 helper_two' '200 part'
	} | awk '$2 == "recursive" { $1 += 15 } 1' | sort >want # the child's: 15 calls
	entries "$built.fxt" | grep -vE ' call_wider?$' >got
	expect_same_file want got
	expect_line 'calls have no end: built with -pg' <("$FXTRACE" report --functions "$built.fxt")

	expect_ok "$FXTRACE" run --buffer-size 256K --on-full block --filter 'helper_*' --filter recursive -o few.fxt "./$built" "${libraries[@]}"
	expect_same_file plain out
	entries few.fxt >got
	grep -E ' (helper_.*|recursive)$' want >few
	expect_same_file few got

	# Off, and with nobody there.
	expect_ok "$FXTRACE" run -c process -o off.fxt "./$built" "${libraries[@]}"
	expect_same_file plain out
	entries off.fxt >got
	[ ! -s got ] || fail "functions are off, and there are $(head -n 3 got)"
	LD_PRELOAD=$LIBFXTRACE "./$built" "${libraries[@]}" >out || fail "status $? without a manager"
	expect_same_file plain out
}

# What gprof counts, of a program in which no two threads count at one time (its counters are not atomic).
counts_of() {
	gprof -b -q "$1" gmon.out 2>/dev/null | grep -oE '[0-9+]+ +[a-z]+ \[[0-9]+\]$' | sort -u
}

alone() {
	cat >alone.c <<-'END'
		static __attribute__((noinline)) int low(int a) { return a + 1; }
		static __attribute__((noinline)) int high(int a) { return low(a) + low(a + 1); }
		int main(void)
		{
			volatile int sum = 0;
			for (int i = 0; i < 50000; i++)
				sum += high(i);
			return 0;
		}
	END
	"$compiler" "$@" -o alone alone.c || fail "$compiler $*"
	expect_ok ./alone
	counts_of alone >counts.plain
	[ -s counts.plain ] || fail "gprof tells nothing of an untraced program"
	rm gmon.out
	expect_ok "$FXTRACE" run -o alone.fxt ./alone
	counts_of alone >counts.traced
	expect_same_file counts.plain counts.traced
}

# The ways alone, around halves that leave nothing in any register that a called function need not keep.
every_register() {
	"$compiler" -O2 -w -c -o spoil.o "$FX_SRCDIR/tests/e2e/targets/spoil.c" &&
		"$compiler" -O2 -I"$FX_SRCDIR" -c -o ways.o "$FX_SRCDIR/preload/hooks/entry-ways.c" &&
		"$compiler" "$@" -w -o spoiled "$FX_SRCDIR/tests/e2e/targets/entered.c" spoil.o ways.o -lpthread -ldl &&
		"$compiler" "$@" -w -o unspoiled "$FX_SRCDIR/tests/e2e/targets/entered.c" -lpthread -ldl || fail "$compiler $*"
	./unspoiled >plain || fail "status $? alone"
	./spoiled >out || fail "status $? where registers are spoiled"
	expect_line '^spoiled [1-9]' out
	sed -i '/^spoiled/d' out
	expect_same_file plain out
}

compilers=$FX_CC
is_emulated || compilers="gcc clang"
for compiler in $compilers; do
	command -v "$compiler" >/dev/null || continue
	try "$(basename "$compiler")-plain" -pg
	try "$(basename "$compiler")-fast" -pg -O2
	if ! is_emulated && [ "$compiler" = gcc ] && [ "$(uname -m)" = x86_64 ]; then
		try gcc-first -pg -mfentry
		try gcc-first-fast -pg -mfentry -O2
		every_register -pg -mfentry -O2
		command -v gprof >/dev/null && alone -pg -mfentry -O2
	fi
	every_register -pg -O2
	is_emulated || ! command -v gprof >/dev/null || alone -pg
done
