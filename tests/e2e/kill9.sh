#!/bin/bash
# SPDX-License-Identifier: MIT
# However a program ends: every record that its threads had completed is in the archive, and what was
# open at that moment is shown as unfinished.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target progress progress.c
target block block.c
target ending ending.c

# word FILE N: the Nth 64-bit word of a file, from 0.
word() {
	od -An -v -t u8 -j $(($2 * 8)) -N 8 "$1" 2>/dev/null | tr -d ' '
}

# runs FILE: all threads of progress run.
runs() {
	[ "$(word "$1" 0)" -gt 0 ] 2>/dev/null
}

# tally ARCHIVE: into the file calls, for each thread and function: calls finished and unfinished.
tally() {
	"$FX_BUILDDIR/tests/e2e/events" "$1" | awk -F'\t' '
		$1 == "complete" && $6 == "function" { n[$3 " " $7 " " ($10 == "unfinished=true")]++; call[$3 " " $7] }
		END { for (c in call) print c, n[c " 0"] + 0, n[c " 1"] + 0 }' >calls
}

# expect_progress FILE THREADS: the archive has all the calls that FILE counts, and at most one more a
# thread, whose count was not stored any more; and shows what was open.
expect_progress() {
	local i tid calls finished unfinished

	for ((i = 0; i < $2; i++)); do
		tid=$(word "$1" $((1 + 2 * i)))
		calls=$(word "$1" $((2 + 2 * i)))
		[ "$calls" -gt 0 ] || continue # it had begun nothing, or not got far
		read -r finished unfinished < <(sed -n "s/^$tid work //p" calls)
		[ "$finished" -eq "$calls" ] || [ "$finished" -eq $((calls + 1)) ] ||
			fail "thread $tid completed $calls calls; $finished are in the archive"
		[ "$unfinished" -le 1 ] || fail "thread $tid has $unfinished open calls of work()"
		expect_line "^$tid work_for_ever 0 1\$" calls
	done
}

# --- kill -9 at a random moment; the same moments in each run of this test -------------------------

round=0
rounds=24
! is_emulated || rounds=8
for delay in $(awk -v n=$rounds 'BEGIN { srand(7); for (i = 0; i < n; i++) printf "%.4f ", rand() * 0.12 }'); do
	round=$((round + 1))
	threads=$((1 + round % 3))
	# Every fourth at full speed, for a tenth of the time.
	spin=2000
	[ $((round % 4)) -ne 0 ] || { spin=0 && delay=0.0${delay#*.}; }
	rm -f progress.map
	"$FXTRACE" run -q -o trace.fxt -b 1M --on-full block -- \
		./progress progress.map "$threads" "$spin" 2>run.err &
	run=$!
	wait_for 10 runs progress.map || fail "round $round: the program does not start: $(cat run.err)"
	sleep "$delay"
	kill -9 "$(word progress.map 0)"
	wait "$run"
	expect_equal 137 $? "status of run in round $round"
	expect_clean trace.fxt
	tally trace.fxt
	expect_progress progress.map "$threads"
done

# --- Killed inside a call that blocks --------------------------------------------------------------

sleeps() {
	[ "$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -c1)" = S ]
}

for call in read poll nanosleep pthread_cond_wait pthread_mutex_lock pthread_join waitpid; do
	rm -f ready
	"$FXTRACE" run -q -o trace.fxt -- ./block "$call" ready 2>run.err &
	run=$!
	wait_for 10 test -s ready || fail "$call: the program does not start: $(cat run.err)"
	pid=$(cat ready)
	wait_for 10 sleeps "$pid" || fail "$call: it does not block"
	sleep 0.05
	child=$(cat "/proc/$pid/task/$pid/children")
	kill -9 "$pid"
	# shellcheck disable=SC2086 # there may be none
	[ -z "$child" ] || kill -9 $child
	wait "$run"
	expect_equal 137 $? "status of run, killed in $call()"
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 1 "tid == $pid && name == \"$call\" && has(\"unfinished=true\")"
	expect_events 1 "tid == $pid && name == \"wait_in\" && has(\"unfinished=true\")"
	expect_events 1 "tid == $pid && name == \"main\" && has(\"unfinished=true\")"
	expect_events 1 "tid == $pid && name == \"say_ready\" && !has(\"unfinished=true\")"
done

# --- Ends of its own -------------------------------------------------------------------------------

# expect_ending STATUS HOW ARG...
expect_ending() {
	local want=$1 name

	shift
	expect_status "$want" "$FXTRACE" run -q -o trace.fxt -- ./ending "$@"
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 3 'name == "done" && !has("unfinished=true")'
	for name in main outer inner; do
		expect_events 1 "name == \"$name\" && has(\"unfinished=true\")"
	done
}

ulimit -c 0
expect_ending 139 segv
expect_ending 134 abort
expect_ending 137 kill
expect_ending 7 _exit
expect_ending 7 exit
expect_ending 143 raise 15

# A program that goes on as another one: the calls of the old image end there.
expect_ending 9 exec sh -c 'exit 9'
expect_equal 1 "$(wc -l <processes)" "processes"
expect_equal sh "$(cut -f2 processes)" "name of the process after exec: $(cat processes)"

# --- A whole group of processes at once, as from the kernel that is out of memory ------------------

need setsid
for round in 1 2 3; do
	rm -f group a.map b.map
	"$FXTRACE" run -q -o trace.fxt -b 1M --on-full block -- setsid sh -c '
		echo $$ >group
		./progress a.map 2 200 &
		./progress b.map 3 500 &
		wait' 2>run.err &
	run=$!
	wait_for 10 runs a.map && wait_for 10 runs b.map ||
		fail "the processes do not start: $(cat run.err)"
	sleep 0.0$round
	kill -9 -- "-$(cat group)"
	wait "$run"
	expect_equal 137 $? "status of run, group killed"
	expect_clean trace.fxt
	tally trace.fxt
	expect_progress a.map 2
	expect_progress b.map 3
done
