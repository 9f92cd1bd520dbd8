#!/bin/bash
# SPDX-License-Identifier: MIT
# Real programs from Debian's sources, every function instrumented: unharmed, and the call tree in the
# archive equals, call for call, what an independent logger of the same hooks recorded.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/source.sh"
. "$FX_SRCDIR/tests/e2e/samecalls.sh"

need apt-get dpkg-source nm setarch
for optimise in -O0 -O2; do
	bzip2=$(debian_source bzip2) || skip "no source of bzip2 can be had"
	(
		cd "$bzip2" &&
			compile "$TEST_DIR/bzip2" "$optimise" -w -finstrument-functions \
				-D_FILE_OFFSET_BITS=64 bzip2.c blocksort.c huffman.c crctable.c \
				randtable.c compress.c decompress.c bzlib.c
	) || exit 1
	head -c 300000 "$FXTRACE" >input
	expect_same_calls "bzip2 $optimise" ./bzip2 -c input

	lua=$(debian_source lua5.4) || skip "no source of lua5.4 can be had"
	# What the package's own build would make; and hashes that are the same in every run.
	echo '#define DEB_HOST_MULTIARCH "none"' >lua5.4-deb-multiarch.h
	# shellcheck disable=SC2086 # the compiler may come with options of its own
	(
		cd "$lua/src" &&
			$FX_CC -o "$TEST_DIR/lua" $optimise -w -finstrument-functions \
				-I"$TEST_DIR" '-Dluai_makeseed(L)=1' \
				-DSTRCACHE_N=1 -DSTRCACHE_M=1 -DLUA_USE_POSIX -DLUA_USE_DLOPEN l[!u]*.c lu[!a]*.c lua.c -lm -ldl
	) || fail "cannot compile lua"
	cat >work.lua <<'END'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 3000 do t[#t + 1] = tostring(i):rep(3) end
table.sort(t)
-- left by longjmp: errors and yields
local caught = 0
for i = 1, 200 do
  local ok = pcall(function() local function deep(n) if n == 0 then error("x") end deep(n - 1) end deep(20) end)
  if not ok then caught = caught + 1 end
end
local co = coroutine.wrap(function() for i = 1, 50 do coroutine.yield(i) end end)
local sum = 0
for i = 1, 50 do sum = sum + co() end
-- end
print(fib(15), #table.concat(t), caught, sum)
END
	expect_unharmed 0 ./lua work.lua
	expect_line '610' traced.out
	# For a call that is left by longjmp the logger has no exit, so the comparison leaves those out.
	sed '/^-- left/,/^-- end/d; s/, caught, sum//' work.lua >plain.lua
	expect_same_calls "lua $optimise" ./lua plain.lua
done
