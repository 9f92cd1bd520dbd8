#!/bin/bash
# SPDX-License-Identifier: MIT
# Perfetto's trace processor, which FX_TRACE_PROCESSOR names, finds no fault with what is converted for it of the golden archives of the
# reader's tests, but for those that are bad on purpose, and the samples of the conversions', which have all that there may be in an archive; and none with
# what is copied of them as an archive that is not in the archive itself: arrows of others that stand in no slice stay so.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

[ -n "${FX_TRACE_PROCESSOR-}" ] || skip "FX_TRACE_PROCESSOR names no trace processor of Perfetto's"
need python3 "$FX_TRACE_PROCESSOR"
sample=$FX_BUILDDIR/tests/convert/write_sample

echo "SELECT name, value FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0;" >faults.sql

# faults TRACE: what it finds, by name and number, to the file TRACE.faults.
faults() {
	"$FX_TRACE_PROCESSOR" -q faults.sql "$1" >answered 2>ask.err || fail "$1 is not loaded: $(tail -n 2 ask.err)"
	grep -q '^"name","value"' answered || fail "$1: no answer: $(cat answered)"
	grep -v '^"name","value"' answered >"$1.faults"
}

# converted ARCHIVE TO: what is whole of a broken one, too.
converted() {
	"$FXTRACE" convert "$1" "$2" >out 2>err || { grep -q ': offset 0x' err && [ -s "$2" ]; } || fail "$1 is not converted: $(cat err)"
}

# loads ARCHIVE: and what is made of it.
loads() {
	local form name=${1%.fxt}

	for form in pftrace json; do
		converted "$1" "$name.$form"
		faults "$name.$form"
		[ ! -s "$name.$form.faults" ] || fail "$name.$form: $(cat "$name.$form.faults")"
	done
	converted "$1" "$name.stock.fxt"
	faults "$name.stock.fxt"
	[ ! -s "$name.stock.fxt.faults" ] || {
		faults "$1"
		expect_same_file "$1.faults" "$name.stock.fxt.faults"
	}
	loaded=$((loaded + 1))
}

loaded=0
for golden in "$FX_SRCDIR"/tests/format/golden/*.hex; do
	name=$(basename "$golden" .hex)
	case $name in bad-*) continue ;; esac
	python3 - "$golden" >"$name.fxt" <<'END' || fail "cannot make $name"
import struct, sys
words = [int(line[:16], 16) for line in open(sys.argv[1]) if line[0] not in "#>!\n"]
magic = 0x0016547846040010
sys.stdout.buffer.write(struct.pack("<%dQ" % (len(words) + (words[0] != magic)), *[magic] * (words[0] != magic), *words))
END
	loads "$name.fxt"
done
[ $loaded -ge 12 ] || fail "$loaded golden archives"
for name in $("$sample"); do
	"$sample" "$name" >"sample-$name.fxt" || fail "no sample $name"
	loads "sample-$name.fxt"
done
echo "$loaded archives, each converted to three forms: no faults"
