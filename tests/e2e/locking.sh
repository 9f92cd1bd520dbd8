#!/bin/bash
# SPDX-License-Identifier: MIT
# Arrows of locks that processes share: programs say who had the lock before them. No arrow is wrong, also where processes are killed, or
# one is not traced. Half of the cases are others in each run.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/shared-locks.sh"

target locking locking.c -pthread

RANDOM=${FX_SEED:-$(date +%N | sed 's/^0*//')}

# lock KIND SEED PROCESSES THREADS TURNS [WHAT]
lock() {
	share_run locking "$@"
}

# semaphores_know: whether nearly all waits have an arrow. Who begins before anybody was alone at a semaphore does not know how many units
# there were; if all do, no wait has one, and each is counted: then others are looked at.
semaphores_know() {
	for _ in 1 2 3 4 5; do
		[ "$sum" -gt $((waits / 20)) ] || return 0
		[ $((found + sum)) -ge $((waits - waits / 20)) ] || return 1
		seed=$((RANDOM))
		# shellcheck disable=SC2086 # two words
		lock "$kind" $seed $parties "$turns"
	done
	return 1
}

turns=$(scaled 100)
for kind in mutex recursive checked robust inherit timed cond file sem semfile named pass; do
	least=1
	for parties in "3 2" "$((RANDOM % 6 + 2)) $((RANDOM % 4 + 1))"; do
		seed=$((RANDOM))
		# shellcheck disable=SC2086 # two words
		lock "$kind" $seed $parties "$turns"
		case $kind in
		pass) [ "$found" -ge $((waits - 2)) ] ;; # the first one waits for nobody
		semfile) [ "$found" -eq 0 ] && [ "$sum" -gt 0 ] && continue ;; # anybody may open that file
		sem | named) semaphores_know ;;
		# (Anybody may open that file; so a holder who was not seen, since he just let it go, may be one who is not traced.)
		file) [ $((found + sum)) -eq "$waits" ] && [ "$sum" -le $((waits / 4)) ] ;;
		cond) [ "$found" -eq "$waits" ] ;; # (Who woke whom may not be known.)
		*) [ "$sum" -eq 0 ] && [ "$found" -eq "$waits" ] ;;
		esac || fail "locking $kind $seed $parties $turns: $found of $waits waits have an arrow: $(cat said)"
		[ "$found" -ge $least ] || fail "locking $kind $seed $parties $turns: nobody has waited"
		least=0 # two may never meet
	done
done

total=0
for kind in mutex robust inherit cond pass sem; do
	lock "$kind" $((RANDOM)) $((RANDOM % 4 + 2)) $((RANDOM % 3 + 1)) 20000 kill
	total=$((total + found))
done
[ "$total" -gt 0 ] || fail "with processes that are killed, no wait has an arrow"
for kind in file semfile; do
	for processes in 2 5; do
		lock $kind $((RANDOM)) $processes 2 $((5 * turns)) unseen
		[ "$found" -eq 0 ] && [ "$sum" -gt 0 ] && grep -q 'since one who was not seen has part' said ||
			fail "locking $kind, and one is not traced: $found arrows: $(cat said)"
	done
done

# One that is killed with the mutex lets the next one have it; and who changes a ceiling has the mutex without a call that says so.
cat >odd.c <<'END'
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	pthread_mutex_t *m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int dies = !strcmp(argv[1], "dies"), told[2], before;
	pthread_mutexattr_t attr;
	char byte;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	dies ? pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) : pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_PROTECT);
	if (!dies)
		pthread_mutexattr_setprioceiling(&attr, 1);
	if (pthread_mutex_init(m, &attr) || pipe(told))
		return 77;
	if (fork() == 0) {
		unsigned free = (unsigned)m->__data.__lock;

		if (pthread_mutex_lock(m))
			_exit(77);
		if (write(told[1], "x", 1) != 1)
			_exit(1);
		/* Until somebody waits. */
		while (dies ? !(*(volatile unsigned *)&m->__data.__lock >> 31) : (*(volatile unsigned *)&m->__data.__lock - free) < 2)
			usleep(1000);
		if (dies)
			raise(SIGKILL);
		pthread_mutex_unlock(m);
		_exit(0);
	}
	close(told[1]);
	if (read(told[0], &byte, 1) != 1)
		return 77;
	if (dies ? pthread_mutex_lock(m) != EOWNERDEAD : pthread_mutex_setprioceiling(m, 2, &before))
		return 1;
	return wait(NULL) < 0;
}
END
compile odd -O1 -w odd.c -pthread
for way in dies ceiling; do
	status=0
	"$FXTRACE" run -c pthread,process -o odd.fxt -- ./odd $way >out 2>said || status=$?
	[ $status -ne 77 ] || continue # real-time priorities are not for everybody
	expect_equal 0 "$status" "odd $way: $(cat said)"
	expect_ok "$FXTRACE" dump odd.fxt
	expect_equal "$([ $way = dies ] && echo 1 || echo 0)" "$(grep -c 'flow-end.*"gets"' out)" "arrows: $way"
	if [ $way = dies ]; then
		grep -q 'flow-begin.*"ends as the owner"' out || fail "the arrow does not come from the owner's end"
	else
		grep -q '1 wait for locks that processes share has no arrow.*not seen' said || fail "a ceiling that was waited for: $(cat said)"
	fi
done

# Why: from the wait to the process that was slow.
target slow slow.c -pthread
for way in lock semaphore rwlock barrier condition; do
	share=0
	case $way in
	lock) call=pthread_mutex_lock ;;
	semaphore) call=sem_wait ;;
	rwlock) call=pthread_rwlock_rdlock ;;
	barrier) call=pthread_barrier_wait ;;
	condition) call=pthread_cond_wait ;;
	esac
	for pause in 300 1000 4000; do
		"$FXTRACE" run -q -o why.fxt -- ./slow $way $pause || fail "slow $way"
		"$FXTRACE" why --slice $call:longest why.fxt >why || fail "why"
		share=$(awk '/usleep|nanosleep/ { sub("%", "", $1); print int($1); exit }' why)
		[ "${share:-0}" -lt 90 ] || break
	done
	[ "${share:-0}" -ge 90 ] || fail "the wait in $call is not the sleep before it: $(cat why)"
done
