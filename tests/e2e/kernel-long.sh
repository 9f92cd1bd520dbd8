#!/bin/bash
# SPDX-License-Identifier: MIT
# --kernel and --sample of a static program that takes all processors: of its calls none is missing that is not counted as lost, none is
# there twice, and the provider and the manager do not grow. FX_SECONDS: how long; `make check-kernel-long' takes ten minutes.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3 pgrep
! is_emulated || skip "the emulator knows no performance events"
compile steady -O2 -static "$FX_SRCDIR/tests/e2e/targets/steady.c" -pthread 2>/dev/null || skip "nothing can be linked statically"
seconds=${FX_SECONDS:-5}
# Memory beyond what was taken in the first half: less than two bytes for each of ten minutes' events.
grows_most=65536

# resident PID...: kB of all of them.
resident() {
	local pid sum=0
	for pid in "$@"; do
		sum=$((sum + $(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status" 2>/dev/null || echo 0) + 0))
	done
	echo "$sum"
}

"$FXTRACE" run --kernel --sample 999 -c sched,sample,syscall -o trace.fxt -- ./steady "$(nproc)" "$seconds" >said 2>told &
manager=$!
first=0 second=0 looks=0
begin=$SECONDS
while kill -0 "$manager" 2>/dev/null; do
	provider=$(pgrep -P "$manager" -x fxtrace-kernel)
	# shellcheck disable=SC2086 # none, if it has ended
	used=$(resident "$manager" $provider)
	if [ $((2 * (SECONDS - begin))) -lt "$seconds" ]; then
		[ "$used" -le "$first" ] || first=$used
	else
		[ "$used" -le "$second" ] || second=$used
		looks=$((looks + 1))
	fi
	sleep 0.1
done
wait "$manager" || fail "the program did not end well: $(cat told)"
! grep -qE 'no samples are taken|not recorded' told || skip "$(grep -E 'no samples|not recorded' told)"
[ "$first" -gt 0 ] && [ "$looks" -gt 0 ] || fail "memory was not looked at"
[ $((second - first)) -lt "$grows_most" ] || fail "$second kB in the second half, $first in the first"
expect_clean trace.fxt

# number QUERY: of the trace.
number() {
	expect_ok "$FXTRACE" query --json trace.fxt "select count(*) as n from slice where $1"
	python3 -c 'import json; print(json.load(open("out"))[0]["n"])'
}

# What is missing is lost, and counted. A sample is due for each millisecond of a processor; the kernel takes some less, and the begin is none of them.
complete() {
	lost=$(sed -nE 's/.* ([0-9]+) records? lost .*/\1/p' told | awk '{ sum += $1 } END { print sum + 0 }')
	read -r made ms <said
	calls=$(number "name = 'getppid'")
	samples=$(number "category = 'sample'")
	[ "$made" -gt 0 ] && [ "$calls" -gt 0 ] || fail "$calls of $made calls are recorded"
	[ "$calls" -le "$made" ] || fail "$calls calls are recorded of $made"
	[ $((made - calls)) -le "$lost" ] || fail "$calls of $made calls are recorded, and $lost records are lost: $(cat told)"
	[ $((samples + lost)) -gt $(((ms - 100) * 8 / 10)) ] || fail "$samples samples of $ms ms, $lost records lost: $(cat told)"
	echo "$calls of $made calls, $samples samples of $ms ms, $lost records lost"
}

complete
echo "$first kB in the first half, $second in the second"

# A provider that gets no processor for a while, as the rings have room for a quarter of a second of samples.
"$FXTRACE" run --kernel --sample 999 -c sched,sample,syscall -o trace.fxt -- ./steady "$(nproc)" 4 >said 2>told &
manager=$!
wait_for 120 pgrep -P "$manager" -x steady || fail "the program does not begin"
provider=$(pgrep -P "$manager" -x fxtrace-kernel)
sleep 0.5
kill -STOP "$provider"
sleep 2.5
kill -CONT "$provider"
wait "$manager" || fail "the program did not end well: $(cat told)"
expect_clean trace.fxt
complete
[ "$ms" -lt 3000 ] || [ "$lost" -gt 0 ] || fail "nothing is lost: $samples samples of $ms ms"
