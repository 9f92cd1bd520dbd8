#!/bin/bash
# SPDX-License-Identifier: MIT
# What is too much for the memory that a conversion is allowed goes to a file without a name: the result is
# the same, and the memory stays what it was however large the archive is.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

need python3
sample=$FX_BUILDDIR/tests/convert/write_sample
bench=$FX_BUILDDIR/bench/timeline
mkdir spilled

# expect_same_conversions FILE: in blocks of a few events, plain and compressed, as all at once.
expect_same_conversions() {
	local format limit

	gzip -c "$1" >"$1.gz"
	for format in json perfetto; do
		"$FXTRACE" convert -f "$format" "$1" whole 2>whole.err
		for limit in 1 3000; do
			FXTRACE_CONVERT_MEMORY=$limit TMPDIR=$PWD/spilled \
				"$FXTRACE" convert -f "$format" "$1" pieces 2>pieces.err
			expect_same_file whole pieces
			expect_same_file whole.err pieces.err
			FXTRACE_CONVERT_MEMORY=$limit TMPDIR=$PWD/spilled \
				"$FXTRACE" convert -f "$format" "$1.gz" pieces 2>pieces.err
			expect_same_file whole pieces
		done
	done
}

# expect_same_checks FILE: the same of what is checked.
expect_same_checks() {
	local limit

	"$FXTRACE" check "$1" >whole
	for limit in 1 3000; do
		FXTRACE_CONVERT_MEMORY=$limit TMPDIR=$PWD/spilled "$FXTRACE" check "$1" >pieces
		expect_same_file whole pieces
	done
}

for name in $("$sample"); do
	"$sample" "$name" >sample.fxt || fail "no sample $name"
	expect_same_conversions sample.fxt
	expect_same_checks sample.fxt
done
"$bench" --make 2 calls.fxt || fail "no archive"
expect_same_conversions calls.fxt
expect_ok traced -q -- bash -c 'for i in 1 2 3; do (ls / >/dev/null) & done; wait'
expect_same_conversions trace.fxt
python3 "$FX_SRCDIR/tests/e2e/many_flows.py" mess 3000 >flows.fxt || fail "no flows"
expect_same_conversions flows.fxt
expect_same_checks flows.fxt
expect_equal "" "$(ls spilled)" "files that stay"

# Where there is no such file, memory does.
FXTRACE_CONVERT_MEMORY=3000 TMPDIR=/dev/null "$FXTRACE" convert -f json calls.fxt pieces ||
	fail "no conversion without TMPDIR"
(
	trap '' XFSZ
	ulimit -f 64
	FXTRACE_CONVERT_MEMORY=3000 "$FXTRACE" convert -f json calls.fxt - | cksum >pieces
) || fail "no conversion on a full disk"
"$FXTRACE" convert -f json calls.fxt - | cksum >whole
expect_same_file whole pieces

# The index takes 96 MB and the mapped file as much, of which a third may be in memory at a time.
not_sanitized "sanitizers have memory of their own"
"$bench" --make 96 calls.fxt || fail "no archive"
gzip -1 -c calls.fxt >calls.fxt.gz
for file in calls.fxt calls.fxt.gz; do
	read -r _ _ resident < <(FXTRACE_CONVERT_MEMORY=4000000 "$bench" "$file" walk)
	echo "$file: $resident MB resident"
	[ -n "$resident" ] || fail "no walk through $file"
	[ "${resident%.*}" -lt 64 ] || fail "$file: $resident MB resident"
done

FXTRACE_CONVERT_MEMORY=4000000 python3 - "$FXTRACE" calls.fxt <<'END' || fail "check of calls.fxt"
import resource, subprocess, sys
subprocess.run([sys.argv[1], "check", "-q", sys.argv[2]], check=True)
resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print("check of calls.fxt: %.1f MB resident" % resident)
sys.exit(resident >= 64)
END

# Arrows, of which each has a chain of its own, would take 100 MB.
python3 "$FX_SRCDIR/tests/e2e/many_flows.py" pairs 250000 >flows.fxt || fail "no flows"
read -r _ _ resident < <(FXTRACE_CONVERT_MEMORY=4000000 "$bench" flows.fxt walk)
echo "flows.fxt: $resident MB resident"
[ "${resident%.*}" -lt 64 ] || fail "flows.fxt: $resident MB resident"

# Threads take about 300 bytes each, of which a third is their archive.
python3 "$FX_SRCDIR/tests/e2e/many_threads.py" 200000 >threads.fxt || fail "no threads"
read -r _ _ resident < <("$bench" threads.fxt walk)
echo "threads.fxt: $resident MB resident"
[ "${resident%.*}" -lt 75 ] || fail "threads.fxt: $resident MB resident"
