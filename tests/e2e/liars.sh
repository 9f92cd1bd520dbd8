#!/bin/bash
# SPDX-License-Identifier: MIT
# A provider that lies loses its own events alone: another one's are all in the archive, those from
# before the lie and those from after it; the archive is clean; and a line says what was wrong.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# As many as tests/e2e/liar.c records.
honest=1000

corrupt() {
	echo "liar \([0-9]+\): its buffer is corrupt \($1\); the rest of its trace is lost"
}

broke_off() {
	echo "liar \([0-9]+\): $1; the rest of its trace is lost"
}

left_out() {
	echo "^fxtrace: $1 malformed or forbidden records? left out"
}

# count NAME: events of that name in the archive
count() {
	"$FX_BUILDDIR/tests/e2e/events" trace.fxt | awk -F'\t' -v name="$1" '$7 == name { n++ } END { print n + 0 }'
}

# lie NAME BEFORE [LINE]: how many of the liar's events from before it remain (some: that depends on when
# the manager looked), and what is printed of it; nothing if that is not given.
lie() {
	echo "$1" >>told
	FXTRACE_DISABLE=1 expect_ok "$FXTRACE" run -o trace.fxt -- "$FX_BUILDDIR/tests/e2e/liar" "$1"
	mv err said
	expect_clean trace.fxt
	expect_equal "$honest" "$(count honest)" "$1: events of the honest one"
	[ "$2" = some ] || expect_equal "$2" "$(count before)" "$1: the liar's events from before"
	if [ $# -eq 3 ]; then
		expect_line "$3" said
	else
		expect_no_line 'liar|malformed' said
	fi
}

lie too-many-claims 0 "$(corrupt 'more chunks are claimed than there are')"
lie fewer-claims 2 "$(corrupt 'the count of claimed chunks went back')"
lie endless-wraps 0 "$(corrupt 'a half was reused before it was saved')"
lie chunk-of-another-serial 0 "$(corrupt 'a word of the chunk table makes no sense')"
lie chunk-longer-than-it-is 0 "$(corrupt 'a word of the chunk table makes no sense')"
lie record-longer-than-its-chunk 2 "$(left_out 1)"
expect_loss malformed 1 said
lie record-without-size 2 "$(left_out 1)"
lie arguments-that-are-not-there 2 "$(left_out 16)"
lie forged-metadata 2 "$(left_out 5)"
lie forged-names 2 "$(left_out 3)"
lie long-strings 2 "$(left_out 2)"
lie durable-without-size 2 "$(corrupt 'a record of the durable area has no possible size')"
lie durable-that-changes 2 "$(corrupt 'a record of the durable area changed its size')"
lie claims-without-end 2 "$(corrupt 'more durable records are claimed than there are threads')"
lie packet-of-another-version some "$(broke_off 'it speaks another version of the packets')"
lie packet-that-does-not-exist some "$(broke_off 'it sent a packet that does not exist')"
lie states-out-of-order 2
lie memory-that-shrinks 2
lie frames-and-losses 2 "$(left_out 1)"
expect_no_line "records? lost|nested" said
lie calls-that-cross 2
expect_loss crossing 1 said
expect_equal 2 "$(count crossing)" "calls, but for one that would have crossed"
lie anothers-child 2
list_archive trace.fxt
expect_events 0 'name == "creates process" || name == "told of its end"'
expect_events 0 'name == "process exits" && has("exited=77")'
expect_events 1 'process == "honest" && name == "process exits"'
awk -F'\t' '$4 == "honest" && $7 == "process exits" { exits = $8 } $7 == "honest" && $9 > last { last = $9 }
	END { exit !(exits >= last) }' events || fail "its end stands before what it has recorded"
lie rare-losses 2
expect_loss record-large 2 said
expect_loss buffer-worn 3 said
lie registrations 2

# A number that was a liar's before, where the next one can be chosen.
user=()
[ "$(id -u)" -eq 0 ] || user=(-r)
status=0
FXTRACE_DISABLE=1 unshare "${user[@]}" -p -f --mount-proc "$FXTRACE" run -o trace.fxt -- "$FX_BUILDDIR/tests/e2e/liar" --number \
	>out 2>said || status=$?
if [ "$status" -eq 0 ]; then
	expect_clean trace.fxt
	expect_equal "$honest" "$(count honest)" "events of the one who has a liar's number now"
else
	grep -q '^fxtrace: trace.fxt: ' said && [ "$status" -ne 77 ] && fail "status $status: $(cat said)"
	echo "the next pid cannot be chosen here: not tried"
fi

# None was forgotten.
"$FX_BUILDDIR/tests/e2e/liar" >all
expect_same_file all told
