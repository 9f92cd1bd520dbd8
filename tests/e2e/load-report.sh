#!/bin/bash
# SPDX-License-Identifier: MIT
# `report --clickhouse' and `why --clickhouse': what sections say that walk through events, and why it took so long, is what they say of
# the file; archives of several hosts, and of processes of the same numbers, are kept apart.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/clickhouse.sh"

# walked DATABASE ARCHIVE [OPTION...]: what the commands of walks say of the server's archive is what they say of the file.
walked() {
	local base=$1 archive=$2 sections command

	shift 2
	while read -r command sections; do
		# shellcheck disable=SC2086 # words
		"$FXTRACE" $command --json --top 0 $sections "$archive" >file.json || fail "no $command $sections of $archive"
		# shellcheck disable=SC2086
		"$FXTRACE" $command --clickhouse "$url/$base" --json --top 0 $sections "$@" >server.json || fail "no $command $sections of $base"
		alike || fail "$command $sections of $archive and $base are not the same"
	done <walks
}

# All sections, some of which are counted there; behind a filter; each alone, which fetches what it needs; and why it took so long.
cat >walks <<-END
	report --summary --processes --waits --files --memory --functions --syscalls
	report --functions --syscalls --category syscall
	report --functions --function main
	report --summary
	report --processes
	report --waits
	report --files
	report --memory
	report --tree
	why
END
# Waits for locks, for a child and at a pipe; files; memory; and a process that is killed in a call.
cat >busy.c <<-'END'
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <sys/wait.h>
	#include <unistd.h>
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	__attribute__((noinline)) static void *hold(void *arg) {
	    for (int i = 0; i < 20; i++) {
	        pthread_mutex_lock(&lock);
	        usleep(2000);
	        pthread_mutex_unlock(&lock);
	        free(malloc(1000 + i));
	    }
	    return malloc(77);
	}
	__attribute__((noinline)) static void child(void) {
	    char text[100];
	    FILE *f = fopen("/etc/hostname", "r");
	    if (f) { if (!fread(text, 1, sizeof text, f)) text[0] = 0; fclose(f); }
	    _exit(3);
	}
	int main(void) {
	    pthread_t threads[3];
	    int status, pipes[2], first = fork(), second;
	    char c;
	    if (first == 0) child();
	    if (pipe(pipes)) return 1;
	    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, hold, NULL);
	    second = fork();
	    if (second == 0) { usleep(5000); if (write(pipes[1], "x", 1) == 1) pause(); }
	    if (read(pipes[0], &c, 1) != 1) return 1;
	    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
	    kill(second, SIGKILL);
	    waitpid(second, &status, 0);
	    waitpid(first, &status, 0);
	    return 0;
	}
END
compile busy -O1 -finstrument-functions busy.c -pthread
expect_ok traced -c '#default,malloc' -- ./busy
mv trace.fxt busy.fxt
expect_ok load "$url/busy" -q busy.fxt
walked busy busy.fxt

sed -i '2,9d' walks
# What the scheduler did, threads that it alone knows, and whatever else an archive can have.
for name in zero_lengths flow_backwards counters scheduling; do
	"$FX_BUILDDIR/tests/convert/write_sample" "$name" >"$name.fxt" || fail "no sample $name"
	expect_ok load "$url/sample" -q "$name.fxt"
	walked sample "$name.fxt" --archive "$name.fxt"
done

target weighs weighs.c
expect_ok traced -c '#default,malloc' -- sh -c './weighs; cat /nonexistent; cat /etc/hostname; exit 0'
mv trace.fxt app.fxt
for rank in 3 4; do
	SLURM_JOB_ID=77 SLURM_PROCID=$rank "$FXTRACE" run -q -o "rank-$rank.fxt" -- sh -c 'ls /; cat /nonexistent' >out 2>err
done
expect_ok load "$url/first" -q app.fxt rank-3.fxt rank-4.fxt
walked first app.fxt --archive app.fxt
walked first rank-4.fxt --job 77 --rank 4

# Of several, each has processes of its own: also where the numbers are the same, as those of a copy.
gzip -c rank-3.fxt >copy.fxt.gz
expect_ok load "$url/several" -q rank-3.fxt copy.fxt.gz
expect_ok load "$url/several" -q --host elsewhere rank-4.fxt
counts() {
	python3 -c 'import json, sys
row = json.load(sys.stdin)["summary"]["rows"][0]
print(*(row[key] for key in ("processes", "threads", "calls", "instants", "counter_values")))'
}
for file in rank-3.fxt copy.fxt.gz rank-4.fxt; do
	"$FXTRACE" report --summary --json "$file" | counts
done | python3 -c 'import sys; print(*map(sum, zip(*(map(int, line.split()) for line in sys.stdin))))' >sums
"$FXTRACE" report --summary --json --clickhouse "$url/several" | counts >together
expect_same_file sums together

# What is asked of nobody, or wrongly.
expect_one_error 1 "$FXTRACE" why --clickhouse "$url/first" --job nobody
expect_one_error 2 "$FXTRACE" why --clickhouse "$url/first" app.fxt
expect_one_error 2 "$FXTRACE" why --job 77
expect_one_error 1 "$FXTRACE" report --clickhouse "$url/first" --archive app.fxt --lock 0x1
