#!/bin/bash
# SPDX-License-Identifier: MIT
# doc/CLANG.md is true: its commands print what it shows; by each of the ways each call of each function is there, with and without -O; and
# what it says of std::string is so, or that line is to go.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/document.sh"
need clang++
not_sanitized "what clang makes is the same"
PLUGIN=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace-clang.so
[ -e "$PLUGIN" ] || skip "clang's plugin was not built"

document_begin "$FX_SRCDIR/doc/CLANG.md"
sed "s|^clang_plugin=.*|clang_plugin='$PLUGIN'|" "$FX_BUILDDIR/compiler-plugin/fxtrace-config" >path/fxtrace-config
chmod +x path/fxtrace-config
ln -s "$(command -v clang++)" path/clang++
[ "$files" = 1 ] && [ "$steps" = 5 ] || fail "$files files, $steps commands"
document_run

ways=0
for optimise in -O0 -O2 '-O2 -flto -fuse-ld=lld'; do
	[[ $optimise != *lld* ]] || command -v ld.lld >/dev/null || continue
	for way in "$(fxtrace-config --cflags --clang-plugin)" "$(fxtrace-config --cflags --clang-plugin when=early)" -finstrument-functions-after-inlining; do
		# shellcheck disable=SC2086 # several options
		clang++ $optimise $way -o threes work/threes.cc || fail "clang++ $optimise $way"
		./threes >plain
		expect_ok "$FXTRACE" run -c function -o threes.fxt -- ./threes
		expect_same_file plain out
		expect_clean threes.fxt
		"$FXTRACE" report --functions --top 0 --json threes.fxt >told || fail "no report"
		tr '{' '\n' <told | sed -nE 's/.*"calls": ([0-9]+).*"name": "(main|low|high|fails)(\(int\))?".*/\1 \2/p' | sort >got
		printf '%s\n' '1 main' '100 fails' '100 high' '250 low' >want
		expect_same_file want got
		"$FXTRACE" report --functions threes.fxt >told
		expect_no_line 'have no end' told
		ways=$((ways + 1))
	done
done
echo "$ways ways"

# What the page says of std::string; other releases may have mended it.
cat >string.cc <<'END'
#include <string>
int main(int, char **argv) { return std::string(argv[0], argv[0] + 1).size() != 1; }
END
if ! clang++ -O2 -finstrument-functions -o string string.cc 2>linked; then
	expect_line '_M_use_local_data' linked
elif clang++ --version | grep -q 'version 14\.' && echo '#include <string>' | clang++ -E -dM -x c++ - | grep -q '_GLIBCXX_RELEASE 12'; then
	fail "std::string links with -finstrument-functions"
fi
clang++ -O2 -finstrument-functions-after-inlining -o string string.cc && ./string || fail "std::string, after inlining"
