#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs' own tests, test by test: what passes alone passes traced, by default and in every category. What
# differs is tried again, since some of them go by the clock. In `make check' a few seconds of them; all of
# them with FX_SUITES=all, as `make check-suites' does, which needs the packages that packages.txt lists for
# it, and those named by FX_SUITES=NAME,NAME. Where a suite needs a program's sources, they are fetched from
# Debian, or as the suite says, and built in FX_SUITES_SOURCES, which can be kept.
#
# With FX_SUITES set they run in pieces of FX_SUITES_PIECE tests, each in FX_SUITES_LIMIT seconds at the most, and
# FX_SUITES_JOBS of them at once where a suite allows it. A program of LTP's has FX_SUITES_SECONDS alone, and more
# where it is traced. How a test ended is kept in a file of its piece, in a folder of the build that was tried: what
# has been tried is not tried again by the next run. A table of the pieces ends it.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/source.sh"

all=${FX_SUITES-}
sources=${FX_SUITES_SOURCES:-$FX_BUILDDIR/suites}
explained=$FX_SRCDIR/tests/e2e/suites/explained.txt

# Each suite, of tests/e2e/suites: NAME_list prints its tests, NAME_run TEST COMMAND... runs one under a command
# and prints its parts and how they ended, a line each. NAME_make builds what it needs, in its sources, which
# NAME_fetch brings where Debian has none. NAME_apart=yes: its tests can run beside one another.

# source_tree PACKAGE: where its sources are, in $tree; the suite's NAME_make has been there.
source_tree() {
	tree=
	[ -n "$all" ] || return
	mkdir -p "$sources/$suite" || return
	if [ ! -e "$sources/$suite/made" ]; then
		(cd "$sources/$suite" && { ls -d -- */ >/dev/null 2>&1 || fetch_sources "$1"; } &&
			cd -- */ && "${suite}_make") >"$sources/$suite/log" 2>&1 ||
			{ echo "$suite: no sources (of $1), or they cannot be built: see $sources/$suite/log" >&2; return 1; }
		touch "$sources/$suite/made"
	fi
	tree=$(echo "$sources/$suite"/*/)
	tree=${tree%/}
	[ -d "$tree" ]
}

fetch_sources() {
	if declare -F "${suite}_fetch" >/dev/null; then
		"${suite}_fetch"
	else
		debian_source_bring "$1"
	fi
}

# fetch_ltp: the Linux Test Project's sources, from FX_LTP_SOURCES where somebody has them.
fetch_ltp() {
	if [ -n "${FX_LTP_SOURCES-}" ]; then
		cp -r "$FX_LTP_SOURCES" ltp
	else
		git clone -q --depth 1 https://github.com/linux-test-project/ltp ltp
	fi
}

# alone SECONDS COMMAND...: in the folder work, as a user without rights, who sees no process but its own and leaves
# none behind: a test may do to the machine what it likes. Without root, as whoever runs this. The file late says
# that it did not end in its time.
alone() {
	local seconds=$1 user=$((61000 + BASHPID % 1000)) own=() status=0 before=$SECONDS

	shift
	[ "$(id -u)" -ne 0 ] || own=(unshare --pid --fork --mount-proc --ipc --kill-child
		setpriv --reuid="$user" --regid="$user" --clear-groups --)
	chmod -R u+rwx work 2>/dev/null
	rm -rf work && mkdir work || return
	# The archive is made beside it.
	[ ${#own[@]} -eq 0 ] || chown "$user" . work
	seconds=$((seconds * ${patience:-1}))
	(cd work && HOME=$PWD TMPDIR=$PWD exec timeout -k 3 "$seconds" "${own[@]}" "$@") || status=$?
	rm -f late
	[ $((SECONDS - before)) -lt "$seconds" ] || : >late
	return "$status"
}

# What the file log has in the format TAP: its numbers, what is left out or expected to fail.
tap() {
	sed -nE 's/^ *(not ok|ok) ([0-9]+)(.*# *(skip|to[d]o))?.*/\2 \1 \4/pI' log
}

# outcome SUITE TEST HOW: its lines, sorted. What nearly fills its time alone is given more of it where it is traced.
outcome() {
	local prefix=() patience=3

	case $3 in
	plain) patience=1 ;;
	default) prefix=("$FXTRACE" run -q -o "$PWD/trace.fxt" --) ;;
	every) prefix=("$FXTRACE" run -q -c '*,malloc,pthread:all' -o "$PWD/trace.fxt" --) ;;
	esac
	[ "$3" = plain ] || rm -f trace.fxt
	"$1_run" "$2" "${prefix[@]}" </dev/null | sort
}

