#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs built for a profiler, whose functions call mcount or __fentry__ at their entry, or have room there for a call that --patch
# writes: each call is in the archive, as the program
# counts them itself; its results are the same, whatever registers its arguments are in; and gprof gets its own counts.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

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

# Options of the run.
more=()

# try NAME OPTION...: with the library twice at one address, if the system gives it twice.
try() {
	local built=$1

	shift
	for name in ${libraries[0]+one two}; do
		"$compiler" "$@" -fno-inline -fPIC -shared -w -o $name.so $name.c || fail "$compiler $*: $name"
	done
	"$compiler" "$@" -fno-inline -fno-optimize-sibling-calls -w -o "$built" "$FX_SRCDIR/tests/e2e/targets/entered.c" -lpthread -ldl || fail "$compiler $*"
	"./$built" "${libraries[@]}" >plain || fail "$built fails untraced: $(cat plain)"
	[ ! -f gmon.out ] || mv gmon.out gmon.plain
	# Small pieces: their ends, where more is saved than usual, meet every function.
	expect_ok "$FXTRACE" run "${more[@]}" --buffer-size 256K --on-full block -o "$built.fxt" "./$built" "${libraries[@]}"
	expect_same_file plain out
	{
		sed 1d plain
		echo '1 main'
		[ ${#libraries[@]} = 0 ] || printf '%s\n' '100 helper_one' '100 helper_two' '200 part'
	} | awk '$2 == "recursive" { $1 += 15 } 1' | sort >want # the child's: 15 calls
	entries "$built.fxt" | grep -vE ' call_wider?$' >got
	expect_same_file want got
	expect_line 'calls have no end: of these functions' <("$FXTRACE" report --functions "$built.fxt")

	expect_ok "$FXTRACE" run "${more[@]}" --buffer-size 256K --on-full block --filter 'helper_*' --filter recursive -o few.fxt "./$built" "${libraries[@]}"
	expect_same_file plain out
	entries few.fxt >got
	grep -E ' (helper_.*|recursive)$' want >few
	expect_same_file few got

	# Off, and with nobody there.
	expect_ok "$FXTRACE" run "${more[@]}" -c process -o off.fxt "./$built" "${libraries[@]}"
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

# Code is written while nobody runs it: a module that comes when there are other threads stays as it is, and that is said. Without
# --patch nothing is written, and nothing recorded.
patched_or_not() {
	cat >late.c <<-'END'
		#include <dlfcn.h>
		#include <pthread.h>
		#include <stdio.h>
		#include <unistd.h>
		static void *wait_long(void *unused)
		{
			pause();
			return unused;
		}
		static void load(const char *path)
		{
			void *library = dlopen(path, RTLD_NOW);
			int (*part)(int) = (int (*)(int))dlsym(library, "part");
			printf("%d\n", part(1));
		}
		int main(void)
		{
			pthread_t thread;
			load("./one.so");
			pthread_create(&thread, NULL, wait_long, NULL);
			load("./two.so");
			return 0;
		}
	END
	"$compiler" "$@" -o late late.c -lpthread -ldl || fail "$compiler $*"
	expect_ok ./late
	mv out plain
	expect_ok "$FXTRACE" run --patch -o late.fxt ./late
	expect_same_file plain out
	expect_clean late.fxt
	entries late.fxt >got
	expect_equal '1 helper_one,1 load,' "$(grep -E 'helper|load' got | sed 's/^2 load/1 load/' | tr '\n' ',')" "functions of modules"
	"$FXTRACE" dump late.fxt >dump
	expect_equal 2 "$(grep -c 'name="functions patched"' dump)" "modules that are patched"
	expect_line 'functions patched.*one.so.*functions.*2' dump
	expect_line 'functions not patched.*two.so.*the process had other threads' dump
	expect_ok "$FXTRACE" run -o late.fxt ./late
	expect_same_file plain out
	entries late.fxt >got
	[ ! -s got ] || fail "without --patch there are $(head -n 3 got)"
}

# expect_room WANTED OPTION...: "CALLS NAME," of what is patched in a program built so.
expect_room() {
	local wanted=$1

	shift
	cat >forms.c <<-'END'
		__attribute__((noinline)) int low(int a) { return a * 3; }
		__attribute__((noinline)) int high(int a) { return low(a) + low(a + 1); }
		int main(int argc, char **argv) { return high(argc) == 0; }
	END
	"$compiler" -O1 "$@" -o forms forms.c 2>link.err || { echo "not tried: $compiler $*"; return; }
	expect_ok "$FXTRACE" run --patch -o forms.fxt ./forms
	expect_clean forms.fxt
	entries forms.fxt >got
	expect_equal "$wanted" "$(tr '\n' ',' <got)" "functions of $compiler $*"
}

# With a manager that runs already: processes that start while they are recorded.
patched_in_session() {
	manager_start
	"$compiler" -O1 -fpatchable-function-entry=5 -o forms forms.c || fail "$compiler"
	expect_ok "$FXTRACE" record --patch -o forms.fxt -- ./forms
	entries forms.fxt >got
	expect_equal '1 high,1 main,2 low,' "$(tr '\n' ',' <got)" "functions of a session with --patch"
	expect_ok "$FXTRACE" record -o forms.fxt -- ./forms
	entries forms.fxt >got
	expect_equal '' "$(cat got)" "functions of a session without"
	manager_stop
}

if [ "$(uname -m)" != x86_64 ]; then
	expect_one_error 2 "$FXTRACE" run --patch -o trace.fxt -- true
	expect_line '--patch needs x86-64' err
fi

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
	if ! is_emulated && [ "$(uname -m)" = x86_64 ]; then
		more=(--patch)
		try "$(basename "$compiler")-room" -fpatchable-function-entry=5
		try "$(basename "$compiler")-room-fast" -fpatchable-function-entry=8 -O2 -fcf-protection
		[ ${#libraries[@]} = 0 ] || patched_or_not -fpatchable-function-entry=5
		expect_room '1 high,1 main,2 low,' -fpatchable-function-entry=7,2
		expect_room '' -fpatchable-function-entry=6,2
		expect_room '' -fpatchable-function-entry=4
		expect_room '' -fpatchable-function-entry=5 -fno-asynchronous-unwind-tables -fno-unwind-tables
		patched_in_session
		[ "$compiler" = gcc ] || expect_room '1 high,1 main,2 low,' -fxray-instrument -fxray-instruction-threshold=1
		if [ "$compiler" = gcc ]; then # not for libraries
			kept=("${libraries[@]}")
			libraries=()
			try gcc-nops -pg -mfentry -mnop-mcount -fno-pie -no-pie
			libraries=("${kept[@]}")
		fi
		more=()
	fi
	every_register -pg -O2
	is_emulated || ! command -v gprof >/dev/null || alone -pg
done
