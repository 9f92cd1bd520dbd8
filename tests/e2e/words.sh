#!/bin/bash
# SPDX-License-Identifier: MIT
# What numbers in a trace mean is said beside them: functions that start threads and handle signals, system calls made by
# number; and what a viewer would not show otherwise is an event: calls nested too deeply, the argument of a call that never
# returned, the process's own death, the heap from the first allocation on. (Locks: tests/preload/flows.sh.)
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target words words.c
expect_status 142 "$FXTRACE" run -q -c '*,malloc' -o trace.fxt -- ./words
expect_clean trace.fxt
list_archive trace.fxt

expect_events 1 'name == "pthread_create" && has("start_name=worker")'
expect_events 1 'name == "signal" && has("handler_name=on_signal")'
expect_events 1 'name == "gettid" && category == "syscall" && has("number=gettid")'
expect_events 0 'name == "syscall"'

# One mark for each time that calls began to be left out.
expect_events 2 'type == "instant" && name == "calls nested too deeply"'

fd=$(awk -F'\t' '$7 == "pipe" { sub(/.*fds=/, ""); sub(/[^0-9].*/, ""); print; exit }' events)
expect_events 1 "name == \"read\" && has(\"unfinished=true\") && has(\"fd=$fd\")"
expect_events 1 'type == "instant" && name == "process exits" && pid == tid && has("signal=SIGALRM")'

# The heap has a value before 16 KiB have come together.
expect_events 2+ 'type == "counter" && name == "heap"'
first=$(awk -F'\t' '$1 == "counter" && $7 == "heap" { print $8; exit }' events)
own=$(awk -F'\t' '$7 == "malloc" && /size=100/ { print $8; exit }' events)
[ -n "$own" ] && [ "$first" -lt "$own" ] || fail "the heap is shown from $first on, allocated was at $own"
