#!/bin/bash
# SPDX-License-Identifier: MIT
# --on-full block keeps all, also of 1,000 threads that each hold a chunk of a buffer with fewer.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

cat >crowd.c <<'EOF'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t turn;
static int calls;

__attribute__((noinline)) static int member(int i)
{
	return i * 3;
}

/* All at once; then one after another, while the others wait with what they hold. */
__attribute__((no_instrument_function)) static void *work(void *number)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	volatile int sum = 0;

	pthread_barrier_wait(&turn);
	for (int i = 0; i < calls; i++)
		sum += member(i);
	pthread_barrier_wait(&turn);
	pthread_mutex_lock(&one);
	for (int i = 0; i < calls; i++)
		sum += member(i);
	pthread_mutex_unlock(&one);
	pthread_barrier_wait(&turn);
	return number;
}

__attribute__((no_instrument_function)) int main(int argc, char **argv)
{
	int threads = atoi(argv[1]);
	pthread_t *thread = calloc((size_t)threads, sizeof(*thread));
	pthread_attr_t attr;

	calls = argc > 2 ? atoi(argv[2]) : 100;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_barrier_init(&turn, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		if (pthread_create(&thread[i], &attr, work, NULL))
			exit(77);
	}
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	puts("done");
	return 0;
}
EOF
compile crowd crowd.c -O1 -finstrument-functions -pthread

# whole THREADS CALLS OPTION...: of each call there is a record, or a begin and an end.
whole() {
	local threads=$1 calls=$2 status=0 records=1

	shift 2
	case $* in *pairs*) records=2 ;; esac
	"$FXTRACE" run -o trace.fxt --on-full block "$@" -- ./crowd "$threads" "$calls" >out 2>err || status=$?
	[ "$status" -ne 77 ] || skip "there is no room for $threads threads"
	expect_equal 0 "$status" "$*: status ($(cat err))"
	expect_no_line 'lost|dropped' err
	expect_clean trace.fxt
	expect_equal $((2 * records * threads * calls)) \
		"$("$FXTRACE" dump trace.fxt | grep -c 'name="member"')" "$*: records of $threads threads"
}

whole 1000 100
whole 1000 20 -b 1M
whole 200 40 -c function -b 64K
whole 20 100 -c function -b 4K
whole 200 40 -c function --records pairs -b 64K
