#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs built with clang's -fxray-instrument, with --patch: each call is in the archive with its end, as the program counts them and
# in the same tree as hooks see; its results are the same. Sleds are changed while threads execute them.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/control.sh"
[ "$(uname -m)" = x86_64 ] || skip "sleds are known on x86-64"
command -v clang++ >/dev/null || skip "there is no clang++"
sleds=(-fxray-instrument -fxray-instruction-threshold=1 -w)
echo 'int main(void) { return 0; }' >empty.c
clang "${sleds[@]}" -o empty empty.c 2>/dev/null || skip "this clang makes no sleds"

target=$FX_SRCDIR/tests/e2e/targets/sledded.cpp

# calls ARCHIVE: "CALLS NAME" of what the report says, sorted.
calls() {
	"$FXTRACE" report --functions --top 0 --json "$1" >report.json || fail "no report: $(head -n 5 report.json)"
	tr '{' '\n' <report.json | sed -nE 's/.*"calls": ([0-9]+).*"name": "([a-z_0-9]+)".*/\1 \2/p' | sort
}

# tree ARCHIVE: "CALLS NAME/NAME/..." of the calls of all threads, sorted.
tree() {
	"$FXTRACE" report --tree --top 0 --json "$1" >report.json || fail "no report: $(head -n 5 report.json)"
	sed -nE 's/.*"calls": ([0-9]+), "name": "([a-z_0-9]+)"(, "depth": ([0-9]+))?.*/\1 \2 \4/p' report.json | awk '{
		names[$3 + 0] = $2
		path = names[0]
		for (i = 1; i <= $3 + 0; i++)
			path = path "/" names[i]
		print $1, path
	}' | sort
}

# expect_counted ARCHIVE PRINTED: the calls that the program has counted, and those of its child, which it does not count.
expect_counted() {
	{
		grep -E '^[0-9]+ [a-z_]+$' "$2"
		echo '1 main'
		sed -n 's/ part$/ helper_one/p' "$2"
	} | awk '$2 == "recursive" { $1 += 15 } 1' | sort >want
	calls "$1" | grep -v ' busy_part$' >got
	expect_same_file want got
	"$FXTRACE" report --functions --top 0 "$1" >told
	expect_no_line 'have no end' told
}

echo 'int helper_one(int a) { return a * 2; } int part(int a) { return helper_one(a) + 1; }' >one.c
# Before glibc 2.35 modules that are loaded later are not known, nor the names of what is in them.
libraries=(./one.so ./busy.so)
glibc_since 35 || libraries=()

for optimise in -O0 -O2 "-O2 -fcf-protection -fomit-frame-pointer"; do
	# shellcheck disable=SC2086 # several
	{
		clang "${sleds[@]}" $optimise -fno-inline -fPIC -shared -o one.so one.c &&
			clang "${sleds[@]}" $optimise -fPIC -shared -o busy.so "$FX_SRCDIR/tests/e2e/targets/sledded-busy.c" -lpthread &&
			clang++ "${sleds[@]}" $optimise -o sledded "$target" -lpthread -ldl
	} || fail "clang++ $optimise"
	expect_ok ./sledded
	mv out plain
	expect_ok "$FXTRACE" run --patch -c function -o sledded.fxt -- ./sledded
	expect_same_file plain out
	expect_clean sledded.fxt
	expect_counted sledded.fxt plain
	tree sledded.fxt >tree.sleds
	if [ "$optimise" = -O0 ]; then
		clang++ -DNOTED -finstrument-functions -w -o noted "$target" -lpthread -ldl || fail "clang++"
		expect_ok "$FXTRACE" run -c function -o noted.fxt -- ./noted
		tree noted.fxt >tree.hooks
		expect_same_file tree.hooks tree.sleds
	else
		# Who goes on by a jump has ended.
		for name in sometimes_tail pointed_tail first_tail second_tail even odd; do
			expect_line "^[0-9]+ main/$name\$" tree.sleds
		done
		expect_no_line '_tail/|even/|odd/' tree.sleds
	fi

	[ ${#libraries[@]} = 0 ] || {
		expect_ok "$FXTRACE" run --patch --buffer-size 256K --on-full block -c function -o loaded.fxt -- ./sledded "${libraries[@]}"
		mv out printed
		expect_clean loaded.fxt
		expect_counted loaded.fxt printed
		# Of calls that go on while the code is changed, up to one of each thread has no beginning.
		read -r before all < <(sed -n 's/ before, \(.*\) in all/ \1/p' printed)
		recorded=$(calls loaded.fxt | sed -n 's/ busy_part$//p')
		[ "${recorded:-0}" -ge $((all - before - 6)) ] && [ "$recorded" -le "$all" ] ||
			fail "$recorded calls recorded of $all, $before of which were made before it was loaded"
	}

	expect_ok "$FXTRACE" run --patch -c function --records pairs -o pairs.fxt -- ./sledded
	expect_same_file plain out
	tree pairs.fxt >got
	expect_same_file tree.sleds got

	expect_ok "$FXTRACE" run --patch -c function --filter 'recursive' --filter '*_tail' -o few.fxt -- ./sledded
	expect_same_file plain out
	calls few.fxt >got
	grep -E ' (recursive|.*_tail)$' want >few
	expect_same_file few got

	expect_ok "$FXTRACE" run --patch -c process -o off.fxt -- ./sledded
	expect_same_file plain out
	calls off.fxt >got
	[ ! -s got ] || fail "functions are off, and there are $(head -n 3 got)"
done

# A stripped program has its calls, without names. One with entries alone, or ends alone, has them as others do.
strip -o stripped sledded
expect_ok "$FXTRACE" run --patch -c function -o stripped.fxt -- ./stripped
expect_same_file plain out
"$FXTRACE" report --functions --top 0 stripped.fxt >told
expect_no_line 'have no end' told
"$FXTRACE" report --functions --top 0 --json stripped.fxt | tr '{' '\n' | sed -nE 's/.*"calls": ([0-9]+).*/\1/p' >got
expect_equal "$(awk '!/ (part|helper_one)$/ { sum += $1 } END { print sum }' want)" "$(awk '{ sum += $1 } END { print sum }' got)" "calls of a stripped program"

for part in entry exit; do
	clang++ "${sleds[@]}" -fxray-instrumentation-bundle=function-$part -o half "$target" -lpthread -ldl || fail "clang++: $part"
	expect_ok ./half
	mv out plain
	expect_ok "$FXTRACE" run --patch -c function -o half.fxt -- ./half
	expect_same_file plain out
	"$FXTRACE" report --functions --top 0 half.fxt >told
	if [ $part = entry ]; then
		expect_line 'calls have no end: of these functions' told
		entered=$(calls half.fxt | sed -n 's/ even$//p')
		expect_equal "$(sed -n 's/ even$//p' plain)" "$entered" "entries of even"
	else
		calls half.fxt >got
		expect_equal '' "$(cat got)" "calls of which the ends alone have sleds"
	fi
done

# XRay's own runtime, which changes the same sleds.
expect_ok env XRAY_OPTIONS='patch_premain=true xray_mode=xray-basic xray_logfile_base=./xray-' "$FXTRACE" run --patch -c function -o both.fxt -- ./sledded
grep -v '^==' out >got
expect_same_file plain got

# With a manager that runs already.
manager_start
expect_ok "$FXTRACE" record --patch -o session.fxt -- ./sledded
expect_counted session.fxt plain
manager_stop
