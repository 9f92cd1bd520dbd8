#!/bin/bash
# SPDX-License-Identifier: MIT
# Many processes: 300 that are idle at a time cost less than 1 % of a core, 1,000 come and go.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

# Processor time of the manager so far, in ns.
manager_ns() {
	cat "/proc/$MANAGER/task/"*/schedstat | awk '{ sum += $1 } END { printf "%d\n", sum }'
}

resident_kib() {
	sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$MANAGER/status"
}

[ -r /proc/self/schedstat ] || skip "this kernel does not count nanoseconds"
manager_start
before=$(resident_kib)
for ((i = 0; i < 300; i++)); do
	provider_start sleep 120
done
wait_for 60 providers_are 300 || fail "not all register: $("$FXTRACE" status)"
each=$((($(resident_kib) - before) / 300))
[ "$each" -le 64 ] || fail "$each KiB of memory for each idle process"
"$FXTRACE" list-providers --json >out
expect_equal 300 "$(grep -o '"pid"' out | wc -l)" "processes listed"

expect_ok "$FXTRACE" start -o idle.fxt
# What else the machine does makes it more, and never less: the least of some tries.
is_idle() {
	local from used

	from=$(manager_ns)
	sleep 3
	used=$(($(manager_ns) - from))
	awk -v ns="$used" -v each="$each" 'BEGIN {
		printf "300 idle processes: %d KiB of memory each, %.2f %% of a core\n", each, ns / 3e7 }' >idle
	[ "$used" -lt 30000000 ]
}
wait_for 3 is_idle || fail "more than one percent of a core: $(cat idle)"
cat idle
expect_ok "$FXTRACE" terminate
expect_clean idle.fxt
# shellcheck disable=SC2046 # a list
kill $(jobs -p | grep -vx "$MANAGER")
wait_for 20 providers_are 0 || fail "the manager keeps the dead"

begun=$EPOCHREALTIME
# shellcheck disable=SC2016 # for the program's shell
expect_ok "$FXTRACE" record --json -o thousand.fxt -- \
	sh -c 'i=0; while [ $i -lt 1000 ]; do /bin/true; i=$((i + 1)); done'
echo "1,000 processes in turn: $(awk "BEGIN { printf \"%.2f\", $EPOCHREALTIME - $begun }") s," \
	"$(json_number processes out) in the archive, $(($(resident_kib) - before)) KiB kept"
[ "$(json_number processes out)" -ge 1001 ] || fail "not all are in the archive: $(cat out)"
expect_clean thousand.fxt
[ "$(find "/proc/$MANAGER/fd" -mindepth 1 | wc -l)" -lt 40 ] || fail "descriptors are left open"
manager_stop
