#!/bin/bash
# SPDX-License-Identifier: MIT
# Many processes: 300 that are idle at a time cost less than 1 % of a core, 1,000 come and go.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

# Processor time of the manager so far, in ticks of 10 ms.
manager_ticks() {
	local -a stat

	read -r -a stat <"/proc/$MANAGER/stat"
	echo $((stat[13] + stat[14]))
}

resident_kib() {
	sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$MANAGER/status"
}

[ "$(getconf CLK_TCK)" -eq 100 ] || skip "a tick is not 10 ms"
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
sleep 1
from=$(manager_ticks)
sleep 5
used=$(($(manager_ticks) - from))
echo "300 idle processes: $each KiB of memory each, $((used / 5)).$((used % 5 * 2)) % of a core"
[ "$used" -lt 5 ] || fail "$used hundredths of a second in 5 s for 300 idle processes"
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
