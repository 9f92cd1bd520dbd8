#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace record: its options one by one, and what a client of a running manager has to stand.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

PRODUCED=20000 # calls of ./producer that fill a buffer many times

# fills MODE OPTION...: a program that calls work() far more often than its buffer has room for.
# Sets recorded and dropped.
fills() {
	local mode=$1

	shift
	expect_ok "$FXTRACE" record -o fill.fxt -c function -m "$mode" "$@" -- ./producer 1 "$PRODUCED"
	cp err said
	expect_clean fill.fxt
	list_archive fill.fxt
	recorded=$(count_events 'name == "work"')
	dropped=$(awk -F'\t' '$1 == "instant" && $7 == "records dropped" {
		for (i = 10; i <= NF; i++)
			if (sub(/^count=/, "", $i)) n += $i
	} END { print n + 0 }' events)
	[ "$recorded" -gt 0 ] || fail "$mode: nothing is recorded"
}

fill_oneshot() {
	fills oneshot -b 64K
	[ "$dropped" -gt 0 ] || fail "oneshot: the buffer did not fill"
	expect_equal "$PRODUCED" $((recorded + dropped)) "oneshot: recorded $recorded + dropped $dropped"
	expect_line 'lost' said
}

fill_circular() {
	fills circular -b 64K
	expect_equal 0 "$dropped" "circular: records dropped"
	[ "$recorded" -lt "$PRODUCED" ] || fail "circular: the buffer did not fill"
	expect_line 'kept' said
}

fill_streaming() {
	fills streaming -b 64K
	expect_equal "$PRODUCED" $((recorded + dropped)) \
		"streaming: recorded $recorded + dropped $dropped"
	fills streaming -b 64K --on-full block
	expect_equal "$PRODUCED" "$recorded" "streaming without loss: recorded"
}

# The alert of a process that dies, in the middle of what another one records.
circular_with_an_alert_trigger() {
	provider_start ./busy 60
	wait_for 10 providers_are 1 || fail "the process does not register"
	expect_ok "$FXTRACE" record -o alert.fxt -m circular -b 64K --trigger death:stop \
		--duration 30s --decouple -- ./busy 0.1
	expect_clean alert.fxt
	list_archive alert.fxt
	expect_events 1+ "pid == $PROVIDER && name == \"leaf\""
	expect_ok kill -0 "$PROVIDER"
	state_is ready || fail "the session goes on"
	expect_ok "$FXTRACE" record -o shots.fxt -m circular -b 64K --trigger death:snapshot -- \
		sh -c './busy 0.05; ./busy 0.05'
	expect_clean shots.1.fxt shots.2.fxt shots.fxt
	expect_one_error 2 "$FXTRACE" record -o none.fxt --trigger death:nonsense -- ./busy 0.05
	kill "$PROVIDER"
	wait "$PROVIDER" 2>/dev/null
	wait_for 10 providers_are 0 || fail "the manager keeps the dead"
}

# Its last words are in the archive each time, and the manager keeps nothing of it.
provider_destroyed_50_times() {
	# shellcheck disable=SC2016 # for the program's shell
	expect_ok "$FXTRACE" record --json -o fifty.fxt -c function -- sh -c '
		for i in $(seq 50); do
			./producer 1 10 & wait $!
		done'
	expect_clean fifty.fxt
	list_archive fifty.fxt
	expect_events 500 'name == "work"'
	expect_equal 50 "$(awk -F'\t' '$7 == "work" { print $2 }' events | sort -u | wc -l)" "processes"
	expect_ok "$FXTRACE" status --json
	expect_equal 0 "$(json_number memory out)" "memory of providers that are gone"
	providers_are 0 || fail "the manager keeps the dead"
}

# The recording ends before the program, which is left alive and whole; without --detach it is waited for.
detached() {
	expect_ok "$FXTRACE" record -q -o detached.fxt --duration 100ms --detach -- \
		sh -c './busy 1; echo $? >detached.status'
	[ ! -e detached.status ] || fail "the program was waited for"
	expect_clean detached.fxt
	wait_for 20 test -s detached.status || fail "the detached program did not end by itself"
	expect_equal 0 "$(cat detached.status)" "status of the detached program"
	expect_status 6 "$FXTRACE" record -q -o waited.fxt --duration 50ms -- \
		sh -c './busy 0.5; echo done >waited.status; exit 6'
	expect_equal "done" "$(cat waited.status)" "the program that was waited for"
	expect_clean waited.fxt
	list_archive waited.fxt
	expect_events 0 'end - start > 400000000 && category == "function"'
}

