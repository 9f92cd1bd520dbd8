#!/bin/bash
# SPDX-License-Identifier: MIT
# calls.sh [PROGRAM...]: larger real programs (bzip2, lua, sqlite3 and ninja, in C++, from Debian's sources) in more ways than `make check' has
# the time for: by gcc, with optimisation at link time, by clang, and with GCC's plugin. The call tree in the archive equals, call for
# call, what an independent logger of the same hooks recorded. What an archive takes for a call is shown, too. FX_WAYS: some of the ways,
# divided by commas; FX_BUILDDIR is a build whose test programs are there.
FX_SRCDIR=${FX_SRCDIR:-$(cd "$(dirname "$0")/.." && pwd)}
export FX_SRCDIR
: "${FX_CC:=gcc}"
. "$FX_SRCDIR/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/source.sh"
. "$FX_SRCDIR/tests/e2e/samecalls.sh"
need apt-get dpkg-source nm setarch zstd

PLUGIN=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace.so
ways='gcc -O0,gcc -O2,gcc -O3 -flto=auto,clang -O2,plugin -O2'
IFS=, read -ra ways <<<"${FX_WAYS:-$ways}"

# compiled WAY OUT++ OPTION...: with the hooks of that way; a name that ends in ++ is a program in C++.
compiled() {
	local way=$1 out=$2 compiler plus=

	shift 2
	[ "$out" = "${out%++}" ] || plus=++
	case $way in
	plugin*) compiler="g${plus:-cc} -fplugin=$PLUGIN ${way#plugin}" ;;
	clang*) compiler="clang$plus -finstrument-functions ${way#clang}" ;;
	*) compiler="g${plus:-cc} -finstrument-functions ${way#gcc}" ;;
	esac
	# shellcheck disable=SC2086 # several words
	$compiler -g -w -o "$TEST_DIR/${out%++}" "$@" || fail "$way: ${out%++} cannot be compiled"
}

bytes() {
	local calls

	calls=$(wc -l <traced.tree)
	zstd -q -f -3 trace.fxt -o trace.fxt.zst
	echo "$1: $(($(stat -c %s trace.fxt) * 100 / calls)) hundredths of a byte a call, $(($(stat -c %s trace.fxt.zst) * 100 / calls)) with zstd"
}

same() { # NAME PROGRAM...
	expect_same_calls "$@"
	bytes "$1"
}

run_bzip2() {
	local at

	at=$(debian_source bzip2) || fail "no source of bzip2"
	(cd "$at" && compiled "$1" bzip2 -D_FILE_OFFSET_BITS=64 bzip2.c blocksort.c huffman.c crctable.c randtable.c compress.c \
		decompress.c bzlib.c) || exit 1
	head -c 300000 "$FXTRACE" >input
	same "bzip2, $1" ./bzip2 -c input
}

run_lua() {
	local at

	at=$(debian_source lua5.4) || fail "no source of lua5.4"
	# What the package's own build would make; and hashes that are the same in every run.
	echo '#define DEB_HOST_MULTIARCH "none"' >lua5.4-deb-multiarch.h
	(cd "$at/src" && compiled "$1" lua -I"$TEST_DIR" '-Dluai_makeseed(L)=1' -DSTRCACHE_N=1 -DSTRCACHE_M=1 -DLUA_USE_POSIX \
		-DLUA_USE_DLOPEN l[!u]*.c lu[!a]*.c lua.c -lm -ldl) || exit 1
	cat >work.lua <<'END'
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 3000 do t[#t + 1] = tostring(i):rep(3) end
table.sort(t)
print(fib(15), #table.concat(t))
END
	same "lua, $1" ./lua work.lua
}

run_sqlite3() {
	local at

	need tclsh make
	if [ ! -e sqlite/shell.c ]; then
		at=$(debian_source sqlite3) || fail "no source of sqlite3"
		mkdir sqlite
		(cd sqlite && "$at/configure" --disable-tcl && make sqlite3.c shell.c) >made 2>&1 || fail "no amalgamation of sqlite3"
	fi
	(cd sqlite && compiled "$1" sqlite3 -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -I. sqlite3.c shell.c -lm) || exit 1
	cat >work.sql <<'END'
create table t(a integer primary key, b text, c integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 400)
  insert into t select i, hex(i * i), i % 17 from n;
create index by_c on t(c);
select c, count(*), max(b) from t group by c order by 2, 1;
select count(*) from t x, t y where x.c = y.a;
END
	same "sqlite3, $1" ./sqlite3 :memory: '.read work.sql'
}

run_ninja() {
	local at sources

	at=$(debian_source ninja-build) || fail "no source of ninja"
	sources=$(cd "$at/src" && echo ./*.cc | tr ' ' '\n' | grep -vE 'test\.cc|\.in\.cc|_bench|win32|browse|msvc|getopt|minidump|includes_norm')
	# shellcheck disable=SC2086 # several files
	(cd "$at/src" && compiled "$1" ninja++ -std=c++14 $sources -pthread) || exit 1
	awk 'BEGIN {
		print "rule r\n  command = cp $in $out"
		for (i = 0; i < 200; i++) print "build out" i ": r in" i % 7
		printf "build all: phony"; for (i = 0; i < 200; i++) printf " out" i; print ""
	}' >build.ninja
	same_shape=yes
	same "ninja, $1" ./ninja -t query all
	same_shape=
}

[ $# -gt 0 ] || set -- bzip2 lua sqlite3 ninja
for program; do
	for way in "${ways[@]}"; do
		"run_$program" "$way"
	done
done
