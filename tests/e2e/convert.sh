#!/bin/bash
# SPDX-License-Identifier: MIT
# fxtrace convert as a command: how it takes its format and its files, and what it says when
# something is wrong.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

sample=$FX_BUILDDIR/tests/convert/write_sample
"$sample" nesting >trace.fxt || fail "no sample"
gzip -k trace.fxt
"$sample" truncated >cut.fxt || fail "no sample"

# The format by option and by name; the name of the output by that of the input.
expect_ok "$FXTRACE" convert -f json trace.fxt
expect_ok "$FXTRACE" convert trace.fxt other.json
expect_same_file trace.json other.json
expect_ok "$FXTRACE" convert --format=perfetto trace.fxt
expect_ok "$FXTRACE" convert trace.fxt other.perfetto-trace
expect_same_file trace.pftrace other.perfetto-trace
expect_ok "$FXTRACE" convert -f json trace.fxt any.name
expect_same_file trace.json any.name
rm trace.json
expect_ok "$FXTRACE" convert -f json trace.fxt.gz
expect_same_file trace.json other.json
expect_equal 0 "$(wc -c <err)" "bytes on stderr of a conversion"

# Pipes and compression at both ends.
"$FXTRACE" convert -f json - - <trace.fxt >piped.json || fail "convert of a pipe"
expect_same_file trace.json piped.json
gzip -c trace.fxt | "$FXTRACE" convert -f json - piped.json.gz || fail "convert of a pipe"
gzip -dc piped.json.gz >piped.json || fail "the output is no gzip"
expect_same_file trace.json piped.json
expect_ok "$FXTRACE" convert trace.fxt packed.pftrace.gz
gzip -dc packed.pftrace.gz >packed.pftrace || fail "the output is no gzip"
expect_same_file trace.pftrace packed.pftrace

expect_ok "$FXTRACE" convert trace.fxt packed.pftrace.zst
zstd -qdc packed.pftrace.zst >packed.pftrace || fail "the output is no zstd"
expect_same_file trace.pftrace packed.pftrace
expect_one_error 1 "$FXTRACE" convert trace.fxt "$(ln -s /dev/full full.json.zst && echo full.json.zst)"
expect_line 'full.json.zst: No space left' err

# Without a format and a name that tells it, it is for Perfetto.
mv trace.pftrace named.pftrace
expect_ok "$FXTRACE" convert trace.fxt
expect_same_file named.pftrace trace.pftrace
expect_ok "$FXTRACE" convert trace.fxt -
expect_same_file named.pftrace out

# Wrong usage writes nothing.
expect_status 2 "$FXTRACE" convert trace.fxt out.xyz
expect_line 'out\.xyz' err
expect_status 2 "$FXTRACE" convert -f xyz trace.fxt
expect_line 'unknown format: xyz' err
expect_status 2 "$FXTRACE" convert -f json -
expect_line 'no OUT given' err
expect_status 2 "$FXTRACE" convert -f json trace.fxt a b
expect_line 'arguments: b ' err
ln trace.fxt same.json
expect_one_error 2 "$FXTRACE" convert trace.fxt same.json
expect_line 'same file' err
cmp -s trace.fxt same.json || fail "the input was written over"
[ ! -e out.xyz ] || fail "wrong usage leaves a file"

# What cannot be read or written.
expect_one_error 1 "$FXTRACE" convert -f json missing.fxt
expect_line 'missing.fxt: No such file' err
[ ! -e missing.json ] || fail "an output without an input"
echo 'this is no trace' >text
expect_one_error 1 "$FXTRACE" convert -f json text
expect_line 'text: .*not a trace' err
[ ! -e text.json ] || fail "an output without an input"
: >empty
expect_one_error 1 "$FXTRACE" convert -f json empty
expect_one_error 1 "$FXTRACE" convert -f json . directory.json
expect_line '^fxtrace convert: \.: ' err
expect_one_error 1 "$FXTRACE" convert trace.fxt no/such/folder.json
expect_line 'no/such/folder.json: No such file' err
for format in json perfetto; do
	expect_one_error 1 "$FXTRACE" convert -f "$format" trace.fxt /dev/full
	expect_line '/dev/full: No space left' err
	"$FXTRACE" convert -f "$format" trace.fxt - >/dev/full 2>err && fail "a full disk is not noticed"
	expect_line 'No space left' err
done
ln -s /dev/full full.json.gz
expect_one_error 1 "$FXTRACE" convert trace.fxt full.json.gz
expect_line 'full.json.gz: No space left' err

# A limit on the size of files stands for a disk that fills in the middle: no half output stays.
"$FX_BUILDDIR/tests/convert/write_sample" deep >deep.fxt
for ending in json pftrace json.gz; do
	(
		trap '' XFSZ
		ulimit -f 1
		"$FXTRACE" convert deep.fxt "limited.$ending" 2>err
	) && fail "a full disk is not noticed ($ending)"
	expect_line "limited.$ending: File too large" err
	[ ! -e "limited.$ending" ] || fail "half an output stays"
done

# What is damaged is converted as far as it is whole.
expect_one_error 1 "$FXTRACE" convert -f json cut.fxt
expect_line 'cut.fxt: offset 0x60: truncated' err
expect_line '"name":"whole"' cut.json
expect_line 'fault in the archive at offset 0x60' cut.json
head -c 70 trace.fxt.gz >cut.fxt.gz
expect_one_error 1 "$FXTRACE" convert -f json cut.fxt.gz cut.json
expect_line '^\]}$' cut.json

# Damage of every kind: never a crash, always a whole output.
if command -v python3 >/dev/null; then
	for name in pairs arguments asyncs flow_anchors scheduling embedded redefined; do
		"$sample" "$name" >whole.fxt
		size=$(wc -c <whole.fxt)
		for at in $(seq 8 13 "$((size - 1))"); do
			cp whole.fxt bad.fxt
			printf '\377' | dd of=bad.fxt bs=1 seek="$at" conv=notrunc 2>/dev/null
			status=0
			"$FXTRACE" convert bad.fxt bad.json 2>err || status=$?
			[ "$status" -le 1 ] || fail "$name with byte $at changed: status $status"
			[ ! -e bad.json ] || python3 -m json.tool <bad.json >/dev/null ||
				fail "$name with byte $at changed: no JSON"
			status=0
			"$FXTRACE" convert bad.fxt bad.pftrace 2>err || status=$?
			[ "$status" -le 1 ] || fail "$name with byte $at changed: status $status"
			rm -f bad.json bad.pftrace
		done
	done
fi

# Help names each format, and an ending of each that has one of its own.
expect_ok "$FXTRACE" help --values convert --format
cp out formats
expect_ok "$FXTRACE" convert --help
tr -s ' \n' ' ' <out >help
while read -r format _; do
	expect_line "[ .]${format}[ ,.;]" help
	[ "$format" = fxt ] || "$FXTRACE" convert -f "$format" trace.fxt >/dev/null 2>&1 || fail "no $format"
done <formats
for ending in pftrace perfetto-trace json sqlite db stock.fxt speedscope.json collapsed folded pb.gz callgrind svg html; do
	expect_line "\\.${ending}[ ,;]" help
done
