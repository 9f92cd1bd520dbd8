#!/bin/bash
# SPDX-License-Identifier: MIT
# A buffer that is too small: what is lost is counted exactly and shown. Recorded + dropped = produced.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target producer producer.c

# The records that the archive says were dropped: instants on the timeline.
dropped_in_archive() {
	awk -F'\t' '$1 == "instant" && $7 == "records dropped" {
			for (i = 10; i <= NF; i++)
				if (sub(/^count=/, "", $i)) n += $i
		}
		END { print n + 0 }' events
}

lossy=0
all=$(scaled 240000)
many=$(scaled 5000000)
some=$(scaled 100000)
for mode in oneshot streaming; do
	for size in 4K 64K; do
		for threads in 1 2 8; do
			what="-m $mode -b $size, $threads threads"
			calls=$((all / threads))
			expect_ok "$FXTRACE" run -o trace.fxt -c function -m "$mode" -b "$size" -- \
				./producer "$threads" "$calls"
			expect_equal 0 "$(wc -c <out)" "bytes on stdout: $(cat out)"
			cp err summary
			expect_clean trace.fxt
			list_archive trace.fxt
			recorded=$(count_events 'name == "work"')
			dropped=$(dropped_in_archive)
			expect_equal $((threads * calls)) $((recorded + dropped)) \
				"recorded $recorded + dropped $dropped with $what"
			if [ "$dropped" -gt 0 ]; then
				lossy=$((lossy + 1))
				expect_line "(^|[^0-9])$dropped([^0-9]|\$)" summary
				expect_line '(-b|--buffer-size)' summary
				expect_events 1+ 'type == "counter" && name == "records dropped"'
				expect_events 0 'name == "records dropped" && pid == 0'
			else
				expect_no_line 'dropped' summary
			fi
			# Oneshot loses for certain: so many calls do not fit.
			[ "$mode" = streaming ] || [ "$dropped" -gt $((all * 5 / 6)) ] ||
				fail "only $dropped dropped with $what"
		done
	done
done
[ "$lossy" -gt 0 ] || fail "nothing was ever dropped"

# The last value of the counter is the whole loss.
expect_ok "$FXTRACE" run -o trace.fxt -c function -m oneshot -b 64K -- ./producer 2 50000
list_archive trace.fxt
last=$(awk -F'\t' '$1 == "counter" && $7 == "records dropped" { sub("count=", "", $10); n = $10 }
	END { print n }' events)
expect_equal "$(dropped_in_archive)" "$last" "last value of the counter"

# Each gap has a length: the counter stands at its beginning, and where it is over.
expect_ok "$FXTRACE" run -o trace.fxt -c function -b 4K -- ./producer 1 "$many"
list_archive trace.fxt
expect_events 10+ 'type == "instant" && name == "records dropped"'
awk -F'\t' '$7 == "records dropped" && $1 == "counter" {
		if (NR > 1 && $10 != value && $8 > time) n++
		time = $8
		value = $10
	}
	END { print n + 0 }' events >long
[ "$(cat long)" -ge 5 ] || fail "$(cat long) gaps with a length of $(count_events 'type == "instant" && name == "records dropped"')"

# Marks of one thread at one time would nest in viewers, deeper and deeper.
expect_ok "$FXTRACE" run -o trace.fxt -c function -b 4K -- ./producer 2 "$many"
expect_clean trace.fxt
list_archive trace.fxt
expect_events 10+ 'type == "instant" && name == "records dropped"'
awk -F'\t' '$1 == "instant" && $7 == "records dropped" { print $3, $8 }' events | sort | uniq -d >twice
expect_equal 0 "$(wc -l <twice)" "marks at one time on one thread: $(head -n 3 twice)"

# The cure works: who has room enough, or waits for it, loses nothing.
for threads in 1 2 8; do
	expect_ok "$FXTRACE" run -o trace.fxt -c function --on-full block -b 64K -- \
		./producer "$threads" "$some"
	expect_no_line 'dropped' err
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events $((threads * some)) 'name == "work"'
	expect_events 0 'name == "records dropped"'
done
expect_ok "$FXTRACE" run -o trace.fxt -c function -m oneshot -b 64M -- ./producer 2 "$some"
expect_no_line 'dropped' err
list_archive trace.fxt
expect_events $((2 * some)) 'name == "work"'
