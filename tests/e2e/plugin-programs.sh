#!/bin/bash
# SPDX-License-Identifier: MIT
# Real programs from Debian's sources, built with GCC's plugin: unharmed, and the call tree in the archive equals, call for call,
# what an independent logger at the same gates recorded.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/source.sh"
. "$FX_SRCDIR/tests/e2e/samecalls.sh"
need apt-get dpkg-source nm setarch

PLUGIN=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace.so
[ -e "$PLUGIN" ] || skip "the plugin was not built"
bzip2=$(debian_source bzip2) || skip "no source of bzip2 can be had"
lua=$(debian_source lua5.4) || skip "no source of lua5.4 can be had"
head -c 300000 "$FXTRACE" >input
# What the package's own build would make; and hashes that are the same in every run.
echo '#define DEB_HOST_MULTIARCH "none"' >lua5.4-deb-multiarch.h
cat >work.lua <<'END'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 3000 do t[#t + 1] = tostring(i):rep(3) end
table.sort(t)
print(fib(15), #table.concat(t))
END
for optimise in -O0 '-O3 -flto=auto'; do
	# shellcheck disable=SC2086 # several options
	(
		cd "$bzip2" &&
			compile "$TEST_DIR/bzip2" $optimise -w -fplugin="$PLUGIN" -D_FILE_OFFSET_BITS=64 bzip2.c blocksort.c huffman.c \
				crctable.c randtable.c compress.c decompress.c bzlib.c
	) || exit 1
	expect_same_calls "bzip2 $optimise" ./bzip2 -c input
	# shellcheck disable=SC2086 # the compiler may come with options of its own
	(
		cd "$lua/src" &&
			$FX_CC -o "$TEST_DIR/lua" $optimise -w -fplugin="$PLUGIN" -I"$TEST_DIR" '-Dluai_makeseed(L)=1' \
				-DSTRCACHE_N=1 -DSTRCACHE_M=1 -DLUA_USE_POSIX -DLUA_USE_DLOPEN l[!u]*.c lu[!a]*.c lua.c -lm -ldl
	) || fail "cannot compile lua"
	expect_same_calls "lua $optimise" ./lua work.lua
done
