#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs' own tests, test by test: each ends traced as it ends alone. In `make check' a few seconds of them; all of
# them with FX_SUITES=all, as `make check-suites' does, which needs the packages that packages.txt lists for it, and
# those named by FX_SUITES=NAME,NAME. Where a suite needs a program's sources, they are fetched from Debian, or as the
# suite says, and built in FX_SUITES_SOURCES, which can be kept.
#
# Every test is traced in every category, and one in FX_SUITES_SHARE by default as well (chosen by its name, so always
# the same ones). How it ends alone is kept from run to run, as long as the suite, its sources and the packages are the
# same. What differs is tried three times in all, alone too; where it ended as alone after all, it is counted among
# those tried again. A test that ends alone now so, now otherwise, and traced in no other way, is unsteady: that shows
# nothing of us. All else is tried once more with nothing beside it, when all is done; then it differs, and is open until
# explained.txt has its reason.
#
# With FX_SUITES set they run in pieces of FX_SUITES_PIECE tests, each in FX_SUITES_LIMIT seconds at the most, and
# FX_SUITES_JOBS of them at once: pieces of different suites, and of one where the suite allows it. How a test ended is
# kept in a file of its piece, in a folder of the build that was tried: what has been tried is not tried again by the
# next run. A table of the suites ends it, and one of the pieces is left beside the results.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/source.sh"

all=${FX_SUITES-}
sources=${FX_SUITES_SOURCES:-$FX_BUILDDIR/suites}
kept=${FX_SUITES_RESULTS:-$FX_BUILDDIR/suites-results}
about=$FX_SRCDIR/tests/e2e/suites
late=$TEST_DIR/late
# What is built for a suite has nothing of the make that runs this.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# Each suite, of tests/e2e/suites: NAME_list prints its tests, NAME_run TEST COMMAND... runs one under a command
# and prints its parts and how they ended, a line each. NAME_make builds what it needs, in its sources, which
# NAME_fetch brings where Debian has none. NAME_apart=yes: its tests can run beside one another. NAME_piece: how many
# are a piece, where they are long.

