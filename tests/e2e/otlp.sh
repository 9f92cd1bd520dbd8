#!/bin/bash
# SPDX-License-Identifier: MIT
# `convert -f otlp' and `load --otlp': each event is a span, in its parent, with its thread, process and arguments, and the arrows that
# lead to it; a collector gets the same as the file has; filters leave out; what is wrong is a line.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
collector=$FX_SRCDIR/tests/e2e/otlp.py

target weighs weighs.c
expect_ok traced -c '#default,malloc' -- sh -c './weighs; cat /nonexistent; exit 0'
mv trace.fxt app.fxt
"$FXTRACE" dump --json app.fxt >app.json || fail 'no dump'
expect_ok "$FXTRACE" convert app.fxt app.otlp.json
python3 "$collector" check app.json app.otlp.json >said || fail 'the spans are not those of the archive'
arrows=$("$FXTRACE" query --csv app.fxt 'SELECT count(*) FROM flow' | tail -n 1 | tr -d '\r')
expect_equal "$arrows" "$(sed 's/.*links //' said)" "links, beside the archive's arrows"
[ "$(sed 's/.*children \([0-9]*\).*/\1/' said)" -gt 0 ] || fail "no span has a parent: $(cat said)"
slices=$("$FXTRACE" query --csv app.fxt 'SELECT count(*) FROM slice' | tail -n 1 | tr -d '\r')
expect_equal "$slices" "$(sed 's/spans \([0-9]*\).*/\1/' said)" "spans, beside the rows of slices"

# The time is that of the day.
python3 - <<-END || fail 'the spans are not of now'
	import json, time
	line = json.loads(open("app.otlp.json").readline())
	span = line["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
	assert abs(int(span["startTimeUnixNano"]) / 1e9 - time.time()) < 3600
END

"$FXTRACE" load --otlp http://127.0.0.1:9 app.fxt 2>&1 | grep -q 'built without' && exit 0

# serve NAME STATUS...: a collector whose requests lie in the folder NAME, at $url.
serve() {
	local folder=$1

	shift
	mkdir "$folder"
	python3 "$collector" serve "$folder" "$@" &
	wait_for 20 test -s "$folder/port" || fail 'the collector does not start'
	url=http://127.0.0.1:$(cat "$folder/port")
}

serve plain
expect_ok "$FXTRACE" load --otlp "$url" app.fxt
expect_line '^fxtrace load: app.fxt: [0-9]+ requests?$' err
python3 "$collector" check app.json plain/[0-9]* >got || fail 'the collector got other spans'
expect_same_file said got
expect_equal '/v1/traces application/json None' "$(sort -u plain/heads)" 'where they were posted to'

# One that is busy is asked again, one that has no room is not.
serve busy 503 429
expect_ok "$FXTRACE" load --otlp "http://me:secret@${url#http://}/elsewhere" app.fxt
python3 "$collector" check app.json busy/[0-9]* >got || fail 'the busy collector got other spans'
expect_line '^/elsewhere application/json Basic ' busy/heads
serve full 413
expect_one_error 1 "$FXTRACE" load -q --otlp "$url" app.fxt
expect_line 'app.fxt: the collector: it answered with status 413: no room$' err
expect_one_error 1 "$FXTRACE" load -q --otlp "$url/half" app.fxt
expect_line 'did not take [0-9]+ spans$' err

# Filters
serve some
expect_ok "$FXTRACE" load -q --otlp "$url" --category syscall --name 'open*' app.fxt
python3 "$collector" names some/[0-9]* | cut -f 1,2 | sort | uniq -c | awk '{ print $1, $3 }' >got
"$FXTRACE" query --csv app.fxt "SELECT count(*), name FROM slice WHERE category = 'syscall' AND name GLOB 'open*' GROUP BY name
	ORDER BY name" | tail -n +2 | tr -d '"\r' | tr ',' ' ' >want
[ -s want ] || fail 'nothing to filter'
expect_same_file want got
serve long
expect_ok "$FXTRACE" load -q --otlp "$url" --min-duration 1ms app.fxt
want=$("$FXTRACE" query --csv app.fxt 'SELECT count(*) FROM slice WHERE dur >= 1000000' | tail -n 1 | tr -d '\r')
expect_equal "$want" "$(python3 "$collector" names long/[0-9]* | wc -l)" 'spans that are long'

# What is wrong
echo nothing >text
serve rest
expect_status 1 "$FXTRACE" load --otlp "$url" text nofile app.fxt
expect_line '^fxtrace load: text: .*not a trace' err
expect_line '^fxtrace load: nofile: No such file' err
expect_line '^fxtrace load: app.fxt: [0-9]+ request' err
expect_one_error 1 "$FXTRACE" load --otlp http://127.0.0.1:9 app.fxt
expect_line 'app.fxt: the collector: ' err
