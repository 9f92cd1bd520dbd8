#!/bin/bash
# SPDX-License-Identifier: MIT
# Each sample of tests/convert/sample.c, converted to each format, is what is expected.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

sample=$FX_BUILDDIR/tests/convert/write_sample
show=$FX_BUILDDIR/tests/convert/show_perfetto
expected=$FX_SRCDIR/tests/convert/expected

# convert_sample NAME FORMAT OUT: damaged samples give status 1.
convert_sample() {
	local status=0 want=0

	case $1 in
	truncated | two_providers) want=1 ;;
	esac
	"$sample" "$1" >"$1.fxt" || fail "no sample $1"
	"$FXTRACE" convert -f "$2" "$1.fxt" "$3" 2>"$1.$2.err" || status=$?
	expect_equal "$want" "$status" "status of $1 to $2"
}

count=0
for name in $("$sample"); do
	convert_sample "$name" perfetto "$name.pftrace"
	convert_sample "$name" json "$name.json"
	"$show" <"$name.pftrace" >"$name.perfetto" || fail "$name.pftrace: $(grep BAD "$name.perfetto")"
	count=$((count + 1))
	[ -e "$expected/$name.json" ] || continue
	expect_same_file "$expected/$name.perfetto" "$name.perfetto"
	expect_same_file "$expected/$name.json" "$name.json"
done
[ "$count" -ge 30 ] || fail "only $count samples"

# Those too large to be written down. Of 512 levels each is shown, of 600 the outermost 512.
expect_line 'nested deeper than 512: 88$' deep.perfetto.err
expect_line '88 events nested deeper than 512 are not shown' deep.perfetto
expect_equal 512 "$(grep -c '^10/11 .* begin' deep.perfetto)" "levels"
expect_equal 512 "$(grep -c '^10/12 .* begin' deep.perfetto)" "levels of the deeper one"
expect_equal 512 "$(grep -c '^10/12 .* end' deep.perfetto)" "ends of the deeper one"
expect_equal 1024 "$(grep -c '"ph":"X"' deep.json)" "levels in JSON"
expect_equal 511 "$(grep -c 'instant test:crowd' many_instants.perfetto)" "instants in a slice"
expect_line 'nested deeper than 512: 89$' many_instants.perfetto.err
expect_line '^10/11 @20 begin test:after$' many_instants.perfetto

# What is left out is said.
expect_line 'ends without a begin: 2$' unmatched.json.err
expect_line 'async ends without a begin: 1$' asyncs.json.err
expect_line 'counter values that are no numbers: 1$' counters.json.err
expect_line 'time is out of range: 2$' bad_times.json.err
expect_line 'embedded Perfetto blobs that are malformed: 1$' bad_embedded.perfetto.err

expect_line 'put in: switches that must have been lost: 1$' sched_gap.perfetto.err
expect_line 'left out: scheduling on processors .*: 1$' sched_gap.perfetto.err

# The JSON is JSON.
if command -v python3 >/dev/null; then
	for name in $("$sample"); do
		python3 -m json.tool <"$name.json" >/dev/null || fail "$name.json is no JSON"
	done
fi
