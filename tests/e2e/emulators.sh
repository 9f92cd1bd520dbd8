#!/bin/bash
# SPDX-License-Identifier: MIT
# Valgrind says of a program under the tracer what it says without it: the program inside has no vDSO, though the kernel says
# where it was, and is not traced.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need valgrind

cat >locks.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int loaves;

static void *bake(void *lost)
{
	pthread_mutex_lock(&lock);
	loaves++;
	pthread_mutex_unlock(&lock);
	if (lost)
		lost = malloc(100);
	return lost;
}

int main(int argc, char **argv)
{
	pthread_t threads[3];

	(void)argv;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, bake, argc > 1 ? &threads[i] : NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", loaves);
	return 3;
}
EOF
$FX_CC -g -O1 -pthread -o locks locks.c || fail "locks.c does not compile"
valgrind -q ./locks >plain.out 2>plain.err
[ $? -eq 3 ] && [ ! -s plain.err ] || skip "valgrind does not work here: $(head -n 3 plain.err)"

# under STATUS OPTION... -- ARG...: traced and not, but for numbers of processes.
under() {
	local want=$1 options=() status=0

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	valgrind "${options[@]}" ./locks "$@" >plain.out 2>plain.err || status=$?
	expect_equal "$want" "$status" "status without the tracer"
	expect_status "$want" "$FXTRACE" run -o trace.fxt -- valgrind "${options[@]}" ./locks "$@"
	expect_same_file plain.out out
	grep '^fxtrace: ' err >said
	sed 's/^==[0-9]*==//; s/ 0x[0-9A-F]*: / /' plain.err >plain.text
	grep -v '^fxtrace: ' err | sed 's/^==[0-9]*==//; s/ 0x[0-9A-F]*: / /' >text
	expect_same_file plain.text text
	expect_line "not traced: .*-linux: it is valgrind, and what it says .*; trace the program without valgrind" said
	expect_clean trace.fxt
	# And by its variable alone, in front of what valgrind loads itself.
	status=0
	FXTRACE_OUTPUT=$PWD/alone.fxt LD_PRELOAD=$LIBFXTRACE valgrind "${options[@]}" ./locks "$@" >out 2>err || status=$?
	expect_equal "$want" "$status" "status with LD_PRELOAD"
	expect_same_file plain.out out
}

under 3 -q --error-exitcode=9 --
under 9 -q --error-exitcode=9 --leak-check=full -- lost
under 3 -q --error-exitcode=9 --tool=helgrind --
under 3 -q --tool=massif --massif-out-file=/dev/null --
# The tracer itself.
expect_status 3 valgrind -q "$FXTRACE" run -q -o inside.fxt -- ./locks
expect_clean inside.fxt
# And the library, where it is put into the program inside.
status=0
valgrind -q --trace-children=yes env LD_PRELOAD="$LIBFXTRACE" FXTRACE_OUTPUT="$PWD/within.fxt" ./locks >out 2>err || status=$?
expect_equal 3 "$status" "status of a program that loads the library inside valgrind"
expect_same_file plain.out out
