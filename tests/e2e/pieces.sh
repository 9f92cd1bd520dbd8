#!/bin/bash
# SPDX-License-Identifier: MIT
# The runner of other programs' own tests, on a suite of our own: it sees what ends otherwise when it is traced, takes
# a reason for it by name alone, ends a piece whose time is over, does not try again what has been tried, and its
# table and its status say what is left.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need timeout

# A tree with the runner and one suite.
mkdir -p own/tests/e2e/suites results
ln -s "$FX_SRCDIR/tests/e2e/lib.sh" "$FX_SRCDIR/tests/e2e/suites.sh" own/tests/e2e/
: >own/tests/e2e/suites/explained.txt
cat >own/tests/e2e/suites/tiny.sh <<'END'
tiny_apart=yes
tiny_list() { cat "$FX_TINY/list"; }
tiny_run() {
	local test=$1 status=0

	shift
	echo "$test" >>"$FX_TINY/ran"
	case $test in
	same) "$@" true ;;
	fails) "$@" false ;;
	preloaded*) "$@" sh -c 'test -z "$LD_PRELOAD"' ;;
	late) alone 1 "$@" sleep 1000 ;;
	endless) "$@" sleep 1000 ;;
	esac || status=$?
	echo "status $status"
}
END
FX_TINY=$PWD
export FX_TINY

# run_tiny LIMIT: its table is in the file table, its status in $status.
run_tiny() {
	status=0
	FX_SRCDIR=$PWD/own FX_SUITES=tiny FX_SUITES_RESULTS=$PWD/results FX_SUITES_PIECE=2 FX_SUITES_JOBS=2 \
		FX_SUITES_LIMIT=$1 FX_SUITES_HOW=default bash own/tests/e2e/suites.sh >table 2>&1 || status=$?
}

# totals PROGRAMS UNTRACED TRACED DIFFER EXPLAINED OPEN NOT-RUN
totals() {
	expect_equal "$*" "$(awk '$1 == "all" { $1 = ""; print substr($0, 2) }' table)" "the totals of the table"
}

printf '%s\n' same fails >list
run_tiny 600
expect_equal 0 "$status" "status where nothing differs"
totals 2 1 1 0 0 0 0

printf '%s\n' same fails preloaded1 preloaded2 >list
rm -f ran
run_tiny 600
expect_equal 1 "$status" "status where two differ"
totals 4 3 1 2 0 2 0
expect_equal $'preloaded1\npreloaded2' "$(sort -u ran)" "what has been tried is not tried again"
expect_line '^tiny preloaded1 default$' table

printf '%s\n' 'tiny preloaded1 default It looks at its environment.' 'tiny preloaded2 any' 'other preloaded2 any No.' \
	>own/tests/e2e/suites/explained.txt
rm -f ran
run_tiny 600
expect_equal 1 "$status" "status where one has no reason"
totals 4 3 1 2 1 1 0
[ ! -e ran ] || fail "tried again: $(cat ran)"

echo 'tiny preloaded2 any The same.' >>own/tests/e2e/suites/explained.txt
run_tiny 600
expect_equal 0 "$status" "status where all have reasons"
totals 4 3 1 2 2 0 0

# What does not end alone shows nothing, and a piece ends with its time, what it is at being named.
printf '%s\n' same fails preloaded1 preloaded2 late >list
run_tiny 600
expect_equal 1 "$status" "status where one takes too long"
totals 5 3 1 3 2 1 0
expect_line '^tiny late time$' table
printf '%s\n' same fails preloaded1 preloaded2 endless >list
run_tiny 3
expect_equal 1 "$status" "status where one does not end"
totals 5 3 1 3 2 1 0
expect_line '^tiny endless time$' table
expect_line 'tiny-03: its time was over in endless' table

# What cannot be had is not passed over.
: >list
run_tiny 600
expect_equal 1 "$status" "status where a suite has no tests"
expect_line '^tiny: no tests of it are to be had' table
