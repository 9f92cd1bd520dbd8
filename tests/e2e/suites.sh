#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs' own tests, test by test: what passes alone passes traced, by default and in every category. What
# differs is tried again, since some of them go by the clock. In `make check' a few seconds of them; all of
# them with FX_SUITES=all, as `make check-suites' does, which needs the packages that packages.txt lists for
# it, and those named by FX_SUITES=NAME,NAME. Where a suite needs a program's sources, they are fetched by
# `apt-get source' and built in FX_SUITES_SOURCES, which can be kept.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

all=${FX_SUITES-}
sources=${FX_SUITES_SOURCES:-$FX_BUILDDIR/suites}
tried=0
totals=()

# Each suite, of tests/e2e/suites: NAME_list prints its tests, NAME_run TEST COMMAND... runs one under a command
# and prints its parts and how they ended, a line each. NAME_make builds what it needs, in its sources.

# source_tree PACKAGE: where its sources are, in $tree; the suite's NAME_make has been there.
source_tree() {
	tree=
	[ -n "$all" ] || return
	mkdir -p "$sources/$suite" || return
	if [ ! -e "$sources/$suite/made" ]; then
		(cd "$sources/$suite" && { ls -d -- */ >/dev/null 2>&1 || apt-get -q source "$1"; } &&
			cd -- */ && "${suite}_make") >"$sources/$suite/log" 2>&1 ||
			{ echo "$suite: no sources (of $1), or they cannot be built: see $sources/$suite/log" >&2; return 1; }
		touch "$sources/$suite/made"
	fi
	tree=$(echo "$sources/$suite"/*/)
	tree=${tree%/}
	[ -d "$tree" ]
}

# What the file log has in the format TAP: its numbers, what is left out or expected to fail.
tap() {
	sed -nE 's/^ *(not ok|ok) ([0-9]+)(.*# *(skip|to[d]o))?.*/\2 \1 \4/pI' log
}

# outcome SUITE TEST HOW: its lines, sorted.
outcome() {
	local prefix=()

	case $3 in
	default) prefix=("$FXTRACE" run -q -o "$PWD/trace.fxt" --) ;;
	every) prefix=("$FXTRACE" run -q -c '*,malloc,pthread:all' -o "$PWD/trace.fxt" --) ;;
	esac
	"$1_run" "$2" "${prefix[@]}" </dev/null | sort
}

# differs SUITE TEST HOW: after three tries of each.
differs() {
	local try

	for try in 1 2 3; do
		[ "$try" -eq 1 ] && [ -s plain ] || outcome "$1" "$2" plain >plain
		outcome "$1" "$2" "$3" >traced
		if ! "$FXTRACE" check trace.fxt >checked 2>&1; then
			echo "a bad archive: $(tail -n 3 checked)" >>traced
			return 0
		fi
		cmp -s plain traced && return 1
	done
	return 0
}

compare() {
	local suite=$1 test how count=0 well=0 parts=0 bad=0

	"${suite}_list" >list
	while read -r test; do
		: >plain
		for how in ${FX_SUITES_HOW:-default every}; do
			[ -n "$all" ] || [ "$how" = every ] || continue
			differs "$suite" "$test" "$how" || continue
			bad=$((bad + 1))
			echo "$suite $test differs, with categories: $how"
			diff plain traced | head -n 10
		done
		count=$((count + 1))
		parts=$((parts + $(grep -vc '^status' plain)))
		! grep -qx 'status 0' plain || well=$((well + 1))
	done <list
	[ "$count" -gt 0 ] || return 0
	tried=$((tried + count))
	totals+=("$suite: $count tests ($well end well by themselves) with $parts parts, $bad differ")
	echo "${totals[-1]}"
	[ "$well" -gt 0 ] && [ "$bad" -eq 0 ] || failed=1
}

need timeout
failed=0
case $all in
'') chosen=(glib python) ;;
all) chosen=(glib python libuv perl git coreutils memcached sqlite busybox bash redis postgresql chromium) ;;
*) IFS=, read -ra chosen <<<"$all" ;;
esac
for suite in "${chosen[@]}"; do
	. "$FX_SRCDIR/tests/e2e/suites/$suite.sh"
	compare "$suite"
done
[ ${#totals[@]} -lt 2 ] || printf '%s\n' "all:" "${totals[@]}"
[ "$failed" -eq 0 ] || fail "some tests end otherwise when they are traced"
[ "$tried" -gt 0 ] || skip "no tests of other programs are installed"
