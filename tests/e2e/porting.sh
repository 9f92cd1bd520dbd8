#!/bin/bash
# SPDX-License-Identifier: MIT
# doc/PORTING.md is true: each of its programs compiles without a warning, and its trace has what it says.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# program-1.c, program-2.cc, …
awk '/^```c(\+\+)?$/ { name = "program-" ++count ($0 ~ /\+/ ? ".cc" : ".c"); next }
	/^```/ { name = "" }
	name { print >name }' "$FX_SRCDIR/doc/PORTING.md"
expect_equal "program-1.c program-2.cc program-3.cc program-4.c" "$(echo program-*)" "the programs of the page"

include="-I$FX_SRCDIR/include -I$FX_SRCDIR/include/fxtrace/fuchsia"
for source in program-*; do
	program=${source%.*}
	case $source in
	*.cc) compiler="$FX_CXX -std=c++17" ;;
	*) compiler="$FX_CC -std=c11" ;;
	esac
	# shellcheck disable=SC2086 # several words
	$compiler $include -Wall -Wextra -Werror -O1 -o "$program" "$source" || fail "$source does not compile"
	expect_ok "./$program"
	expect_ok "$FXTRACE" run -q -o "$program.fxt" -- "./$program"
	expect_clean "$program.fxt"
	"$FXTRACE" dump "$program.fxt" >"$program.said"
done

# listed NUMBER EVENTS...: pairs of a count and a condition, of one program's archive.
listed() {
	list_archive "program-$1.fxt"
	shift
	while [ $# -gt 0 ]; do
		expect_events "$1" "$2"
		shift 2
	done
}
listed 1 1 'type == "complete" && name == "main"' 1 'type == "instant" && name == "ready"' \
	1 'type == "flow-begin" && name == "to the end"' 1 'type == "flow-end" && name == "to the end"'
listed 2 3 'type == "complete" && name == "draw"' 3 'type == "begin" && name == "layer"' \
	3 'type == "end"' 3 'type == "instant" && name == "dirty"' 3 'type == "counter" && name == "frames"'
expect_equal 3 "$(grep -cE 'name="dirty".*"left":int32=(0|7|14)\}' program-2.said)" "instants with their argument"
listed 3 2 'name == "simulate"' 2 'name == "collisions"' 2 'type == "counter" && name == "bodies"' 2 'type == "instant" && name == "frame"'
expect_equal 1 "$(grep -c 'log .*message="the level is over"' program-3.said)" "messages"
listed 4 4 'type == "complete" && name == "request"' 4 'type == "instant" && name == "looked up"'
expect_equal 1 "$(grep -c 'log .*message="served all"' program-4.said)" "lines of the log"