# source_tree PACKAGE: where its sources are, in $tree; the suite's NAME_make has been there. One suite at a time.
source_tree() {
	tree=
	[ -n "$all" ] || return
	mkdir -p "$sources/$suite" || return
	[ -e "$sources/$suite/made" ] || (
		flock 8
		[ ! -e "$sources/$suite/made" ] || exit 0
		(cd "$sources/$suite" && { ls -d -- */ >/dev/null 2>&1 || fetch_sources "$1"; } && cd -- */ &&
			MAKEFLAGS=-j$(nproc) "${suite}_make") >"$sources/$suite/log" 2>&1 </dev/null ||
			{ echo "$suite: no sources (of $1), or they cannot be built: see $sources/$suite/log" >&2; exit 1; }
		touch "$sources/$suite/made"
	) 8>"$sources/lock" || return
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

# fetch_ltp: the Linux Test Project's sources, from FX_LTP_SOURCES where somebody has them: a checkout or a folder.
fetch_ltp() {
	if [ -n "${FX_LTP_SOURCES-}" ] && ! git -C "$FX_LTP_SOURCES" rev-parse --git-dir >/dev/null 2>&1; then
		cp -r "$FX_LTP_SOURCES" ltp
	else
		git clone -q "${FX_LTP_SOURCES:-https://github.com/linux-test-project/ltp}" ltp
	fi
}

# within SECONDS COMMAND...: what nearly fills its time alone is given more of it where it is traced, and what is slow
# by nature has a line in slow.txt. The file late says that it did not end in its time. Signals are as a program finds
# them that was not started in the background, and whoever ends the piece ends this, a process group of its own. Root's
# see no process and no shared memory but their own (see cell), and leave none behind.
within() {
	local seconds status=0 before=$SECONDS

	seconds=$(awk -v suite="${suite-}" -v test="${test-}" -v seconds="$1" '
		$1 == suite && $2 == test { seconds = $3 }
		END { print seconds }' "$about/slow.txt")
	seconds=$((seconds * ${patience:-1}))
	shift
	(
		trap 'kill "$!"; wait; exit 143' HUP INT TERM
		timeout -k 3 "$seconds" env --default-signal "${cell[@]}" "$@" &
		wait "$!"
	) || status=$?
	[ $((SECONDS - before)) -lt "$seconds" ] || : >"$late"
	return "$status"
}

# cell: what a test of root's runs in. The first process there is a shell: for that one, signals and orphans are not as
# for others.
# shellcheck disable=SC2016 # the inner shell's
cell=(unshare --pid --fork --mount-proc --ipc --kill-child
	sh -c 'mount -t tmpfs -o mode=1777 tmpfs /dev/shm; "$@"; exit $?' sh)
[ -n "$all" ] && [ "$(id -u)" -eq 0 ] && "${cell[@]}" true 2>/dev/null || cell=()

# alone SECONDS COMMAND...: in the folder work, as a user without rights: a test may do to the machine what it likes.
# Without root, as whoever runs this.
alone() {
	local seconds=$1 user=$((61000 + BASHPID % 4000)) own=()

	shift
	[ "$(id -u)" -ne 0 ] || own=(setpriv --reuid="$user" --regid="$user" --clear-groups --)
	chmod -R u+rwx work 2>/dev/null
	rm -rf work && mkdir work || return
	# The archive is made beside it.
	[ ${#own[@]} -eq 0 ] || chown "$user" . work
	(cd work && HOME=$PWD TMPDIR=$PWD within "$seconds" "${own[@]}" "$@")
}

# What the file log has in the format TAP: its numbers, what is left out or expected to fail.
tap() {
	sed -nE 's/^ *(not ok|ok) ([0-9]+)(.*# *(skip|to[d]o))?.*/\2 \1 \4/pI' log
}

# outcome SUITE TEST HOW: its lines, sorted.
outcome() {
	local prefix=() patience=3

	rm -f "$late"
	case $3 in
	plain) patience=1 ;;
	default) prefix=("$FXTRACE" run -q -o "$PWD/trace.fxt" --) ;;
	every) prefix=("$FXTRACE" run -q -c '*,malloc,pthread:all' -o "$PWD/trace.fxt" --) ;;
	esac
	[ "$3" = plain ] || rm -f trace.fxt
	"$1_run" "$2" "${prefix[@]}" </dev/null | sort
}

# add_outcome FOLDER: the file plain joins the outcomes 1, 2.. there, unless it is one of them.
add_outcome() {
	local known

	mkdir -p "$1"
	for known in "$1"/*; do
		! cmp -s "$known" plain || return
	done
	known=("$1"/*)
	[ -e "${known[0]}" ] || known=()
	cp plain "$1/.new" && mv "$1/.new" "$1/$((${#known[@]} + 1))"
}

# ends_alone_so FOLDER: what all outcomes there have is in the file traced, and what is in that, one of them has.
ends_alone_so() {
	awk '
		FILENAME != last { files++; last = FILENAME }
		FILENAME != ARGV[ARGC - 1] { if (!((FILENAME, $0) in seen)) had[$0]++; seen[FILENAME, $0] = 1; next }
		{ traced[$0] = 1 }
		END {
			alone = ARGC - 2
			for (line in traced)
				if (!(line in had))
					exit 1
			for (line in had)
				if (had[line] == alone && !(line in traced))
					exit 1
		}' "$1"/* traced
}

# compare SUITE TEST HOW FOLDER: of its outcomes alone. Three tries of each. Status 0: it ends as alone, 1: otherwise,
# 2: alone it does not end in its time, which shows nothing, 3: it is unsteady alone, and traced no more than that,
# 4: it ends as alone after all.
compare() {
	local try known

	for try in 1 2 3; do
		if [ "$try" -eq 1 ] && [ -s "$4/1" ]; then
			cp "$4/1" plain
		else
			outcome "$1" "$2" plain >plain
			[ ! -e "$late" ] || return 2
			add_outcome "$4"
		fi
		outcome "$1" "$2" "$3" >traced
		if ! "$FXTRACE" check trace.fxt >checked 2>&1; then
			echo "a bad archive: $(tail -n 3 checked)" >>traced
			return 1
		fi
		if cmp -s plain traced; then
			[ "$try" -gt 1 ] || return 0
			[ ! -e "$4/2" ] || return 3
			return 4
		fi
		cp traced "traced.$try"
	done
	! { [ -e "$4/2" ] && ends_alone_so "$4"; } || return 3
	known=("$4"/*)
	echo "$suite $test: ${#known[@]} outcomes alone"
	return 1
}

# ended_well FILE
ended_well() {
	if grep -qx 'status 0' "$1"; then echo yes; else echo no; fi
}

# ways TEST: of tracing it.
ways() {
	local number

	[ -z "${FX_SUITES_HOW-}" ] || { echo "$FX_SUITES_HOW"; return; }
	read -r number _ < <(printf %s "$1" | cksum)
	if [ -n "$all" ] && [ $((number % ${FX_SUITES_SHARE:-8})) -eq 0 ]; then echo every default; else echo every; fi
}

# try_tests SUITE PIECE OUTCOMES: each of stdin. A line of PIECE.result: the test, its parts, whether it ends well
# alone and traced, the ways of tracing it in which it ends otherwise, those in which it is unsteady, those that were
# tried, the seconds that it took, and the ways that were tried again.
try_tests() {
	local suite=$1 test how well differs unsteady tried again started folder

	while read -r test; do
		echo "$test" >"$2.at"
		folder=$3/${test//\//%}
		well='' differs='' unsteady='' tried='' again='' started=$SECONDS
		for how in $(ways "$test"); do
			compare "$suite" "$test" "$how" "$folder"
			case $? in
			1)
				differs="$differs${differs:+,}$how"
				echo "$suite $test differs, with categories: $how"
				diff plain traced | head -n 20
				;;
			2)
				differs='time'
				echo "$suite $test does not end in its time, alone"
				break
				;;
			3)
				unsteady="$unsteady${unsteady:+,}$how"
				;;
			4)
				again="$again${again:+,}$how"
				echo "$suite $test ended otherwise once, with categories: $how"
				diff plain traced.1 | head -n 20
				;;
			esac
			tried="$tried${tried:+,}$how"
			[ "$well" = no ] || well=$(ended_well traced)
		done
		printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$test" "$(grep -vc '^status' plain)" "$(ended_well plain)" \
			"${well:-no}" "${differs:--}" "${unsteady:--}" "${tried:--}" $((SECONDS - started)) "${again:--}" \
			>>"$2.result"
	done
	rm -f "$2.at"
}

columns='tests untraced traced every default unsteady again differ explained open not-run seconds'

# table SUITE.. of the pieces in $results, to stdout; status 1 where something is left to explain.
table() {
	local suite piece status=0

	for suite; do
		for piece in "$results/$suite"-*.tests; do
			[ ! -e "$piece" ] || table_line "$(basename "$piece" .tests)" "$suite" "${piece%.tests}"
		done
	done >"$results/table"
	awk -v columns="$columns" '
		function row(name, i) {
			printf "%-12s %6d", name, pieces[name]
			for (i = 2; i <= n + 1; i++)
				printf " %9d", sum[name, i]
			print ""
		}
		BEGIN {
			n = split(columns, c, " ")
			printf "%-12s %6s", "suite", "pieces"
			for (i = 1; i <= n; i++)
				printf " %9s", c[i]
			print ""
		}
		{
			name = $1
			sub(/-[0-9]*$/, "", name)
			if (!(name in pieces))
				names[++count] = name
			pieces[name]++
			pieces["all"]++
			for (i = 2; i <= NF; i++) {
				sum[name, i] += $i
				sum["all", i] += $i
			}
		}
		END {
			for (i = 1; i <= count; i++)
				row(names[i])
			row("all")
			exit sum["all", 11] + sum["all", 12] > 0
		}' "$results/table" || status=1
	return "$status"
}

# A difference is explained by its line of explained.txt, the first file: suite, test, way and reason.
# shellcheck disable=SC2016 # awk's
explaining='
	FILENAME == ARGV[1] { if ($1 == suite && NF > 3) known[$2, $3] = 1; next }
	function is_explained(test, ways, way, n, i) {
		n = split(ways, way, ",")
		for (i = 1; i <= n; i++)
			if (!((test, way[i]) in known || (test, "any") in known))
				return 0
		return 1
	}'

# table_line NAME SUITE PIECE
table_line() {
	awk -v name="$1" -v suite="$2" -v tests="$3.tests" -v open="$results/open" -v unsteady="$results/unsteady" \
		"$explaining"'
		{
			split($0, f, "\t")
			programs++
			untraced += f[3] == "yes"
			traced += f[4] == "yes"
			every += f[7] ~ /every/
			default_ += f[7] ~ /default/
			seconds += f[8]
			again += f[9] != "" && f[9] != "-"
			if (f[6] != "-") {
				loose++
				print suite, f[1], f[6] >>unsteady
			}
			if (f[5] == "-")
				next
			differ++
			if (is_explained(f[1], f[5]))
				explained++
			else
				print suite, f[1], f[5] >>open
		}
		END {
			while ((getline line <tests) > 0)
				total++
			print name, programs + 0, untraced + 0, traced + 0, every + 0, default_ + 0, loose + 0, again + 0,
				differ + 0, explained + 0, differ - explained, total - programs, seconds + 0
		}' "$about/explained.txt" "$3.result"
}

# end_all: what is under way ends with this. A piece's timeout tells all that run in it.
end_all() {
	trap '' TERM
	# shellcheck disable=SC2046 # several
	kill $(jobs -p) 2>/dev/null
	wait
	exit 99
}
trap end_all HUP INT TERM

# run_piece SUITE PIECE: what of it has not been tried. The test that it is at when its time is over is done with.
run_piece() {
	local at

	trap end_all HUP INT TERM
	awk -F '\t' 'FILENAME == ARGV[1] { done[$1] = 1; next } !($1 in done)' "$2.result" "$2.tests" >"$2.left"
	if [ -s "$2.left" ]; then
		echo "$(date +%T) $(basename "$2"): $(wc -l <"$2.left") tests"
		echo "$1 $2" >>"$TEST_DIR/ran"
		FX_SUITES_OF=$1:$2 FX_SUITES_OUTCOMES=$(outcomes "$1") timeout -k 60 "${FX_SUITES_LIMIT:-3600}" bash "$FX_SRCDIR/tests/e2e/suites.sh" \
			>>"$2.log" 2>&1 9>&- &
		wait $!
		if [ $? -ge 124 ] && read -r at <"$2.at"; then
			echo "$(basename "$2"): its time was over in $at"
			printf '%s\t0\tno\tno\ttime\t-\t-\t0\t-\n' "$at" >>"$2.result"
		fi
		echo "$(date +%T) $(basename "$2") ends"
	fi 2>/dev/null
	rm -f "$2.left" "$2.at"
}

# outcomes SUITE: the folder of what its tests do alone, for these sources, packages, kernel and user.
outcomes() {
	local packages

	packages=$(awk '$1 == "suites" || $1 == "check" { print $2 }' "$FX_SRCDIR/packages.txt" 2>/dev/null)
	# shellcheck disable=SC2086 # several
	echo "$kept/alone/$1-$({
		dpkg-query -W $packages 2>/dev/null
		ls "$sources/$1" 2>/dev/null
		stat -c %Y "$sources/$1/made" 2>/dev/null
		uname -r
		id -u
		cat "$about/$1.sh"
		declare -f within alone outcome tap
		echo "${cell[@]}"
	} | sha256sum | cut -c1-12)"
}

# look_again: what has just been found to differ, and has no reason, is tried once more with nothing beside it.
look_again() {
	local suite piece

	[ -e "$TEST_DIR/ran" ] || return
	mv "$TEST_DIR/ran" "$TEST_DIR/run"
	while read -r suite piece; do
		awk -v suite="$suite" "$explaining"'
			{ split($0, f, "\t") }
			f[5] == "-" || is_explained(f[1], f[5])' "$about/explained.txt" "$piece.result" >"$piece.sound"
		mv "$piece.sound" "$piece.result"
		run_piece "$suite" "$piece"
	done <"$TEST_DIR/run"
}

# run_suite SUITE: in pieces.
run_suite() {
	local suite=$1 apart piece size

	trap end_all HUP INT TERM
	. "$about/$suite.sh"
	mkdir -p "$TEST_DIR/$suite" && cd "$TEST_DIR/$suite" || return
	"${suite}_list" >list
	if [ ! -s list ]; then
		echo "$suite: no tests of it are to be had"
		echo "$suite" >>"$TEST_DIR/missing"
		return
	fi
	size=${suite}_piece
	if [ ! -e "$results/$suite-01.tests" ] || ! sort "$results/$suite"-*.tests | cmp -s - <(sort list); then
		cat "$results/$suite"-*.result >old 2>/dev/null
		rm -f "$results/$suite"-*
		split -l "${!size:-${FX_SUITES_PIECE:-50}}" --numeric-suffixes=1 --additional-suffix=.tests list "$results/$suite-"
		for piece in "$results/$suite"-*.tests; do
			awk -F '\t' 'FILENAME == ARGV[1] { here[$1] = 1; next } $1 in here' "$piece" old >"${piece%.tests}.result"
		done
	fi
	apart=${suite}_apart
	for piece in "$results/$suite"-*.tests; do
		piece=${piece%.tests}
		# A byte in the pipe is leave to run one piece.
		read -rN1 -u9 || return
		(
			trap end_all HUP INT TERM
			run_piece "$suite" "$piece"
			printf . >&9
		) &
		[ "${!apart-}" = yes ] || wait
	done
	wait
}

need timeout flock
case $all in
'') chosen=(glib python) ;;
all) chosen=(openposix ltp git coreutils python perl sqlite redis postgresql busybox bash glib libuv memcached
	chromium) ;;
*) IFS=, read -ra chosen <<<"$all" ;;
esac

if [ -n "${FX_SUITES_OF-}" ]; then
	suite=${FX_SUITES_OF%%:*}
	. "$about/$suite.sh"
	"${suite}_list" >/dev/null
	try_tests "$suite" "${FX_SUITES_OF#*:}" "$FX_SUITES_OUTCOMES" <"${FX_SUITES_OF#*:}.left"
	exit 0
fi

results=$PWD
[ -z "$all" ] || results=$kept/$(cat "$FXTRACE" "$FX_BUILDDIR"/.libs/libfxtrace.so | sha256sum | cut -c1-12)
mkdir -p "$results" "$sources" || fail "$results or $sources cannot be made"
rm -f "$results/open" "$results/unsteady"
if [ -n "$all" ]; then
	mkfifo slots && exec 9<>slots
	for ((i = 0; i < ${FX_SUITES_JOBS:-$(($(nproc) * 4))}; i++)); do
		printf . >&9
	done
	for suite in "${chosen[@]}"; do
		run_suite "$suite" &
	done
	wait
	look_again
else
	for suite in "${chosen[@]}"; do
		. "$about/$suite.sh"
		"${suite}_list" >"$suite-01.tests"
		: >"$suite-01.result"
		try_tests "$suite" "$suite-01" "$PWD/alone/$suite" <"$suite-01.tests"
	done
fi
table "${chosen[@]}" || fail "some tests end otherwise when they are traced, or have not been run (in $results)"$'\n'"$(
	cat "$results/open" 2>/dev/null)"
[ ! -e "$TEST_DIR/missing" ] || fail "no tests of these are to be had: $(xargs <"$TEST_DIR/missing")"
grep -q '^[^ ]* *[1-9]' "$results/table" || skip "no tests of other programs are installed"
