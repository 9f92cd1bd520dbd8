#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace why' of requests that go from process to process, of a pipe that is full, of polls that end by their time, and of a herd that
# takes its lock inside pthread_cond_wait(): within 3 hundredths of what the programs measured, with the kernel's records and without.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/why-agree.sh"

need python3
compile links -O1 -w -I "$FX_SRCDIR" -D_GNU_SOURCE "$FX_SRCDIR/tests/e2e/targets/links.c"
target hooked links.c -I "$FX_SRCDIR"

# ways FILE.json THREAD CALL: each way to where that thread was in that call, as a line, and how sure it is.
cat >ways.py <<'END'
import json, sys
way, seen = [], set()
for row in json.load(open(sys.argv[1]))["why"]["rows"]:
    way[row.get("depth", 0):] = [row["call"] or row["thread"]]
    if row["thread"] == sys.argv[2] and row["call"] == sys.argv[3] and row["self_ns"] > 10000000:
        seen.add(row["sure"] + " " + " ".join(way))
print(*sorted(seen), sep="\n")
END
ways() {
	python3 ways.py "$@"
}

# checks [nohooks]: all of them, as they are run last.
checks() {
	for name in sockets full again timeout inside; do
		agrees "$1" "$name" "${@:2}"
	done
	# The worker is asked by the server in the middle of what the proxy asked of that.
	ways sockets.json worker nanosleep >seen
	expect_line '^yes client poll proxy read server read worker nanosleep$' seen
	ways full.json reader nanosleep >seen
	expect_line '^[a-z]+ writer write reader nanosleep$' seen
	expect_equal 'yes client poll server nanosleep' "$(ways again.json server nanosleep)" 'what polls waited for'
	expect_equal 'yes client poll' "$(ways timeout.json client poll)" 'a poll whose time was what was waited for'
	# All four have had the lock, one after another, which is not sure.
	expect_equal 4 "$(python3 -c 'import json
print(len({r["thread"] for r in json.load(open("inside.json"))["why"]["rows"] if r["call"] == "nanosleep" and r["self_ns"] > 60e6}))')" \
		'beasts that had the lock'
	expect_ok "$FXTRACE" why inside.fxt
	expect_line 'perhaps beast[0-3]' out
	expect_line 'or for the last one that took the mutex: what stands below "perhaps" is not sure' out
}
checks links nohooks
agrees hooked sockets
agrees hooked inside
if has_kernel; then
	options=(--kernel)
	checks links nohooks
fi
