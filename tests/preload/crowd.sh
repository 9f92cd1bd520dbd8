#!/bin/bash
# SPDX-License-Identifier: MIT
# Hundreds wait for one object: each has its arrow, none is for two, and they come from those who let them go.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

expect_ok "$FXTRACE" run -q --on-full block -o trace.fxt -- "$FX_BUILDDIR/tests/preload/targets/crowd"
mv out log
expect_clean trace.fxt
expect_ok "$FXTRACE" dump trace.fxt

# Lines "begin ID TID NAME" and "end ID TID NAME".
sed -n 's/.* event type=flow-\(begin\|end\) .*tid=\([0-9]*\) ts=[0-9]* id=\([0-9]*\) .*name="\([^"]*\)".*/\1 \3 \2 \4/p' \
	out >flows

# arrows_to NAME [TID]: arrows that end in it, from thread TID.
arrows_to() {
	awk -v name="$1" -v tid="${2-}" '
		$1 == "begin" { from[$2] = $3 }
		$1 == "end" && $4 == name { ends[$2] = 1 }
		END { for (id in ends) n += tid == "" || from[id] == tid; print n + 0 }' flows
}

slices() {
	grep -c "type=complete.*name=\"$1\"" out
}

expect_equal 303 "$(arrows_to pthread_join)" "arrows to pthread_join"
expect_equal "$(slices pthread_cond_wait)" \
	"$(arrows_to pthread_cond_wait "$(awk '$1 == "broadcaster" { print $2 }' log)")" \
	"arrows from the one who broadcasts"
[ "$(slices pthread_cond_wait)" -ge 300 ] || fail "not all have waited"
# Some may find that it has been posted already.
expect_equal "$(slices sem_wait)" "$(arrows_to sem_wait)" "arrows to sem_wait"
for poster in $(awk '$1 == "poster" { print $2 }' log); do
	n=$(arrows_to sem_wait "$poster")
	[ "$n" -le 100 ] || fail "$poster has let $n go with 100 posts"
done
