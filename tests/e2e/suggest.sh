#!/bin/bash
# SPDX-License-Identifier: MIT
# `fxtrace report --suggest': what is called so often and so shortly that it hides the rest; and that what it prints as names
# leaves just that out, of the next run and of the next build.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

cat >prog.cc <<'END'
struct list {
	int items[64];
	__attribute__((noinline)) int &operator[](int i) { return items[i & 63]; }
};
static list all;
static volatile int sink;
__attribute__((noinline)) int tiny(int i) { return i + 1; }
__attribute__((noinline)) int seldom(int i) { return i * 2; }
__attribute__((noinline)) void slow() { for (int i = 0; i < 300000; i++) sink = i; }
int main()
{
	for (int i = 0; i < 30000; i++)
		all[i] = tiny(i);
	for (int i = 0; i < 20; i++)
		sink = seldom(i);
	for (int i = 0; i < 700; i++)
		slow();
	return 0;
}
END
compile prog -O1 -finstrument-functions prog.cc

# slow() is called in a hundredth of all calls, too, but what it does takes longer. On a loaded machine the others may take long as
# well, by waiting for a processor: not each time.
for _ in {1..10}; do
	"$FXTRACE" run -q -c function --on-full block -o all.fxt -- ./prog
	expect_ok "$FXTRACE" report --suggest --csv all.fxt
	[ "$(wc -l <out)" -lt 3 ] || break
done
expect_line '^30000,0\.49[0-9]*,[0-9]+,"tiny\(int\)"' out
expect_equal 3 "$(wc -l <out)" "lines: $(cat out)"
expect_ok "$FXTRACE" report --suggest all.fxt
expect_line '^they are 9[0-9] % of all calls' out

expect_ok "$FXTRACE" report --suggest --names all.fxt
cp out leave-out
sort leave-out >got
printf '%s\n' 'list::operator\[](int)' 'tiny(int)' >want
expect_same_file want got

# names_of ARCHIVE: of the functions in it.
names_of() {
	"$FXTRACE" report --functions --names "$1" | tr -d '\\' | sort | paste -sd' '
}
expect_ok env FXTRACE_NO_TRACE="$(cat leave-out)" "$FXTRACE" run -q -c function -o some.fxt -- ./prog
expect_equal "main seldom(int) slow()" "$(names_of some.fxt)" "of the next run"

# Nothing to leave out is said.
expect_ok "$FXTRACE" report --suggest some.fxt
expect_line '^none is called so often' out
expect_one_error 2 "$FXTRACE" report --names --json some.fxt

PLUGIN=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace.so
[ -e "$PLUGIN" ] || exit 0
not_sanitized "what the plugin makes is the same"
compile built -O1 -fplugin="$PLUGIN" -fplugin-arg-fxtrace-no-functions=@leave-out prog.cc
expect_ok "$FXTRACE" run -q -c function -o built.fxt -- ./built
expect_equal "main seldom(int) slow()" "$(names_of built.fxt)" "of the next build"
