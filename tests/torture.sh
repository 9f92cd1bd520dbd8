#!/bin/bash
# SPDX-License-Identifier: MIT
# torture.sh: GCC's own execution tests for C and C++ (gcc.c-torture/execute; g++.dg/torture, eh and coroutines), of the
# release that is here, compiled with the plugin: each has to compile and end as it does without, untraced and traced; and
# what is traced makes a sound archive. Where a test differs, tests/torture.txt has its reason. Prints a line for each that
# differs, and totals. Exit status 0: each is as without, or explained; 77: this machine cannot.
#
# FX_BUILDDIR is a build of all. FX_TORTURE_WAYS: options of the compiler, divided by commas; FX_TORTURE_JOBS: how many at a
# time; FX_TORTURE: a pattern of the names of tests.
set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 99
self=$top/tests/torture.sh

# An execution test of 20 s is slow; each compiles in less.
LIMIT=60

# A job: so many tests, that are traced by one manager.
BATCH=50

# --- One test -----------------------------------------------------------------------------------

# options_of FILE: what its own comments ask for, where that depends on nothing.
options_of() {
	sed -nE 's/.*\{ *dg-(additional-)?options +(\{ *)?"([^"]*)" *\}.*/\3/p' "$1" | tr '\n' ' '
}

# sources_of FILE: a test of a builtin function has two companions.
sources_of() {
	echo "$1"
	case $1 in
	*/builtins/*) echo "${1%.c}-lib.c" "${1%/*}/lib/main.c" ;;
	esac
}

# compile_test FILE OUT OPTION...
compile_test() {
	local file=$1 out=$2 compiler=gcc standard=

	shift 2
	case $file in
	*/coroutines/*) standard=-std=c++20 ;;
	esac
	case $file in
	*.C) compiler=g++ ;;
	esac
	# shellcheck disable=SC2046 # lists of words
	timeout "$LIMIT" $compiler $standard "$@" $(options_of "$file") -w -o "$out" $(sources_of "$file") -lm >"$out.said" 2>&1
}

# run_tests HOW: runs each program HOW.NUMBER, and writes how it ended into the file HOW.NUMBER.ended.
run_tests() {
	local program

	for program in "$1".*; do
		case $program in
		*.said | *.ended) continue ;;
		esac
		timeout "$LIMIT" "./$program" </dev/null >/dev/null 2>&1
		echo $? >"$program.ended"
	done 2>/dev/null # the shell's word on each that aborts
}

# --- A batch ------------------------------------------------------------------------------------

# ended HOW NUMBER
ended() {
	cat "$1.$2.ended" 2>/dev/null || echo 'was not compiled'
}

# judge WAY FILE NUMBER: lines of FILE, WAY, HOW, what differs.
judge() {
	local how expected

	expected=$(ended plain "$3")
	echo tried >>tried
	# What it did not do alone it need not do.
	if [ "$expected" != 0 ]; then
		echo "$2" >>no_test
		return
	fi
	for how in plugin early plugin-traced early-traced; do
		[ "$(ended "$how" "$3")" = "$expected" ] ||
			printf '%s\t%s\t%s\t%s\n' "${2#*testsuite/}" "$1" "$how" "$(ended "$how" "$3")"
	done
}

# batch WAY FOLDER: the tests whose names stand in FOLDER/tests.
batch() {
	local way=$1 file number=0 traced

	cd "$2" || return
	while read -r file; do
		number=$((number + 1))
		# shellcheck disable=SC2086 # several options
		{
			compile_test "$file" "plain.$number" $way
			compile_test "$file" "plugin.$number" $way -fplugin="$PLUGIN"
			compile_test "$file" "early.$number" $way -fplugin="$PLUGIN" -fplugin-arg-fxtrace-when=early
		}
	done <tests
	run_tests plain
	run_tests plugin
	run_tests early
	for traced in plugin early; do
		for number in "$traced".*; do
			case $number in
			*.said | *.ended) ;;
			*) ln "$number" "$traced-traced.${number#*.}" ;;
			esac
		done
		"$FX_BUILDDIR/fxtrace" run -q -b 4M -c function -o "$traced.fxt" -- "$self" --run "$traced-traced" >run.said 2>&1
		"$FX_BUILDDIR/fxtrace" check "$traced.fxt" >check.said 2>&1 ||
			printf 'archive\t%s\t%s\t%s\n' "$way" "$traced" "$PWD/$traced.fxt: $(tail -n 1 check.said)"
	done
	number=0
	while read -r file; do
		number=$((number + 1))
		judge "$way" "$file" "$number"
	done <tests >differ
	[ -n "${FX_TORTURE_KEEP-}" ] || rm -f plain.* plugin.* early.* plugin-traced.* early-traced.*
}

# --- All ----------------------------------------------------------------------------------------

cannot() {
	echo "torture.sh: $*" >&2
	exit 77
}

# tests_list FOLDER: those that are run, of all.
tests_list() {
	find "$1/gcc.c-torture/execute" -name '*.c' ! -path '*/lib/*' ! -name '*-lib.c'
	grep -lrE '\{ *dg-do +run' --include='*.C' "$1/g++.dg/torture" "$1/g++.dg/eh" "$1/g++.dg/coroutines"
}

explained() {
	awk -F '\t' 'NR == FNR { if ($0 !~ /^#/) reason[$1] = 1; next } !($1 in reason)' "$top/tests/torture.txt" -
}

main() {
	local release archive suite way list=() folder count

	release=$(gcc -dumpversion)
	archive=$(echo "/usr/src/gcc-$release"/gcc-*.tar.xz)
	suite=$FX_BUILDDIR/tests/torture/testsuite
	[ -e "$PLUGIN" ] || cannot "the plugin was not built"
	[ -e "$archive" ] || cannot "gcc-$release-source is not installed"
	if [ ! -e "$suite/made" ]; then
		mkdir -p "$suite"
		tar -xJf "$archive" -C "$suite" --strip-components=3 --wildcards '*/gcc/testsuite/gcc.c-torture/execute/*' \
			'*/gcc/testsuite/g++.dg/torture/*' '*/gcc/testsuite/g++.dg/eh/*' '*/gcc/testsuite/g++.dg/coroutines/*' ||
			cannot "$archive has no such tests"
		touch "$suite/made"
	fi
	work=$FX_BUILDDIR/tests/torture/work
	rm -rf "$work"
	mkdir -p "$work"
	tests_list "$suite" | grep -e "${FX_TORTURE:-.}" | sort >"$work/all"
	IFS=,
	for way in ${FX_TORTURE_WAYS:--O0,-O2,-O3 -flto}; do
		folder="$work/${way//[ =]/}"
		mkdir -p "$folder"
		split -l "$BATCH" -a 3 -d "$work/all" "$folder/list."
		for list in "$folder"/list.*; do
			mkdir "${list/list./batch.}"
			mv "$list" "${list/list./batch.}/tests"
			printf '%s\0%s\0' "$way" "${list/list./batch.}"
		done
	done | xargs -0 -n 2 -P "${FX_TORTURE_JOBS:-$(nproc)}" "$self" --batch
	find "$work" -name differ -exec cat {} + | sort >"$work/differ"
	explained <"$work/differ" >"$work/open"
	cat "$work/open"
	count=$(find "$work" -name tried -exec cat {} + | wc -l)
	echo "$(wc -l <"$work/all") tests, $count programs, $(find "$work" -name no_test -exec cat {} + | wc -l) of which do not end with 0 here without the plugin;" \
		"$(wc -l <"$work/differ") times they do not with it, $(wc -l <"$work/open") of them open"
	[ "$count" -gt 0 ] && [ ! -s "$work/open" ]
}

: "${FX_BUILDDIR:?is to name a build}"
FX_BUILDDIR=$(cd "$FX_BUILDDIR" && pwd) || exit 99
PLUGIN=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace.so
export FX_BUILDDIR
case ${1-} in
--batch) batch "$2" "$3" ;;
--run) run_tests "$2" ;;
*) main ;;
esac
