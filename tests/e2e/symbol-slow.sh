#!/bin/bash
# SPDX-License-Identifier: MIT
# While the symbols of one program are being read, however long that takes, what others do goes into the archive.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
not_sanitized "the reader's processes are told by what they execute"

target leaf leaf.c
cp leaf slow
cp leaf named
cp "$(command -v cat)" neighbour

# The manager's starter is stopped while slow runs: its file takes as long to read as we like.
FX_TEST_MARK=$TEST_DIR "$FXTRACE" run -o trace.fxt -- sh -c '
	while [ ! -e go ]; do sleep 0.05; done
	./slow; ./neighbour /dev/null
	while [ ! -e end ]; do sleep 0.05; done' 2>err &
manager=$!
wait_for 20 test -s trace.fxt || fail "no archive: $(cat err)"
wait_for 20 eval '[ "$(starters $manager | wc -w)" -eq 1 ]' || fail "starters: $(starters $manager | xargs)"
starter=$(starters $manager)
kill -STOP "$starter" || fail "nothing starts readers"
: >go
neighbour_is_there() { "$FXTRACE" dump trace.fxt 2>/dev/null | grep -q 'name="neighbour"'; }
wait_for 60 neighbour_is_there || true
kill -CONT "$starter"
: >end
wait $manager
expect_equal 0 $? "status: $(cat err)"
expect_clean trace.fxt
list_archive trace.fxt
expect_events 2 'process == "slow" && category == "function"'
expect_events 1+ 'process == "neighbour" && category == "syscall"'
first=$(awk -F'\t' '$4 == "neighbour" { print "neighbour"; exit } $4 == "slow" && $6 == "function" { print "slow"; exit }' events)
expect_equal neighbour "$first" "whose events come first in the archive"

# At the end everything is waited for: what ran last has names, and so does what was only just heard of.
for _ in 1 2 3 4 5; do
	expect_ok traced -- sh -c './slow & ./named & wait; exec ./leaf'
	list_archive trace.fxt
	expect_events 3 'name == "leaf_function"'
	expect_events 3 'name == "main"'
done
