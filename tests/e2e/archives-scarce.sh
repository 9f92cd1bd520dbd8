#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace merge', split, filter, symbolize and convert -f fxt where there is no room: a full device, a disk that fills in
# the middle, and little memory. One line says what and where; what is left are whole records.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

"$FX_BUILDDIR/bench/timeline" --make 2 work.fxt || fail "no archive"

# made_by COMMAND OUT: an archive of work.fxt.
made_by() {
	case $1 in
	merge) "$FXTRACE" merge -o "$2" work.fxt ;;
	split) "$FXTRACE" split --every 1000s -o "$2" work.fxt ;;
	filter) "$FXTRACE" filter --name '*' -o "$2" work.fxt ;;
	choose) "$FXTRACE" filter -D 3 -F '*' -o "$2" work.fxt ;;
	symbolize) "$FXTRACE" symbolize -o "$2" work.fxt ;;
	stock) "$FXTRACE" convert -f fxt work.fxt "$2" ;;
	esac
}

# name_of COMMAND OUT: what it calls it.
name_of() {
	case $1 in
	split) echo "${2/./.0001.}" ;;
	*) echo "$2" ;;
	esac
}

# --- No room ---------------------------------------------------------------------------------------

if [ -w /dev/full ]; then
	for command in merge split filter symbolize stock; do
		for ending in fxt fxt.gz fxt.zst; do
			[ "$command.$ending" != stock.fxt.zst ] || continue
			full=$(name_of "$command" "full-$command.$ending")
			ln -s /dev/full "$full"
			expect_one_error 1 made_by "$command" "full-$command.$ending"
			expect_line "$full: No space left" err
		done
	done
fi

# A limit on the size of files stands for a disk that fills in the middle.
limited() {
	trap '' XFSZ
	ulimit -f 100
	made_by "$@"
}
for command in merge split filter symbolize stock; do
	limited=$(name_of "$command" "limited-$command.fxt")
	expect_one_error 1 eval '(limited "$command" "limited-$command.fxt")'
	expect_line "$limited: File too large" err
	[ ! -e "$limited" ] || expect_clean "$limited"
done

# --- Little memory ---------------------------------------------------------------------------------

not_sanitized "sanitizers have memory of their own"

# in_memory KILOBYTES COMMAND...
in_memory() {
	ulimit -v "$1"
	shift
	"$@"
}

# The least in which the program begins at all: what is missing, is missing within the command.
least=4000
until (in_memory $least "$FXTRACE" --version) >/dev/null 2>&1; do
	least=$((least + 250))
	[ $least -lt 400000 ] || fail "it does not begin in 400 MB"
done
failures=0
for command in merge split filter symbolize stock; do
	for more in 0 250 500 750 1000 1500 2000 3000; do
		rm -f scarce*
		status=0
		(in_memory $((least + more)) made_by "$command" scarce.fxt) >out 2>said || status=$?
		made=$(name_of "$command" scarce.fxt)
		# Where it failed before its first record, the file may be there and empty.
		[ ! -s "$made" ] && [ $status -ne 0 ] || expect_clean "$made"
		[ $status -ne 0 ] || continue
		failures=$((failures + 1))
		expect_equal 1 "$status" "status of $command in $((least + more)) KB: $(cat said)"
		expect_equal 1 "$(wc -l <said)" "lines on stderr of $command"
		# Before it has looked at its options, it knows of no file.
		expect_line "^fxtrace( [a-z]+)?: ((work.fxt|$made): )?Cannot allocate memory" said
	done
	[ "$status" -eq 0 ] || fail "$command does not do with $((least + more)) KB"
done
echo "$failures commands failed for want of memory, from $least KB on"
[ "$failures" -gt 0 ] || fail "memory was never scarce"

# One request alone is refused, each in its turn: at the beginning all of them, then fewer.
compile refuse.so -O1 -shared -fPIC "$FX_SRCDIR/tests/e2e/targets/refuse.c"
refused_fxtrace=$FXTRACE
refusing() {
	LD_PRELOAD=$PWD/refuse.so REFUSE=$request-$request "$refused_fxtrace" "$@"
}
FXTRACE=refusing
for command in merge split filter choose symbolize stock; do
	failures=0
	for ((request = 1; request < 2000; request += request / 20 + 1)); do
		rm -f scarce*
		status=0
		made_by "$command" scarce.fxt >out 2>said || status=$?
		[ "$status" -ne 0 ] || continue
		failures=$((failures + 1))
		expect_equal 1 "$status" "status of $command without request $request: $(cat said)"
		expect_line 'Cannot allocate memory' said
	done
	[ "$failures" -gt 10 ] || fail "$command misses nothing: $failures"
done
