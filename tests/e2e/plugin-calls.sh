# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What tests of the compiler plugins share, to be read after lib.sh.

# How often each function was called, from its records; a call that the end of the program left open is one.
counted() { # ARCHIVE
	"$FXTRACE" dump --json "$1" | python3 -c 'import collections, json, sys
calls = collections.Counter()
for r in map(json.loads, sys.stdin):
    if r["kind"] == "event" and r["category"] == "function" and r["type"] in ("complete", "duration-begin"):
        calls[r["name"]] += 1
for name, count in sorted(calls.items()):
    print(name, count)'
}

# expect_calls WHAT PROGRAM: what the program says that it has called is in the archive.
expect_calls() {
	local what=$1 name count

	counted trace.fxt >counted
	while read -r line; do
		name=${line% *} count=${line##* }
		grep -qxF "$name $count" counted ||
			fail "$what: $name was called $count times; in the trace: $(grep -F "$name" counted || echo none)"
	done < <(grep -v '^sum' traced.out)
}