# differs SUITE TEST HOW: after three tries of each. Status 2: alone it does not end in its time, which shows nothing.
differs() {
	local try

	for try in 1 2 3; do
		if [ "$try" -gt 1 ] || [ ! -s plain ]; then
			rm -f late
			outcome "$1" "$2" plain >plain
			[ ! -e late ] || return 2
		fi
		outcome "$1" "$2" "$3" >traced
		if ! "$FXTRACE" check trace.fxt >checked 2>&1; then
			echo "a bad archive: $(tail -n 3 checked)" >>traced
			return 0
		fi
		cmp -s plain traced && return 1
	done
	return 0
}

# ended_well FILE
ended_well() {
	if grep -qx 'status 0' "$1"; then echo yes; else echo no; fi
}

# try_tests SUITE PIECE: each of stdin. A line of PIECE.result: the test, its parts, whether it ends well alone and
# traced, and the ways of tracing it in which it ends otherwise.
try_tests() {
	local suite=$1 test how well ways

	while read -r test; do
		echo "$test" >"$2.at"
		: >plain
		ways=
		well=
		for how in ${FX_SUITES_HOW:-default every}; do
			[ -n "$all" ] || [ "$how" = every ] || continue
			differs "$suite" "$test" "$how"
			case $? in
			0)
				ways="$ways${ways:+,}$how"
				echo "$suite $test differs, with categories: $how"
				diff plain traced | head -n 10
				;;
			2)
				ways='time'
				echo "$suite $test does not end in its time, alone"
				break
				;;
			esac
			[ "$well" = no ] || well=$(ended_well traced)
		done
		printf '%s\t%s\t%s\t%s\t%s\n' "$test" "$(grep -vc '^status' plain)" "$(ended_well plain)" "$well" \
			"${ways:--}" >>"$2.result"
	done
	rm -f "$2.at"
}

# table SUITE.. of the pieces in $results, to stdout; status 1 where something is left to explain.
table() {
	local suite piece status=0

	printf '%-16s %8s %8s %8s %8s %8s %8s %8s\n' piece programs untraced traced differ explained open 'not run'
	for suite; do
		for piece in "$results/$suite"-*.tests; do
			[ ! -e "$piece" ] || table_line "$(basename "$piece" .tests)" "$suite" "${piece%.tests}"
		done
	done >"$results/table"
	cat "$results/table"
	awk '{ for (i = 2; i <= 8; i++) sum[i] += $i }
		END { printf "%-16s %8d %8d %8d %8d %8d %8d %8d\n", "all", sum[2], sum[3], sum[4], sum[5], sum[6],
			sum[7], sum[8]; exit sum[7] + sum[8] > 0 }' "$results/table" || status=1
	return "$status"
}

# table_line NAME SUITE PIECE. A difference is explained by its line of explained.txt: suite, test, way and reason.
table_line() {
	awk -v name="$1" -v suite="$2" -v tests="$3.tests" -v open="$results/open" '
		FILENAME == ARGV[1] { if ($1 == suite && NF > 3) known[$2, $3] = 1; next }
		{
			n = split($0, f, "\t")
			programs++
			untraced += f[3] == "yes"
			traced += f[4] == "yes"
			if (f[5] == "-")
				next
			differ++
			all = 1
			n = split(f[5], way, ",")
			for (i = 1; i <= n; i++)
				all = all && ((f[1], way[i]) in known || (f[1], "any") in known)
			explained += all
			if (!all)
				print suite, f[1], f[5] >>open
		}
		END {
			while ((getline line <tests) > 0)
				total++
			printf "%-16s %8d %8d %8d %8d %8d %8d %8d\n", name, total, untraced, traced, differ, explained,
				differ - explained, total - programs
		}' "$explained" "$3.result"
}

# end_pieces: what is under way ends with this. A piece's timeout tells all that run in it.
end_pieces() {
	trap '' TERM
	# shellcheck disable=SC2046 # several
	kill $(jobs -p) 2>/dev/null
	wait
	exit 99
}
trap end_pieces HUP INT TERM

