#!/bin/bash
# SPDX-License-Identifier: MIT
# A process that records a million calls while the manager keeps up goes over the same pages again and again: what it has
# resident, and its page faults, follow how far the manager lags and not how much is recorded. The manager's threads wake by what is to
# be written and by the time that passes. Counts, all of them.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "a sanitizer maps memory of its own"
target kept_up kept_up.c
calls=1000000

read -r plain_faults plain_kib _ <<<"$(./kept_up $calls)"
[ "$plain_kib" -gt 0 ] || skip "the kernel does not say what is resident"

cat >counted.sh <<'END'
. "$FX_SRCDIR/tests/e2e/slept.sh"
before=$(slept) begin=$(date +%s%3N)
echo "$("$@") $(($(slept) - before)) $(($(date +%s%3N) - begin))"
END
"$FXTRACE" run -q -c function -b 16M -o kept.fxt -- sh counted.sh ./kept_up $calls kept.fxt >counts
read -r faults kib portions slept passed <counts
echo "faults: $plain_faults plain, $faults traced; resident: $plain_kib KiB plain, $kib KiB traced;" \
	"the manager's other threads slept $slept times in $passed ms"
expect_clean kept.fxt
[ "$("$FXTRACE" report --json --summary kept.fxt | grep -o '"calls": *[0-9]*' | head -n 1 | grep -o '[0-9]*')" -ge $calls ] ||
	fail "not all calls are there"
[ $((faults - plain_faults)) -le 400 ] || fail "$((faults - plain_faults)) page faults more for $calls calls, at most 400"
[ $((kib - plain_kib)) -le 2048 ] || fail "$((kib - plain_kib)) KiB more are resident, at most 2048"
# The doorbell's thread wakes at each change of halves, the writer's for each portion, and both by the time.
most=$((4 * portions + 2 * passed / 20 + 25))
[ "$slept" -le "$most" ] || fail "the manager's other threads slept $slept times, at most $most"