decoupled() {
	provider_start ./busy 60
	wait_for 10 providers_are 1 || fail "the process does not register"
	expect_status 3 "$FXTRACE" record --json -o decoupled.fxt --duration 600ms --decouple -- \
		./busy 0.05 3
	list_archive decoupled.fxt
	awk -F'\t' -v other="$PROVIDER" '
		$6 == "function" && $2 != other && $9 > last { last = $9 }
		$6 == "function" && $2 == other && $8 > newest { newest = $8 }
		END { exit !(last && newest > last + 100000000) }' events ||
		fail "the recording ended with the program"
	kill "$PROVIDER"
	wait "$PROVIDER" 2>/dev/null
	wait_for 10 providers_are 0 || fail "the manager keeps the dead"
}

returns_the_childs_result() {
	local status

	for status in 0 1 7 255; do
		expect_status "$status" "$FXTRACE" record -q -o result.fxt -- sh -c "exit $status"
	done
	# shellcheck disable=SC2016 # for the program's shell
	expect_status 143 "$FXTRACE" record -q -o result.fxt -- sh -c 'kill -TERM $$'
	: >not-executable
	for _ in 1 2 3 4 5; do
		expect_one_error 127 "$FXTRACE" record -q -o result.fxt -- ./no-such-program
		state_is ready || fail "there is a session of a program that is not there"
		expect_one_error 126 "$FXTRACE" record -q -o result.fxt -- ./not-executable
		state_is ready || fail "there is a session of a program that cannot be run"
	done
}

# In the order of the list, each one an argument, behind the program's own.
append_args() {
	local option

	expect_ok "$FXTRACE" record -q -o args.fxt --append-args 'a b,c,-d' -- printf '%s\n' own
	expect_equal 'own|a b|c|-d|' "$(tr '\n' '|' <out)" "arguments"
	# They mean nothing without a program.
	for option in --append-args=x --detach --decouple; do
		expect_one_error 2 "$FXTRACE" record -o none.fxt "$option"
	done
}

# The archive is binary, where it was asked for, and of the categories that were asked for.
output_and_categories() {
	expect_ok "$FXTRACE" record -q -o sub.fxt -c malloc -- ./busy 0.05
	expect_equal ' 10 00 04 46 78 54 16 00' "$(head -c 8 sub.fxt | od -An -tx1)" "magic number record"
	list_archive sub.fxt
	expect_events 0 'category == "function"'
	expect_ok "$FXTRACE" record -q -o sub.fxt -c function -- ./busy 0.05
	list_archive sub.fxt
	expect_events 1+ 'category == "function"'
	expect_one_error 1 "$FXTRACE" record -q -o no/such/folder/x.fxt -- ./busy 0.05
}

# expect_given NAME FROM TO: so many KiB for events were given to the provider of this name. They are whole
# chunks, and never more than was asked for.
expect_given() {
	local kib

	"$FXTRACE" list-providers --json | tr '{' '\n' | grep "\"name\": \"$1\"" >given
	kib=$((($(json_number buffer_size given) - $(json_number durable_size given)) >> 10))
	[ "$kib" -ge "$2" ] && [ "$kib" -le "$3" ] || fail "$kib KiB for $1 instead of $2 to $3"
}

# What each provider was given; the last word for a name wins.
buffer_sizes() {
	local recorder

	cp busy other
	provider_start ./other 60
	wait_for 10 providers_are 1 || fail "the process does not register"
	"$FXTRACE" record -q -o sizes.fxt -b 128K --provider-buffer busy=512K \
		--provider-buffer nobody=32K --provider-buffer busy=64K -- ./busy 1 &
	recorder=$!
	wait_for 10 providers_are 2 || fail "the program does not register"
	expect_given busy 32 64
	expect_given other 80 128
	wait "$recorder" || fail "the recording ended with $?"
	kill "$PROVIDER"
	wait "$PROVIDER" 2>/dev/null
	wait_for 10 providers_are 0 || fail "the manager keeps the dead"
}

duration() {
	expect_ok "$FXTRACE" record --json -o duration.fxt --duration 200ms
	wait_for 5 state_is ready || fail "the session outlives its duration"
	expect_clean duration.fxt
}

target producer producer.c
compile_busy
manager_start
fill_oneshot
fill_circular
fill_streaming
circular_with_an_alert_trigger
provider_destroyed_50_times
detached
decoupled
returns_the_childs_result
append_args
output_and_categories
buffer_sizes
duration
manager_stop
