#!/bin/bash
# SPDX-License-Identifier: MIT
# What numbers in a trace mean is said beside them: functions that start threads and handle signals, system calls made by
# number, locks and who holds them since where; and what a viewer would not show otherwise is an event: calls nested too
# deeply, the argument of a call that never returned, the process's own death, the heap from the first allocation on. (More
# of locks: tests/preload/flows.sh; the same asked of Perfetto: perfetto-words.sh.)
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

# A call that waited for a lock says who held it, where that one had taken it, and where it was called itself; whose end of
# the arrow is named after who gave it.
target holders holders.c
expect_ok "$FXTRACE" run -q -o holders.fxt -- ./holders
expect_clean holders.fxt
list_archive holders.fxt
waits='thread == "guest" && has("holder_name=keeper") && has("at_name=be_guest")'
expect_events 1 "name == \"pthread_mutex_lock\" && $waits && has(\"mutex_name=mutex\") && has(\"taken_name=take_mutex\")"
expect_events 1 "name == \"pthread_mutex_lock\" && $waits && has(\"mutex_name=tried\") && has(\"taken_name=take_tried\")"
expect_events 1 "name == \"mtx_lock\" && $waits && has(\"mutex_name=c11\") && has(\"taken_name=take_c11\")"
expect_events 1 "name == \"pthread_rwlock_rdlock\" && $waits && has(\"rwlock_name=rwlock\") && has(\"taken_name=take_rwlock\")"
expect_events 4+ 'name == "woken by keeper" && thread == "guest" && has("by_name=keeper")'
# Recorded or not, a lock is taken at some place.
expect_ok "$FXTRACE" run -q -c '*,pthread:all' -o holders.fxt -- ./holders
list_archive holders.fxt
expect_events 1 "name == \"pthread_mutex_lock\" && $waits && has(\"mutex_name=mutex\") && has(\"taken_name=take_mutex\")"
expect_events 1 "name == \"pthread_mutex_lock\" && $waits && has(\"mutex_name=tried\") && has(\"taken_name=take_tried\")"
