#!/bin/bash
# SPDX-License-Identifier: MIT
# A provider in Python, written after doc/PROTOCOL.md and doc/BUFFER.md: in every mode, with small
# and large buffers, all that it wrote is in the archive or counted as lost; kill -9 takes nothing.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"

need python3
[ "$(uname -m)" = x86_64 ] || skip "examples/provider.py is for x86-64"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || skip "Python is older than 3.9"
# Not a script that looks for it
python=$(python3 -c 'import sys; print(sys.executable)')
export FX_SRCDIR PYTHONDONTWRITEBYTECODE=1

# provide STATUS [OPTION...] -- CASE [NUMBER...]: runs it into trace.fxt. A process is one provider,
# so the library is told to stay out of it.
provide() {
	local want=$1 options=()

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -f trace.fxt
	FXTRACE_DISABLE=1 expect_status "$want" "$FXTRACE" run -o trace.fxt "${options[@]}" -- \
		"$python" "$FX_SRCDIR/tests/e2e/provider_load.py" "$@"
	expect_clean trace.fxt
}

# expect_events CASE [NUMBER...]: of provider_expect.py
expect_events() {
	"$FXTRACE" dump --json trace.fxt >trace.json || fail "fxtrace dump failed"
	"$python" "$FX_SRCDIR/tests/e2e/provider_expect.py" "$@" <trace.json >expect.out 2>&1 ||
		fail "$*: $(head -c 2000 expect.out)"
}

# The example as its user runs it: three threads, and the first, which only waits for them
FXTRACE_DISABLE=1 expect_ok "$FXTRACE" run -o trace.fxt -- "$python" "$FX_SRCDIR/examples/provider.py" 3 50
expect_line ' 1 process, 4 threads, 451 events' err
expect_clean trace.fxt
expect_events whole 3 50

for mode in streaming oneshot circular; do
	provide 0 -m "$mode" -- load 4 300
	expect_events whole 4 300
done
for size in 4K 16K 96K; do
	provide 0 -b "$size" --on-full block -- load 4 300
	expect_events whole 4 300
	provide 0 -b "$size" -- load 4 300
	expect_events counted 4 300
	provide 0 -b "$size" -m oneshot -- load 4 300
	expect_events lossy 4 300
	provide 0 -b "$size" -m circular -- load 2 1000
	expect_events newest 2 1000
done
# More threads than the buffer has chunks: 2
provide 0 -b 4K -- load 8 100
expect_events counted 8 100

# Categories, and a stop in the middle
provide 0 -c function -- load 2 10
expect_events nothing
provide 0 -c user -- load 2 10
expect_events whole 2 10
# The time counts from the session's beginning: beside much else it may be over before the program has registered, or in the
# middle of its first event.
for time in 2s 30s; do
	provide 0 --duration $time -- stopped
	[ "$(cat ./done)" -le 1 ] || break
done
expect_events stopped

# Strings beyond the durable area's room, and beyond the indices for the whole process
provide 0 -b 16K --on-full block -- names 1000
expect_events names 1000
provide 0 --on-full block -- names 30000
expect_events names 30000

for size in 16K 16M; do
	provide 137 -b "$size" --on-full block -- killed 3 200
	expect_events killed_whole 3
	rm done.*
done
provide 137 -b 256K -m circular -- killed 3 1000
expect_events killed 3

provide 0 -- forked 100
expect_events forked 100
provide 0 -- twice 20
expect_events twice 20
provide 0 -- refused

# With a daemon: registered before any session; which of its categories are wanted, and in which start;
# buffer dispositions; and what it says with packets.
manager_has() {
	"$FXTRACE" list-providers --json | grep -qE "$1"
}
manager_start
FXTRACE_DISABLE=1 with_provider "$python" "$FX_SRCDIR/tests/e2e/provider_load.py" sessions &
PROVIDER=$!
wait_for 10 providers_are 1 || fail "the provider does not register"
expect_ok "$FXTRACE" list-categories
expect_line '^  demo ' out
expect_line '^  other ' out

expect_ok "$FXTRACE" start -o trace.fxt -c demo
wait_for 10 manager_has '"started": true' || fail "the provider does not start"
sleep 1
expect_ok "$FXTRACE" stop
expect_ok "$FXTRACE" start -c other
wait_for 10 manager_has '"started": true' || fail "the provider does not start again"
sleep 1 # for events of both
expect_ok "$FXTRACE" terminate
expect_clean trace.fxt
expect_events added
expect_ok "$FXTRACE" record -q -o trace.fxt -c 'user,-o*,-demo' --duration 200ms
expect_clean trace.fxt
expect_no_line 'name="t.ck"' <("$FXTRACE" dump trace.fxt)

# Lossless streaming through a small buffer, and the newest of a circular one.
for options in '-m streaming --on-full block' '-m circular'; do
	# shellcheck disable=SC2086 # several words
	expect_ok "$FXTRACE" start $options -b 16K -o trace.fxt -c demo
	wait_for 60 manager_has '"wraps": ([4-9]|[1-9][0-9])' || fail "the provider does not record"
	expect_ok "$FXTRACE" terminate
	expect_clean trace.fxt
	expect_events whole_run
done

# A oneshot buffer that is full has no room after RETAIN, and all of it after CLEAR_NONDURABLE.
drops() {
	[ "$("$FXTRACE" list-providers --json | sed -n 's/.*"dropped": \([0-9]*\).*/\1/p')" -gt "$1" ]
}
expect_ok "$FXTRACE" start -m oneshot -b 16K -o trace.fxt -c demo
wait_for 60 drops 0 || fail "the buffer has room without end"
for disposition in retain clear-nondurable; do
	expect_ok "$FXTRACE" stop
	dropped=$("$FXTRACE" list-providers --json | sed -n 's/.*"dropped": \([0-9]*\).*/\1/p')
	expect_ok "$FXTRACE" start --disposition "$disposition"
	wait_for 60 drops "$dropped" || fail "the buffer has room without end after $disposition"
done
expect_ok "$FXTRACE" terminate
expect_clean trace.fxt
expect_events runs 2

touch end
wait "$PROVIDER" || fail "the provider ends with $?"

# Who does not wait for the answer is registered all the same, and part of the session that starts then. The
# answer says how things were, the control page how they are.
cp packets said.first
rm end
FXTRACE_DISABLE=1 with_provider "$python" "$FX_SRCDIR/tests/e2e/provider_load.py" asynchronous &
PROVIDER=$!
wait_for 10 test -e asked || fail "the provider does not ask"
wait_for 10 providers_are 1 || fail "not registered before it has taken the answer"
expect_ok "$FXTRACE" start -o trace.fxt -c demo
expect_ok "$FXTRACE" list-providers
expect_line ' sessions ' out
manager_has '"started": true' && fail "it records without memory"
touch go
wait_for 10 manager_has '"started": true' || fail "the provider does not start"
expect_ok "$FXTRACE" terminate
expect_clean trace.fxt
expect_events whole_run
touch end
wait "$PROVIDER" || fail "the provider that did not wait ends with $?"
manager_stop
# STARTED with the version of the packets, and STOPPED, once for each start: two with `demo', one of
# `record', and three more sessions of which the last had three.
grep '^[13] ' said.first | cut -d ' ' -f 1,2 >said
expect_equal "$(for _ in 1 2 3 4 5 6 7 8; do printf '1 1\n3 0\n'; done)" "$(cat said)" "packets"
