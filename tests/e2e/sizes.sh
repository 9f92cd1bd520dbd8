#!/bin/bash
# SPDX-License-Identifier: MIT
# Buffers from 4 KiB to 4 GiB work with real programs; other sizes are refused with the reason.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target producer producer.c

sizes_that_are_refused() {
	local size

	for size in 0 1 4095 4294971392 5G; do
		expect_one_error 2 "$FXTRACE" run -b "$size" -- true
		expect_line 'between 4K and 4G' err
	done
	for size in 4097 10000 4294967295; do
		expect_one_error 2 "$FXTRACE" run -b "$size" -- true
		expect_line 'multiple of 4K' err
		expect_one_error 2 "$FXTRACE" run --provider-buffer "x=$size" -- true
		expect_line 'multiple of 4K' err
		expect_one_error 2 env FXTRACE_BUFFER_SIZE="$size" "$FXTRACE" run -- true
		expect_line 'multiple of 4K' err
	done
	[ ! -e fxtrace.fxt ] || fail "an archive was written"
}

# run_with THREADS CALLS OPTION...: sets recorded.
run_with() {
	local threads=$1 calls=$2

	shift 2
	expect_ok "$FXTRACE" run -o trace.fxt -c function "$@" -- ./producer "$threads" "$calls"
	expect_clean trace.fxt
	list_archive trace.fxt
	recorded=$(count_events 'name == "work"')
}

# Three of four pages stay for the chunk table, strings and threads of a buffer of one page: what a
# user asks for is the room for records.
four_kibibytes() {
	local threads mode

	for threads in 1 4; do
		for mode in oneshot streaming; do
			run_with "$threads" 5000 -b 4K -m "$mode"
			dropped=$(awk -F'\t' '$1 == "instant" && $7 == "records dropped" {
				for (i = 10; i <= NF; i++)
					if (sub(/^count=/, "", $i)) n += $i
				} END { print n + 0 }' events)
			expect_equal $((threads * 5000)) $((recorded + dropped)) \
				"recorded $recorded + dropped $dropped, $mode, $threads threads"
		done
		run_with "$threads" 5000 -b 4K -m circular
	done
	run_with 1 5000 -b 4K -m circular
	[ "$recorded" -gt 0 ] || fail "a circular buffer of 4K kept nothing"
	run_with 1 5000 -b 4K --on-full block
	expect_equal 5000 "$recorded" "calls recorded in 4K without loss"
}

four_gibibytes() {
	local mode

	for mode in oneshot circular streaming; do
		run_with 2 50000 -b 4G -m "$mode"
		expect_equal 100000 "$recorded" "calls recorded in 4G, $mode"
	done
}

sizes_that_are_refused
four_kibibytes
four_gibibytes
