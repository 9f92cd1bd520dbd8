#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace snapshot --hosts' and the triggers of `record --hosts': the last moments of several hosts up to the same one, in one archive, when it is
# asked for and when the manager of one takes a snapshot by its triggers; what is slow is waited for, and who is down, or has no session, is a line. A host is a
# manager of its own here; in ssh's place stands a command.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3

# ssh's place: HOST SCRIPT. What it says beside is no harm.
cat >there <<-END
	#!/bin/bash
	shift # --
	export FXTRACE_SOCKET=$TEST_DIR/\$1.sock PATH=$TEST_DIR:\$PATH
	case \$1 in
	down) echo 'no route to host' >&2; exit 255 ;;
	slow) echo Welcome >&2; touch $TEST_DIR/awake; until [ -e $TEST_DIR/seen.one ] && [ -e $TEST_DIR/seen.two ] && [ -e $TEST_DIR/seen.slow ]; do sleep 0.1; done ;;
	esac
	while [ -e $TEST_DIR/hold ]; do sleep 0.1; done
	exec sh -c "\$2"
END
chmod +x there
ln -s "$FXTRACE" fxtrace
export FXTRACE_SSH=$TEST_DIR/there
expect_no_folder() {
	expect_equal '' "$(find . -name '*hosts-*')" 'what is left of the parts'
}

# A host: its manager, its session, and a program that looks for a file again and again.
cat >looks.py <<-'END'
	import os, sys, time
	while True:
	    if os.path.exists("awake"):
	        open("seen." + sys.argv[1], "w").close()
	    time.sleep(0.01)
END
declare -A programs
python=$(python3 -c 'import sys; print(sys.executable)')
for name in one two slow none; do
	"$FXTRACE" manager --foreground --socket "$TEST_DIR/$name.sock" >"$name.manager" 2>&1 </dev/null &
	wait_for 20 test -S "$name.sock" || fail "no manager: $(cat "$name.manager")"
	[ "$name" = none ] && continue
	expect_ok "$FXTRACE" start --socket "$TEST_DIR/$name.sock" -m circular --trigger death:snapshot -o "$name.fxt"
	FXTRACE_SOCKET=$TEST_DIR/$name.sock LD_PRELOAD=$LIBFXTRACE "$python" looks.py "$name" &
	programs[$name]=$!
done
# count ARCHIVE NAME...: the programs of these hosts are in it, and no others.
expect_programs() {
	local archive=$1 name

	shift
	for name; do
		echo "${programs[$name]}"
	done | sort >wanted
	"$FXTRACE" query --csv "$archive" 'SELECT DISTINCT p.pid FROM slice s JOIN thread_track t ON t.id = s.track_id
		JOIN thread USING (utid) JOIN process p USING (upid)' | tr -d '"\r' | tail -n +2 | sort >found
	expect_same_file wanted found
}
# expect_both ARCHIVE: it has the programs of one and two.
expect_both() {
	local name

	"$FXTRACE" query --csv "$1" 'SELECT DISTINCT p.pid FROM process p' | tr -d '"\r' >found
	for name in one two; do
		grep -qx "${programs[$name]}" found || fail "host $name has no last moments in $1: $(cat found)"
	done
}
looks() {
	FXTRACE_SOCKET=$TEST_DIR/$1.sock "$FXTRACE" snapshot -o look.fxt >out 2>err && "$FXTRACE" report --syscalls --json look.fxt | grep -q awake
}
for name in one two slow; do
	wait_for 60 looks "$name" || fail "the program of $name does not look: $(cat err)"
done

# Now: one host makes a file as it is ready, which the programs of the others have found before their last moments end.
expect_ok "$FXTRACE" snapshot --hosts one,two,slow,down,none -o now.fxt.zst
cp err said
expect_clean now.fxt.zst
expect_no_folder
expect_line '^fxtrace snapshot: down: left out: no route to host' said
expect_line '^fxtrace snapshot: none: left out: ' said
expect_equal 2 "$(grep -c 'left out: ' said)" 'hosts that are left out'
expect_programs now.fxt.zst one two slow
"$FXTRACE" query --csv now.fxt.zst "SELECT DISTINCT p.pid FROM slice s JOIN args a USING (arg_set_id) JOIN thread_track t
	ON t.id = s.track_id JOIN thread USING (utid) JOIN process p USING (upid) WHERE a.key = 'path' AND a.string_value = 'awake'
	AND s.arg_set_id NOT IN (SELECT arg_set_id FROM args WHERE key = 'errno')" | tr -d '"\r' | tail -n +2 | sort >found
