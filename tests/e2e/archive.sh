#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace check and fxtrace dump: sound, compressed, cut, spoilt and missing archives.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

# pack WORD...: words of 16 hexadecimal digits as bytes, lowest first.
pack() {
	local word bytes i

	for word in "$@"; do
		bytes=
		for ((i = 14; i >= 0; i -= 2)); do
			bytes+="\\x${word:i:2}"
		done
		# shellcheck disable=SC2059 # the escapes are what is to be printed
		printf "$bytes"
	done
}

golden() {
	# shellcheck disable=SC2046 # one word each
	pack $(grep -oE '^[0-9a-f]{16}' "$FX_SRCDIR/tests/format/golden/$1.hex")
}

magic=0016547846040010

# A sound archive: a provider, a string, a thread, and a slice of it.
{
	pack $magic
	pack 0010000000110020 0000000000000070               # provider 1, "p"
	pack 0000000400010022 000000006e69616d               # string 1, "main"
	pack 0000000000010033 0000000000000064 0000000000000065 # thread 1: process 100, thread 101
	pack 0001000001040034 000000000000000a 0000000000000014 # complete, from 10 to 20
} >good.fxt
expect_ok "$FXTRACE" check good.fxt
expect_line '^good\.fxt: 88 bytes, 5 records \(0 unknown\), 1 event,.*: 0 errors, 0 warnings$' out
expect_ok "$FXTRACE" dump good.fxt
expect_equal 5 "$(wc -l <out)" "records"
expect_line '^0x00000040 1 event type=complete pid=100 tid=101 ts=10 end=20 category="" name="main"#1$' out
cp out good.txt

# From standard input, and compressed
"$FXTRACE" dump - <good.fxt >out 2>err || fail "dump of standard input fails"
expect_same_file good.txt out
for tool in gzip zstd; do
	command -v $tool >/dev/null || continue
	$tool -c good.fxt >packed.fxt
	expect_ok "$FXTRACE" dump packed.fxt
	expect_same_file good.txt out
	expect_ok "$FXTRACE" check packed.fxt
	head -c "$(($(wc -c <packed.fxt) - 9))" packed.fxt >cut.fxt
	expect_status 1 "$FXTRACE" check cut.fxt
	expect_line '^cut\.fxt: offset 0x[0-9a-f]+: error: truncated inside this record ' out
done

# Every record as an object of JSON, whatever it holds
if command -v python3 >/dev/null; then
	for name in metadata tables events arguments blobs objects scheduling logs profiler large; do
		{ pack $magic && golden $name; } >golden.fxt
		expect_ok "$FXTRACE" dump --json golden.fxt
		python3 -c 'import json, sys
for line in open("out", encoding="utf-8", errors="strict"):
    assert {"offset", "kind", "provider"} <= set(json.loads(line)), line' ||
			fail "$name: not JSON: $(cat out)"
	done
fi

# Cut at every byte: what was whole is there, the rest is reported once.
for ((size = 8; size < 88; size++)); do
	head -c $size good.fxt >cut.fxt
	whole=0
	for end in 8 24 40 64; do
		[ $size -lt $end ] || whole=$((whole + 1))
	done
	case $size in
	8 | 24 | 40 | 64)
		expect_ok "$FXTRACE" dump cut.fxt
		;;
	*)
		expect_status 1 "$FXTRACE" check cut.fxt
		expect_line '^cut\.fxt: offset 0x[0-9a-f]+: error: truncated inside this record ' out
		expect_one_error 1 "$FXTRACE" dump cut.fxt
		expect_line 'cut\.fxt: offset 0x[0-9a-f]+: truncated inside this record ' err
		;;
	esac
	head -n $whole good.txt >whole.txt
	expect_same_file whole.txt out
done

# A bad record in the middle is passed over; --strict stops there.
{
	head -c 64 good.fxt
	pack 0000000000000011 # initialization without its word
	tail -c 24 good.fxt
} >bad.fxt
expect_one_error 1 "$FXTRACE" dump bad.fxt
expect_line 'bad.fxt: offset 0x40: record is too small for what it announces' err
expect_equal 5 "$(wc -l <out)" "records around a bad one"
expect_one_error 1 "$FXTRACE" dump --strict bad.fxt
expect_equal 4 "$(wc -l <out)" "records before a bad one"
expect_status 1 "$FXTRACE" check bad.fxt
expect_line '^bad.fxt: offset 0x40: error: record is too small for what it announces' out

# Warnings alone are no failure.
{
	cat good.fxt
	pack 0000000100000022 0000000000000061 # string 0
} >odd.fxt
expect_ok "$FXTRACE" check odd.fxt
expect_line '^odd.fxt: offset 0x58: warning: string index 0 ' out
expect_ok "$FXTRACE" check --quiet odd.fxt
expect_equal 0 "$(wc -l <out)" "lines of a quiet check"

# Several files: each is checked, one failure counts.
expect_status 1 "$FXTRACE" check good.fxt bad.fxt odd.fxt
expect_line '^good.fxt: ' out
expect_line '^odd.fxt: ' out

# No archive, no file, no argument
echo "This is no trace." >text
expect_status 1 "$FXTRACE" check text
expect_line '^text: offset 0x0: error: not a trace' out
expect_one_error 1 "$FXTRACE" dump text
: >empty
expect_status 1 "$FXTRACE" check empty
for command in check dump; do
	expect_one_error 1 "$FXTRACE" $command missing.fxt
	expect_line 'missing.fxt: No such file or directory' err
	expect_one_error 1 "$FXTRACE" $command .
	expect_one_error 1 "$FXTRACE" $command
	expect_line ' fxtrace.fxt: No such file or directory$' err
	expect_one_error 2 "$FXTRACE" $command --no-such-option good.fxt
done
expect_one_error 2 "$FXTRACE" dump good.fxt good.fxt

# A reader of the output that goes away is no news; a full disk is.
{
	pack $magic
	golden events >part
	for _ in {1..4}; do
		cat part part part part part part part part >longer
		mv longer part
	done
	cat part
} >long.fxt
(trap '' PIPE && "$FXTRACE" dump long.fxt 2>err) | head -n 1 >out
expect_line '^0x00000000 0 magic$' out
expect_equal 0 "$(wc -c <err)" "bytes on stderr when stdout is closed"
"$FXTRACE" dump long.fxt >/dev/full 2>err && fail "dump into a full device succeeds"
expect_equal 1 "$(wc -l <err)" "lines on stderr of dump into a full device"
