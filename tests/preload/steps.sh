#!/bin/bash
# SPDX-License-Identifier: MIT
# How many instructions a call costs at its entry and at its end, as hooks.c says, whatever else the machine does; and a call of
# which arguments and result are recorded.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "x86-64 counts here"
[ "${FX_CLOCK:-counter}" = counter ] || skip "another clock costs other instructions"
expect_ok "$FXTRACE" run -q -c function --clock counter -o clock.fxt -- true

# Other compilers than that of the figures may need more, but not half as many again.
part=150
readelf -p .comment "$LIBFXTRACE" 2>/dev/null | grep -q 'GCC: (Debian 12\.' && ! readelf -p .comment "$LIBFXTRACE" | grep -q clang &&
	grep -q '^CFLAGS = .*-O2' "$FX_BUILDDIR/Makefile" && part=100

# expect_steps NAME IN OUT: no more than so many.
expect_steps() {
	local name=$1 in out

	read -r in out < <(sed -n "s/^$name //p" counted)
	[ "${in:-0}" -gt 0 ] || fail "$name is not counted: $(cat counted)"
	[ $((in * 100)) -le $(($2 * part)) ] && [ $((out * 100)) -le $(($3 * part)) ] ||
		fail "$name: $in instructions in, $out out; $2 and $3 are allowed ($part %)"
	echo "$name: $in in, $out out"
}

# Entries alone, by mcount and __fentry__.
for way in '' -mfentry; do
	# shellcheck disable=SC2086 # none, or one
	compile steps -O2 -pg $way "$FX_SRCDIR/tests/preload/targets/steps.c" -ldl
	"$FXTRACE" run -q -c function --clock counter -o entries.fxt -- ./steps >counted || fail "status $?"
	expect_steps leaf 97 0
	expect_steps two 97 0
done

for optimise in -O0 -O2; do
	compile steps $optimise -g -finstrument-functions "$FX_SRCDIR/tests/preload/targets/steps.c" -ldl
	"$FXTRACE" run -q -c function --clock counter -o plain.fxt -- ./steps >counted || fail "status $?"
	# An end by a jump, as optimised code has, takes more than another. (No-operations, which keep branches apart, are counted too.)
	jump=77
	[ $optimise != -O0 ] || jump=71
	expect_steps leaf 52 $jump
	expect_steps two 52 $jump
	expect_steps result 52 71
	"$FXTRACE" run -q -c function --clock counter --args '*' --retval result -o args.fxt -- ./steps >counted || fail "status $?"
	expect_steps leaf 52 $jump
	# In memory, in registers.
	if [ $optimise = -O0 ]; then
		expect_steps two 142 126
	else
		expect_steps two 123 129
	fi
	expect_steps mixed 340 151
	expect_steps result 143 334
	expect_clean args.fxt
	# Outside of what --when means; a process that is to tell of arguments waits until it is told which functions these are.
	"$FXTRACE" run -q -c function --clock counter --when no_such --args no_such -o when.fxt -- ./steps >counted || fail "status $?"
	expect_steps leaf 35 40
	expect_steps two 35 40
	"$FXTRACE" dump args.fxt >dump
	[ $optimise != -O0 ] || {
		expect_equal 101 "$(grep -c 'name="two"#.* args={"a":int32=3, "b":int32=-4}' dump)" "calls of two"
		expect_equal 101 "$(grep -c 'name="mixed"#.* args={"a":int64=-1000000000000, "b":uint32=200, "c":int32=-5, "d":string="GREEN"}' dump)" "calls of mixed"
	}
	expect_equal 101 "$(grep -c 'name="result"#.* args={"a":int32=39, "ret":int32=42}' dump)" "calls of result"
done