expect_same_file wanted found

# When one takes a snapshot of its own: another process dies there.
"$FXTRACE" snapshot --hosts one,two,down --await -o death.fxt >out 2>said </dev/null &
command=$!
wait_there() {
	local name

	for name in one two; do
		grep -q waiting "death.fxt.hosts-"*"/$name.messages" 2>/dev/null || return 1
	done
}
wait_for 60 wait_there || fail "nobody waits: $(cat said)"
FXTRACE_SOCKET=$TEST_DIR/two.sock LD_PRELOAD=$LIBFXTRACE sh -c 'exit 3'
wait "$command" || fail "the hosts do not end: $(cat said)"
expect_clean death.fxt
expect_no_folder
expect_line '^fxtrace snapshot: down: left out: ' said
expect_both death.fxt
[ -e two.1.fxt ] || fail 'the manager has taken no snapshot of its own'

# A signal ends the wait; nothing stays.
"$FXTRACE" snapshot --hosts one,two --await -o never.fxt >out 2>err </dev/null &
command=$!
wait_there() {
	grep -q waiting never.fxt.hosts-*/one.messages 2>/dev/null
}
wait_for 60 wait_there || fail "nobody waits: $(cat err)"
kill -INT "$command"
wait "$command" && fail 'a wait that a signal ends has a snapshot'
[ ! -e never.fxt ] || fail 'an archive of nothing'
expect_no_folder

# --- While they are recorded: what one calls for, all take, again and again --------------------------------
for name in one two; do
	expect_ok "$FXTRACE" terminate --socket "$name.sock"
done
# waits_for ROUND HOST...: these hosts wait for it.
waits_for() {
	local round=$1 name

	shift
	for name; do
		grep -q waiting "$round.hosts-"*"/$name.messages" 2>/dev/null || return 1
	done
}
# seen_by ARCHIVE NAME...: its last moments are those in which the programs of these hosts found the file.
seen_by() {
	local archive=$1 name

	shift
	expect_clean "$archive"
	for name; do
		echo "${programs[$name]}"
	done | sort >wanted
	"$FXTRACE" query --csv "$archive" "SELECT DISTINCT p.pid FROM slice s JOIN args a USING (arg_set_id) JOIN thread_track t
		ON t.id = s.track_id JOIN thread USING (utid) JOIN process p USING (upid) WHERE a.key = 'path' AND a.string_value = 'awake'
		AND p.cmdline LIKE '%looks.py%' AND s.arg_set_id NOT IN (SELECT arg_set_id FROM args WHERE key = 'errno')" |
		tr -d '"\r' | tail -n +2 | sort >found
	expect_same_file wanted found
}
# found: both programs find the file; what dies behind it has no children, whose deaths would call as well.
both_found() {
	[ -e seen.one ] && [ -e seen.two ]
}
found() {
	rm -f awake seen.*
	touch awake
	wait_for 60 both_found || fail 'the programs do not look any more'
}
rm awake
"$FXTRACE" record --hosts one,two,down -m circular --trigger death:snapshot -q -o flight.fxt >out 2>said </dev/null &
command=$!
for round in 1:two 2:one; do
	wait_for 60 waits_for "flight.${round%:*}.fxt" one two || fail "nobody waits: $(cat said)"
	found
	FXTRACE_SOCKET=$TEST_DIR/${round#*:}.sock LD_PRELOAD=$LIBFXTRACE sh -c 'exit 3'
	wait_for 60 test -e "flight.${round%:*}.fxt" || fail "no snapshot when ${round#*:} calls for one: $(cat said)"
	wait_for 60 waits_for "flight.$((${round%:*} + 1)).fxt" one two || fail "nobody waits any more: $(cat said)"
	seen_by "flight.${round%:*}.fxt" one two
done
# What is called for while a snapshot is on its way is had by another one, which follows at once: one for all of it.
touch hold
FXTRACE_SOCKET=$TEST_DIR/one.sock LD_PRELOAD=$LIBFXTRACE sh -c 'exit 3'
wait_for 60 test -e flight.3.fxt || fail "no snapshot when one calls: $(cat said)"
found
for round in 1 2; do
	FXTRACE_SOCKET=$TEST_DIR/two.sock LD_PRELOAD=$LIBFXTRACE sh -c 'exit 3'
done
called_for() {
	"$FXTRACE" status --socket two.sock | grep -qx "snapshots: *$1"
}
# One of its own and three of the rounds before.
wait_for 60 called_for 6 || fail "the manager takes none: $("$FXTRACE" status --socket two.sock)"
expect_no_line 'while another was on its way' said
rm hold
wait_for 60 test -e flight.4.fxt || fail "no snapshot of what was called for meanwhile: $(cat said)"
seen_by flight.4.fxt one two
expect_line '^fxtrace record: two: 2 called for while another was on its way: flight.4.fxt has the moments since$' said
wait_for 60 waits_for flight.5.fxt one two || fail "nobody waits any more: $(cat said)"
kill -INT "$command"
wait "$command" || fail "the recording does not end well: $(cat said)"
expect_no_folder
expect_equal 'flight.1.fxt flight.2.fxt flight.3.fxt flight.4.fxt flight.fxt' "$(echo flight*)" 'archives of the recording'
expect_both flight.fxt
expect_equal 1 "$(grep -c 'left out: ' said)" "hosts that are left out ($(cat said))"

# A recording that ends as it calls: its own archive has the moment, and the others take theirs.
cat >ends.sh <<-'END'
	case $FXTRACE_SOCKET in
	*one.sock) read -r line <over.one; exit 3 ;;
	*) read -r line <over.two ;;
	esac