# run_piece SUITE PIECE: what of it has not been tried. The test that it is at when its time is over is done with.
run_piece() {
	local at

	trap end_pieces HUP INT TERM
	awk -F '\t' 'FILENAME == ARGV[1] { done[$1] = 1; next } !($1 in done)' "$2.result" "$2.tests" >"$2.left"
	if [ -s "$2.left" ]; then
		echo "$(date +%T) $(basename "$2"): $(wc -l <"$2.left") tests"
		FX_SUITES_OF=$1:$2 timeout -k 60 "${FX_SUITES_LIMIT:-3600}" bash "$FX_SRCDIR/tests/e2e/suites.sh" \
			>>"$2.log" 2>&1 &
		wait $!
		if [ $? -ge 124 ] && read -r at <"$2.at"; then
			echo "$(basename "$2"): its time was over in $at"
			printf '%s\t0\tno\tno\ttime\n' "$at" >>"$2.result"
		fi
	fi 2>/dev/null
	rm -f "$2.left" "$2.at"
}

missing=

# run_suite SUITE: in pieces.
run_suite() {
	local suite=$1 apart piece

	. "$FX_SRCDIR/tests/e2e/suites/$suite.sh"
	"${suite}_list" >list
	if [ ! -s list ]; then
		echo "$suite: no tests of it are to be had"
		missing="$missing $suite"
		return
	fi
	if [ ! -e "$results/$suite-01.tests" ] || ! sort "$results/$suite"-*.tests | cmp -s - <(sort list); then
		cat "$results/$suite"-*.result >old 2>/dev/null
		rm -f "$results/$suite"-*
		split -l "${FX_SUITES_PIECE:-100}" --numeric-suffixes=1 --additional-suffix=.tests list "$results/$suite-"
		for piece in "$results/$suite"-*.tests; do
			awk -F '\t' 'FILENAME == ARGV[1] { here[$1] = 1; next } $1 in here' "$piece" old >"${piece%.tests}.result"
		done
	fi
	apart=${suite}_apart
	for piece in "$results/$suite"-*.tests; do
		piece=${piece%.tests}
		if [ "${!apart-}" = yes ]; then
			while [ "$(jobs -pr | wc -l)" -ge "${FX_SUITES_JOBS:-1}" ]; do
				wait -n
			done
			run_piece "$suite" "$piece" &
		else
			run_piece "$suite" "$piece"
		fi
	done
	wait
}

need timeout
case $all in
'') chosen=(glib python) ;;
all) chosen=(glib python libuv perl git coreutils memcached sqlite busybox bash redis postgresql chromium openposix
	ltp) ;;
*) IFS=, read -ra chosen <<<"$all" ;;
esac

if [ -n "${FX_SUITES_OF-}" ]; then
	suite=${FX_SUITES_OF%%:*}
	. "$FX_SRCDIR/tests/e2e/suites/$suite.sh"
	"${suite}_list" >/dev/null
	try_tests "$suite" "${FX_SUITES_OF#*:}" <"${FX_SUITES_OF#*:}.left"
	exit 0
fi

results=$PWD
[ -z "$all" ] ||
	results=${FX_SUITES_RESULTS:-$FX_BUILDDIR/suites-results}/$(cat "$FXTRACE" "$FX_BUILDDIR"/.libs/libfxtrace.so |
		sha256sum | cut -c1-12)
mkdir -p "$results" || fail "$results cannot be made"
rm -f "$results/open"
for suite in "${chosen[@]}"; do
	if [ -n "$all" ]; then
		run_suite "$suite"
	else
		. "$FX_SRCDIR/tests/e2e/suites/$suite.sh"
		"${suite}_list" >"$suite-01.tests"
		: >"$suite-01.result"
		try_tests "$suite" "$suite-01" <"$suite-01.tests"
	fi
done
table "${chosen[@]}" || fail "some tests end otherwise when they are traced, or have not been run (in $results)"$'\n'"$(
	cat "$results/open" 2>/dev/null)"
[ -z "$missing" ] || fail "no tests of these are to be had:$missing"
grep -q '^[^ ]* *[1-9]' "$results/table" || skip "no tests of other programs are installed"
