#!/bin/bash
# SPDX-License-Identifier: MIT
# A run as one of many: what the signs in --output stand for, for run, record and a program that is preloaded by hand; --ranks
# and --every, whose other ranks run as they would without the tracer; and what is refused before anything has run.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
unset SLURM_PROCID PMIX_RANK OMPI_COMM_WORLD_RANK PMI_RANK SLURM_JOB_ID PBS_JOBID LSB_JOBID LD_PRELOAD

cat >says.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	printf("%s %d\n", getenv("LD_PRELOAD") ? "preloaded" : "alone", (int)getpid());
	return 7;
}
END
compile says says.c
host=$(uname -n)

# only ARCHIVE: it is the only one here, it is sound, and goes away.
only() {
	expect_equal "$1" "$(find . -name '*.fxt*' -printf '%P\n')" "the archives"
	expect_clean "$1"
	rm "$1"
}
# word FILE NUMBER: of its first line.
word() {
	cut -d ' ' -f "$2" "$1" | head -n 1
}
none() {
	expect_equal "" "$(find . -name '*.fxt*')" "the archives"
}

# --- Names ------------------------------------------------------------------------------------------------

expect_status 7 "$FXTRACE" run -q -o 'job-%h-%n.fxt' -- ./says
only "job-$host-says.fxt"
expect_status 7 env SLURM_JOB_ID=4711 SLURM_PROCID=12 "$FXTRACE" run -q -o 'all/%j/r%r-100%%.fxt.zst' -- "$PWD/says"
only all/4711/r12-100%.fxt.zst
expect_status 7 env SLURM_JOB_ID=../a/b PBS_JOBID=no "$FXTRACE" run -q -o 'of%j.fxt' -- ./says
only of.._a_b.fxt
expect_status 7 env PBS_JOBID=9.host FXTRACE_OUTPUT='%j.fxt' "$FXTRACE" run -q -- ./says
only 9.host.fxt
"$FXTRACE" run -q -o 'p%p.fxt' -- ./says >out &
wait "$!" || true
only "p$!.fxt"

# What starts ranks, each by its own variable; one that is no number is none.
for variable in SLURM_PROCID PMIX_RANK OMPI_COMM_WORLD_RANK PMI_RANK; do
	expect_status 7 env PMI_RANK=x $variable=3 "$FXTRACE" run -q -o 'r%r.fxt' -- ./says
	only r3.fxt
done

# Preloaded by hand: the program's name and number.
FXTRACE_OUTPUT='h-%n-%p.fxt' LD_PRELOAD=$LIBFXTRACE ./says >out || true
wait_for 30 test -s "h-says-$(word out 2).fxt"
wait_for 30 "$FXTRACE" check "h-says-$(word out 2).fxt" >/dev/null
only "h-says-$(word out 2).fxt"
# A pattern that stands for nothing: the program's standard error is not ours, and it runs untraced.
status=0
FXTRACE_OUTPUT='%r.fxt' LD_PRELOAD=$LIBFXTRACE ./says >out 2>err || status=$?
expect_equal "7 preloaded " "$status $(word out 1) $(cat err)" "a program with a bad pattern"
FXTRACE_VERBOSE=1 FXTRACE_OUTPUT='%r.fxt' LD_PRELOAD=$LIBFXTRACE ./says >out 2>err || true
wait_for 30 grep -q 'FXTRACE_OUTPUT: %r: this process has no rank' err || fail "nothing is said of it: $(cat err)"
none

# --- Ranks ------------------------------------------------------------------------------------------------

# rank NUMBER WHETHER OPTION...
rank() {
	local number=$1 whether=$2

	shift 2
	expect_status 7 env SLURM_PROCID="$number" "$FXTRACE" run -q -o 'r%r.fxt' "$@" -- ./says
	expect_equal "$whether" "$(word out 1)" "rank $number of $*"
	expect_equal "" "$(cat err)" "what is said of rank $number of $*"
	if [ "$whether" = alone ]; then
		none
	else
		only "r$number.fxt"
	fi
}
tried=0
for number in 0 1 7 99 100 103 104 128 18446744073709551615; do
	for options in '--ranks 0,7,100-103' '--every 64' '--ranks 7 --every 64' '--ranks 99-104,0'; do
		whether=alone
		case "$options:$number" in
		*7,100-103:0 | *7,100-103:7 | *7,100-103:10[03]) whether=preloaded ;;
		*64:0 | *64:128 | *7\ --every\ 64:7) whether=preloaded ;;
		*104,0:0 | *104,0:99 | *104,0:10[034]) whether=preloaded ;;
		esac
		# shellcheck disable=SC2086 # several words
		rank "$number" $whether $options
		tried=$((tried + 1))
	done
done
echo "$tried ranks"

# --- What is refused --------------------------------------------------------------------------------------

# refused WORDS OPTION...: usage; nothing has run.
refused() {
	local words=$1

	shift
	expect_status 2 "$FXTRACE" run -q "$@" -- ./says
	expect_equal "" "$(cat out)" "what ran: $*"
	[ "$(wc -l <err)" -eq 1 ] && grep -qF -e "$words" err || fail "$*: $(cat err)"
	none
}
refused 'this process has no rank' -o 'r%r.fxt'
refused 'this is no job' -o '%j.fxt'
refused 'behind % stands' -o '50%.fxt'
refused 'behind % stands' -o 'a.fxt%'
refused 'becomes too long' -o "$(printf '%4090s' '' | tr ' ' a)%%%%%%%%%%%%%%.fxt"
refused 'this process has no rank' --ranks 0
refused 'this process has no rank' --every 2
for list in '' ',' '1,' ',1' 3-1 1-2-3 -1 a '1,,2' 99999999999999999999; do
	refused 'not ranks, such as' --ranks "$list"
done
for every in '' 0 -1 x 1x 99999999999999999999; do
	refused 'not a number of ranks' --every "$every"
done
