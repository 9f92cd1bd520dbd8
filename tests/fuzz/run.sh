#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [-j JOBS] [SECONDS [NAME...]]: searches with every fuzzer of this folder, or those that are
# named, for SECONDS (60) each. To be called in the folder of a build that is made (`make fuzz' does),
# with clang at hand: everything that is fuzzed is compiled once more, with its sanitizers.
#
# A line for each says how often it ran, how much of the code it has seen, and what it found. New
# inputs are left in fuzz/NAME/found under the current folder, and what fails in fuzz/NAME: put that
# into tests/fuzz/corpus/NAME, where `make check' replays it, and mend it.
#
# run.sh -m [NAME...] instead makes corpora small: what adds nothing is left out.
set -eu

jobs=1 minimise=no
while getopts j:m option; do
	case $option in
	j) jobs=$OPTARG ;;
	m) minimise=yes ;;
	*) echo 'usage: run.sh [-j JOBS] [-m] [SECONDS [NAME...]]' >&2 && exit 2 ;;
	esac
done
shift $((OPTIND - 1))
seconds=60
if [ $minimise = no ] && [ $# -gt 0 ]; then
	seconds=$1
	shift
fi
src=$(cd "$(dirname "$0")/../.." && pwd)
work=$PWD/fuzz
# shellcheck disable=SC2046 # a list of names
[ $# -gt 0 ] || set -- $(cd "$src/tests/fuzz" && ls fuzz_*.c | sed 's/fuzz_\(.*\)\.c/\1/')

# --- Compiling ---------------------------------------------------------------------------------

flags=(-g -O2 -std=gnu11 -D_GNU_SOURCE -I. -I"$src" -I"$src/include"
	'-fsanitize=fuzzer-no-link,address,undefined' -fno-sanitize-recover=all
	-fno-omit-frame-pointer)
# Folders of the installation, wherever a makefile names them.
for name in $(sed -n 's/.*-D\(FX_[A-Z]*DIR\)=.*/\1/p' "$src"/*/Makemodule.am | sort -u); do
	flags+=("-D$name=\"/nowhere\"")
done
# The manager and what reads buffers: see alone.h. What it compares is not followed: inputs are steps, in
# which no constants are to be found.
alone="-DFX_FUZZ_ALONE -include $src/tests/fuzz/alone.h -fno-sanitize-coverage=trace-cmp"

# compile FLAGS FOLDER FILE...: what is older than its source, into $work/FOLDER; the objects' names go
# into $objects.
compile() {
	local more=$1 into=$work/$2 file object todo=
	shift 2
	mkdir -p "$into"
	objects=
	for file; do
		object=$into/$(echo "${file#"$src/"}" | tr / -).o
		objects+=" $object"
		[ "$object" -nt "$file" ] || todo+="$more -c $file -o $object"$'\n'
	done
	printf %s "$todo" | xargs -r -P "$jobs" -L 1 clang "${flags[@]}"
}

# archive NAME: of $objects
archive() {
	rm -f "$work/$1.a"
	# shellcheck disable=SC2086 # a list of files
	ar rcs "$work/$1.a" $objects
}

# What a fuzzer is made of, beside its own file and what it finds in the archives.
sources_of() {
	case $1 in
	buffer | packets | messages)
		echo "$src"/tests/fuzz/{alone,alone_memory,honest,verdict}.c "$src/tests/engine/fake_provider.c"
		[ "$1" != buffer ] || echo "$src/tests/fuzz/valid.c"
		;;
	registration)
		echo "$src"/preload/attach/{attach,manager-user,mapped}.c
		;;
	esac
}

# Functions that a fuzzer puts another in the place of, as its replay does.
wraps_of() {
	sed -n "s/^tests_fuzz_test_$1_LDFLAGS = \$(AM_LDFLAGS) //p" "$src/tests/fuzz/Makemodule.am"
}

libraries='-lz -lzstd -ldw -lelf -liberty -lprotobuf-c -lsqlite3 -lpthread'

link() {
	local name=$1 first=
	# shellcheck disable=SC2046,SC2086 # lists of files and of libraries
	compile '' "$name" "$src/tests/fuzz/fuzz_$name.c" $(sources_of "$name")
	case $objects in *alone*) first="$work/alone.a $work/quiet.a" ;; esac
	# shellcheck disable=SC2046,SC2086
	clang -fsanitize=fuzzer,address,undefined $objects $(wraps_of "$name") \
		-Wl,--start-group $first "$work/plain.a" -Wl,--end-group $libraries \
		-o "$work/$name/fuzz"
}

# What was compiled before a header changed is not what it says any more.
forget_old() {
	mkdir -p "$work"
	if [ -n "$(find "$src" . -name '*.h' -newer "$work/compiled" -o -name '*.def' \
		-newer "$work/compiled" 2>&1 | head -n 1)" ]; then
		find "$work" -name '*.o' -delete
	fi
	touch "$work/compiled"
}

build() {
	local name reader
	forget_old
	reader=$(ls "$src"/engine/layout.c "$src"/engine/reader/*.c)
	# shellcheck disable=SC2086 # a list of files
	compile "$alone" alone "$src"/manager/*/*.c $reader
	archive alone
	# What judges an archive is of no interest to those who write one.
	compile -fno-sanitize=fuzzer-no-link quiet "$src"/format/{reader,input,tables,check*}.c
	archive quiet
	# shellcheck disable=SC2046 # a list of files
	compile '' plain "$src"/{lists,format,engine,engine/*,protocol,symbols,symbols/*,manager/*,convert,convert/*,archives,measure,query,report,why}/*.c \
		preload/strings.c convert/*/*.pb-c.c \
		$(find "$src/base" "$src/client" -name '*.c' ! -name main.c ! -name fault.c)
	archive plain
	for name; do
		link "$name"
	done
}

# Folders of inputs beside a fuzzer's own.
more_corpora_of() {
	case $1 in
	report | archives) echo "$src"/tests/fuzz/corpus/{archive,convert} ;;
	esac
}

# --- Running -----------------------------------------------------------------------------------

fuzz() {
	local name=$1 corpus=$src/tests/fuzz/corpus/$1 log=$work/$1/log executions coverage speed
	local status=0 TIMEFORMAT='%U %S'
	cd "$work/$name"
	mkdir -p found "$corpus"
	# Weighing inputs by how rare their features are takes longer than running them.
	# shellcheck disable=SC2046 # a list of folders
	{
		time nice ./fuzz -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 -print_final_stats=1 \
			-entropic=0 \
			found "$corpus" $(more_corpora_of "$name") >log 2>&1 || status=$?
	} 2>taken
	executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	# Of the processor's seconds: others may have it.
	speed=$(awk -v n="${executions:-0}" '{ if ($1 + $2 > 0) printf "%.0f", n / ($1 + $2) }' taken)
	coverage=$(grep -o 'cov: [0-9]* ft: [0-9]*' "$log" | tail -n 1)
	echo "$name: $seconds s, ${executions:-?} executions (${speed:-?} a second of processor time), ${coverage:-cov: ?}," \
		"$([ $status = 0 ] && echo clean || echo "FAILED, see $log")"
	return $status
}

merge() {
	local corpus=$src/tests/fuzz/corpus/$1
	cd "$work/$1"
	mkdir -p found "$corpus"
	rm -rf small
	mkdir small
	mkdir -p "$corpus"
	./fuzz -set_cover_merge=1 -use_counters=0 -timeout=20 small "$corpus" found >merge.log 2>&1
	# Inputs with names of their own stay.
	find "$corpus" -regextype posix-basic -type f -regex '.*/[0-9a-f]\{12\}' -delete
	for file in small/*; do
		cp "$file" "$corpus/$(basename "$file" | cut -c 1-12)"
	done
	echo "$1: $(find "$corpus" -type f | wc -l) inputs, $(du -sb "$corpus" | cut -f 1) bytes"
}

# Large blocks come and go: without these, most of the time goes into clearing them.
export ASAN_OPTIONS=quarantine_size_mb=16:max_malloc_fill_size=0:malloc_context_size=4

build "$@"
if [ $minimise = yes ]; then
	for name; do
		(merge "$name")
	done
	exit
fi
export -f fuzz more_corpora_of
export src work seconds
printf '%s\n' "$@" | xargs -P "$jobs" -I NAME bash -c 'fuzz NAME'
