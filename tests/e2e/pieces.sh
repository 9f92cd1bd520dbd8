#!/bin/bash
# SPDX-License-Identifier: MIT
# The runner of other programs' own tests, on a suite of our own: it sees what ends otherwise when it is traced, takes
# a reason for it by name alone, tells it from what is unsteady alone, ends a piece whose time is over, does not try
# again what has been tried, keeps how tests end alone, and its table and its status say what is left.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need timeout flock pgrep

# A tree with the runner and one suite.
mkdir -p own/tests/e2e/suites results
ln -s "$FX_SRCDIR/tests/e2e/lib.sh" "$FX_SRCDIR/tests/e2e/source.sh" "$FX_SRCDIR/tests/e2e/suites.sh" own/tests/e2e/
: >own/tests/e2e/suites/explained.txt
echo 'tiny slow 30 It sleeps.' >own/tests/e2e/suites/slow.txt
cat >own/tests/e2e/suites/tiny.sh <<'END'
tiny_apart=yes
tiny_list() { cat "$FX_TINY/list"; }
# turn TEST: which of two its second, third, sixth, seventh.. runs take, plain or traced.
turn() { echo "turn $(($(grep -c "$1" "$FX_TINY/ran") / 2 % 2))"; }
tiny_run() {
	local test=$1 status=0

	shift
	echo "$test" >>"$FX_TINY/ran"
	case $test in
	same) "$@" true ;;
	fails) "$@" false ;;
	preloaded*) "$@" sh -c 'test -z "$LD_PRELOAD"' ;;
	unsteady) turn "$test"; "$@" true ;;
	worse) turn "$test"; "$@" sh -c 'test -z "$LD_PRELOAD"' ;;
	second) "$@" [ "$(grep -c second "$FX_TINY/ran")" -ne 2 ] ;;
	crowded) "$@" sh -c "test -z \"\$LD_PRELOAD\" || test $(grep -c crowded "$FX_TINY/ran") -gt 6" ;;
	slow) within 1 "$@" sleep 1.5 ;;
	late) alone 1 "$@" sleep 1000 ;;
	endless) within 1000 "$@" sleep "$FX_TINY_LONG" ;;
	interrupted) within 1000 "$@" sh -c 'kill -INT "$$"' ;;
	esac || status=$?
	echo "status $status"
}
END
FX_TINY=$PWD
FX_TINY_LONG=1000.$$
export FX_TINY FX_TINY_LONG

# run_tiny LIMIT [WAY]: its table is in the file table, its status in $status.
run_tiny() {
	status=0
	FX_SRCDIR=$PWD/own FX_SUITES=tiny FX_SUITES_SOURCES=$PWD/sources FX_SUITES_RESULTS=$PWD/results FX_SUITES_PIECE=2 \
		FX_SUITES_JOBS=2 FX_SUITES_LIMIT=$1 FX_SUITES_HOW=${2-default} FX_SUITES_SHARE=1 \
		bash own/tests/e2e/suites.sh >table 2>&1 || status=$?
}

# totals TESTS UNTRACED TRACED EVERY DEFAULT UNSTEADY AGAIN DIFFER EXPLAINED OPEN NOT-RUN
totals() {
	expect_equal "$*" "$(awk '$1 == "all" { print $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 }' table)" \
		"the totals of the table"
}

printf '%s\n' same fails >list
run_tiny 600
expect_equal 0 "$status" "status where nothing differs"
totals 2 1 1 0 2 0 0 0 0 0 0

printf '%s\n' same fails preloaded1 preloaded2 >list
rm -f ran
run_tiny 600
expect_equal 1 "$status" "status where two differ"
totals 4 3 1 0 4 0 0 2 0 2 0
expect_equal $'preloaded1\npreloaded2' "$(sort -u ran)" "what has been tried is not tried again"
expect_line '^tiny preloaded1 default$' table

printf '%s\n' 'tiny preloaded1 default It looks at its environment.' 'tiny preloaded2 any' 'other preloaded2 any No.' \
	>own/tests/e2e/suites/explained.txt
rm -f ran
run_tiny 600
expect_equal 1 "$status" "status where one has no reason"
totals 4 3 1 0 4 0 0 2 1 1 0
[ ! -e ran ] || fail "tried again: $(cat ran)"

echo 'tiny preloaded2 any The same.' >>own/tests/e2e/suites/explained.txt
run_tiny 600
expect_equal 0 "$status" "status where all have reasons"
totals 4 3 1 0 4 0 0 2 2 0 0

# How a test ends alone is tried once for every build.
rm -f results/*/tiny-*.result results/*/tiny-*.tests
printf '%s\n' same fails >list
rm -f ran
run_tiny 600
expect_equal $'fails\nsame' "$(sort ran)" "what runs where it is known how the tests end alone"
totals 2 1 1 0 2 0 0 0 0 0 0

# What ends alone now so, now otherwise, is not blamed on the tracer, unless it does neither.
printf '%s\n' unsteady >list
run_tiny 600
expect_equal 0 "$status" "status where one is unsteady"
totals 1 1 1 0 1 1 0 0 0 0 0
printf '%s\n' unsteady worse >list
run_tiny 600
expect_equal 1 "$status" "status where one is unsteady, and fails traced alone"
totals 2 2 1 0 2 1 0 1 0 1 0
expect_line '^tiny worse default$' table

# A difference that does not come again is counted.
printf '%s\n' second >list
run_tiny 600
expect_equal 0 "$status" "status where one differs once"
totals 1 1 1 0 1 0 1 0 0 0 0

# What differs three times is looked at once more, when nothing is beside it.
printf '%s\n' crowded >list
run_tiny 600
expect_equal 0 "$status" "status where one differs in a crowd alone"
totals 1 1 1 0 1 0 0 0 0 0 0

# Signals end a program that is run from here as they end others.
printf '%s\n' interrupted >list
run_tiny 600
expect_equal 0 "$status" "status where one is interrupted"
expect_equal 'status 130' "$(cat results/alone/tiny-*/interrupted/1)" "how it ends alone"

# In both ways, and what is slow has its time.
rm -f results/*/tiny-*.result results/*/tiny-*.tests
printf '%s\n' same slow >list
run_tiny 600 ''
expect_equal 0 "$status" "status in both ways"
totals 2 2 2 2 2 0 0 0 0 0 0

# What does not end alone shows nothing, and a piece ends with its time, what it is at being named.
printf '%s\n' same preloaded1 preloaded2 late >list
run_tiny 600
expect_equal 1 "$status" "status where one takes too long"
totals 4 3 1 1 3 0 0 3 2 1 0
expect_line '^tiny late time$' table
printf '%s\n' same preloaded1 preloaded2 endless >list
run_tiny 3
expect_equal 1 "$status" "status where one does not end"
totals 4 3 1 1 3 0 0 3 2 1 0
expect_line '^tiny endless time$' table
expect_line 'tiny-02: its time was over in endless' table
! pgrep -fx "sleep $FX_TINY_LONG" || fail "what ran when a piece was ended runs on"

# What cannot be had is not passed over.
: >list
run_tiny 600
expect_equal 1 "$status" "status where a suite has no tests"
expect_line '^tiny: no tests of it are to be had' table