END
mkfifo over.one over.two
"$FXTRACE" record --hosts one,two -m circular --trigger death:snapshot -c syscall -q -o ends.fxt -- sh ends.sh >out 2>said </dev/null &
command=$!
found_last() {
	local archive

	archive=$(find . -name 'ends.[0-9]*.fxt' | sort -t . -k 3n | tail -n 1)
	[ -n "$archive" ] && (seen_by "$archive" two) >found.last 2>&1
}
wait_for 60 waits_for ends.1.fxt one two || fail "nobody waits: $(cat said)"
found
echo >over.one
wait_for 60 found_last || fail "the other has no last moments: $(cat said found.last)"
echo >over.two
wait "$command"
expect_equal 3 $? "the status of the first that does not end well ($(cat said))"
expect_no_folder
seen_by ends.fxt one two

# Whoever is killed, the recordings end.
"$FXTRACE" record --hosts one,two -m circular --trigger death:snapshot -q -o killed.fxt >out 2>said </dev/null &
command=$!
wait_for 60 waits_for killed.1.fxt one two || fail "nobody waits: $(cat said)"
kill -9 "$command"
wait "$command" 2>/dev/null
are_over() {
	"$FXTRACE" status --socket one.sock | grep -q ready && "$FXTRACE" status --socket two.sock | grep -q ready
}
wait_for 60 are_over || fail 'the recordings go on'
rounds_gone() {
	[ "$(find . -name 'killed.1.fxt.hosts-*')" = '' ]
}
wait_for 60 rounds_gone || fail 'what looks after snapshots goes on'
rm -rf killed.*

# On this host alone: a line, or the end of standard input.
expect_ok "$FXTRACE" start --socket "$TEST_DIR/one.sock" -m circular -o alone.fxt
expect_ok sh -c "echo | '$FXTRACE' snapshot --socket one.sock --await -o line.fxt"
expect_clean line.fxt
expect_status 1 "$FXTRACE" snapshot --socket one.sock --await -o line.fxt </dev/null
expect_line 'standard input has ended' err
# Without a session, or when it ends.
expect_one_error 1 "$FXTRACE" snapshot --socket none.sock --await -o line.fxt
mkfifo line
"$FXTRACE" snapshot --socket one.sock --await -o line.fxt 2>said <>line &
command=$!
wait_for 60 grep -q waiting said || fail 'it does not wait'
expect_ok "$FXTRACE" terminate --socket one.sock
wait "$command" && fail 'a snapshot of a session that is over'
expect_line 'the session has ended$' said
expect_one_error 2 "$FXTRACE" snapshot --hosts one,one -o x.fxt
expect_one_error 2 "$FXTRACE" snapshot --hosts one -o -
