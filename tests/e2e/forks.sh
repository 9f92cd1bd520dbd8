#!/bin/bash
# SPDX-License-Identifier: MIT
# A forked child records from its first event on, and waits for nobody: not for a manager of ordinary priority, not in a
# burst of children, and not for a manager that is stopped, which has all of it when it goes on.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

target forks forks.c -lutil
target leaf leaf.c
target children children.c

# expect_children COUNT: so many, with all their calls.
expect_children() {
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_equal "$(($1 + 1))" "$(wc -l <processes)" "processes"
	expect_events "$(($1 * 200))" 'name == "in_child"'
	expect_events 0 'name == "records dropped"'
}

expect_status 0 "$FXTRACE" run -q -o trace.fxt -- ./forks sleepers 20
# (An emulator's sleep for locks of its own.)
is_emulated || expect_equal '0 asleep' "$(cat out)" "children that compute"

burst=$(scaled 150)
for options in '' '-m oneshot' '-m circular' '-b 64K'; do
	# shellcheck disable=SC2086 # several options
	expect_status 0 "$FXTRACE" run -q $options -o trace.fxt -- ./forks burst "$burst"
	expect_equal '' "$(cat err)" "said of a burst"
	expect_children "$burst"
done

# Daemons: who made them is gone when they begin.
expect_ok "$FXTRACE" run -o trace.fxt -- ./forks daemons 20
expect_clean trace.fxt
list_archive trace.fxt
expect_equal 41 "$(wc -l <processes)" "processes of 20 daemons"
expect_events 4000 'name == "in_child"'

# Handlers before a fork that fork themselves, and whose children go on with the fork that they came in.
for count in 1 2 3; do
	expect_ok "$FXTRACE" run -o trace.fxt -- ./forks handlers $count
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_equal $((2 << count)) "$(wc -l <processes)" "processes of $count handlers"
	expect_events $(((2 << count) * 200)) 'name == "in_child"'
done

# All is told of children that were gone before the manager heard of them: whose they were, and how they ended.
expect_status 0 "$FXTRACE" run -q -o trace.fxt -- ./forks silent 20
expect_equal '' "$(cat err)" "said of a manager that was stopped"
expect_children 20
expect_events 20 'name == "creates process" && type == "instant"'
expect_events 20 'name == "process starts" && type == "instant"'
expect_events 21 'name == "process exits" && type == "instant"' # its own as well
expect_events 20 'name == "told of its end" && type == "instant"'

expect_status 0 "$FXTRACE" run -q -o trace.fxt -- ./forks abandoned 20
expect_children 20

# More than can be traced at a time, none of which is there any more. (An emulator has not the time for so many.)
many=1100
! is_emulated || many=50
ulimit -n "$(ulimit -Hn)"
expect_status 0 "$FXTRACE" run -q -b 4M -o trace.fxt -- ./forks silent $many
expect_equal '' "$(cat err)" "said of many"
expect_children $many

# A limit holds for what is brought too.
expect_status 0 "$FXTRACE" run -b 1M --max-memory 4M -o trace.fxt -- ./forks silent 10
expect_no_line 'exceed' err
expect_children 10

# Root's manager knows the children of a program that has become another user, though they ended before it looked. What
# comes last asks, and has its answer when all before it were heard.
other=(setpriv --reuid=12345 --regid=12345 --clear-groups)
chmod 755 .
if [ "$(id -u)" -eq 0 ] && "${other[@]}" test -x leaf -a -r "$LIBFXTRACE" 2>/dev/null; then
	expect_ok "$FXTRACE" run -o trace.fxt -- "${other[@]}" \
		sh -c 'i=0; while [ $i -lt 40 ]; do (:); i=$((i + 1)); done; ./leaf 0; exit 0'
	expect_no_line 'ended before' err
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_equal 42 "$(wc -l <processes)" "processes of another user"
else
	echo "there is no other user who can load the library: not tried"
fi

# New programs have to ask. One of them waits in vain, and the others know.
expect_status 0 "$FXTRACE" run -q -o trace.fxt -- ./forks programs 6 ./leaf
read -r first slowest <out
[ "$slowest" -lt "$((first / 2))" ] ||
	fail "the first program took $first ns, another one $slowest, while the manager was stopped"
list_archive trace.fxt
expect_events 1+ 'name == "leaf_function"'

# Children are not traced, and do not ask: nor do programs that they become, or that it starts itself. What it becomes
# is traced.
expect_status 0 "$FXTRACE" run -q --no-follow -o trace.fxt -- ./forks silent 20
expect_equal 1 "$(list_archive trace.fxt && wc -l <processes)" "processes of --no-follow"

# expect_alone ASKED SETTING [OPTION] -- PROGRAM...: the manager is asked so often, by whatever one process becomes, which
# has so many processes of the archive, and ends with status 0.
expect_alone() {
	expect_ok strace -f -qq -e trace=connect -o asked env "$2" "$FXTRACE" run -o trace.fxt "${@:3}"
	expect_no_line 'ended before' err
	expect_equal "$1" "$(grep -c 'connect(.*/fxtrace-.*/s"' asked)" "connections of ${*:2}: $(cat asked)"
	list_archive trace.fxt
	expect_equal 1 "$(cut -f1 processes | sort -u | wc -l)" "processes of ${*:2}"
	expect_clean trace.fxt
}

if command -v strace >/dev/null && strace -f -qq -e trace=none true 2>/dev/null; then
	for setting in "--no-follow" "FXTRACE_NO_FOLLOW=1"; do
		case $setting in
		--*) given=(NONE=1 "$setting") ;;
		*) given=("$setting") ;;
		esac
		expect_alone 1 "${given[@]}" -- ./forks burst 20
		expect_alone 1 "${given[@]}" -- ./forks each
		expect_alone 1 "${given[@]}" -- sh -c '(true); /bin/true; (/bin/true); :'
		for how in fork-exec vfork spawn vfork-empty; do
			expect_alone 1 "${given[@]}" -- ./children "$how" ./leaf
		done
		expect_alone 2 "${given[@]}" -- sh -c '/bin/true; exec ./leaf'
		expect_events 1 'name == "leaf_function"'
		expect_alone 2 "${given[@]}" -- env -i "$PWD/leaf"
		expect_events 1 'name == "leaf_function"'
	done
else
	echo "strace may not trace here: who asks is not counted"
fi

# A daemon's session: children that were made before it begins, in it, and after its end.
manager_start
expect_status 0 "$FXTRACE" record -q -o trace.fxt -- ./forks burst 50
expect_children 50
expect_status 0 "$FXTRACE" record -q -b 128K -o trace.fxt -- ./forks burst 50
expect_children 50
manager_stop
