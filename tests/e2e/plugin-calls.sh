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

# Which functions of plugin.c have the code, as `chosen ARGUMENT...' of the test lists them.
expect_choices() {
	local all

	expect_equal 'tail target' "$(chosen functions=ta* | xargs)" "functions=ta*"
	expect_equal 'main plain' "$(chosen functions=main,plain | xargs)" "functions=main,plain"
	all=$(chosen | xargs)
	expect_equal "$(tr ' ' '\n' <<<"$all" | grep -vx 'plain' | xargs)" "$(chosen no-functions=plain | xargs)" "no-functions=plain"
	expect_equal '' "$(chosen no-files=plugin.c | xargs)" "no-files=plugin.c"
	expect_equal "$all" "$(chosen 'files=*/plugin.c' | xargs)" "files=*/plugin.c"
	printf '# a comment\ntail\n\nplain\n' >globs
	expect_equal 'plain tail' "$(chosen functions=@globs | xargs)" "functions=@globs"
	expect_equal "$all" "$(chosen min-size=0 | xargs)" "min-size=0"
	chosen min-size=12 >large
	grep -qx main large && ! grep -qx target large || fail "min-size=12: $(xargs <large)"
	expect_equal 'sized' "$(chosen need=loop | grep -vx -e main -e variadic | xargs)" "need=loop"
	chosen need=call >callers
	grep -qx tail callers && ! grep -qx plain callers || fail "need=call: $(xargs <callers)"
}
