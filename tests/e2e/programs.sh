# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Larger real programs from Debian's sources, in any way of having hooks in them; to be read after source.sh.
#
#	program_NAME WAY	builds it in the folder we are in, and says how it is run, always with the same calls, in the array `command'
#
# WAY: `gcc', `clang' or `plugin', or `profiled' (-pg, by gcc), and options of the compiler.
# With few=yes there are tens of thousands of calls in place of up to a million.
few=
PLUGIN=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace.so

# compiler_of WAY ++: its words; `++' for C++.
compiler_of() {
	case $1 in
	plugin*) echo "g${2:-cc} -fplugin=$PLUGIN ${1#plugin} -g -w" ;;
	profiled*) echo "g${2:-cc} -pg ${1#profiled} -g -w" ;;
	# (In C++, doc/CLANG.md says why.)
	clang*-flto*) echo "clang$2 -finstrument-functions${2:+-after-inlining} ${1#clang} $(! command -v ld.lld >/dev/null || echo -fuse-ld=lld) -g -w" ;;
	clang*) echo "clang$2 -finstrument-functions${2:+-after-inlining} ${1#clang} -g -w" ;;
	*) echo "g${2:-cc} -finstrument-functions ${1#gcc} -g -w" ;;
	esac
}

# compiled WAY OUT++ OPTION...: a name that ends in ++ is a program in C++.
compiled() {
	local way=$1 out=$2 plus=

	shift 2
	[ "$out" = "${out%++}" ] || plus=++
	# shellcheck disable=SC2046 # several words
	$(compiler_of "$way" "$plus") -o "$TEST_DIR/${out%++}" "$@" || fail "$way: ${out%++} cannot be compiled"
}

program_bzip2() {
	local at

	at=$(debian_source bzip2) || fail "no source of bzip2"
	(cd "$at" && compiled "$1" bzip2 -D_FILE_OFFSET_BITS=64 bzip2.c blocksort.c huffman.c crctable.c randtable.c compress.c \
		decompress.c bzlib.c) || exit 1
	head -c "$([ "$few" ] && echo 20000 || echo 300000)" "$FXTRACE" >input
	command=(./bzip2 -c input)
}

program_lua() {
	local at

	at=$(debian_source lua5.4) || fail "no source of lua5.4"
	# What the package's own build would make; and hashes that are the same in every run.
	echo '#define DEB_HOST_MULTIARCH "none"' >lua5.4-deb-multiarch.h
	(cd "$at/src" && compiled "$1" lua -I"$TEST_DIR" '-Dluai_makeseed(L)=1' -DSTRCACHE_N=1 -DSTRCACHE_M=1 -DLUA_USE_POSIX \
		-DLUA_USE_DLOPEN l[!u]*.c lu[!a]*.c lua.c -lm -ldl) || exit 1
	cat >work.lua <<END
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, ${few:+300 or }3000 do t[#t + 1] = tostring(i):rep(3) end
table.sort(t)
print(fib(${few:+8 or }15), #table.concat(t))
END
	command=(./lua work.lua)
}

program_sqlite3() {
	local at

	need tclsh make
	if [ ! -e sqlite/shell.c ]; then
		at=$(debian_source sqlite3) || fail "no source of sqlite3"
		mkdir sqlite
		(cd sqlite && "$at/configure" --disable-tcl && make sqlite3.c shell.c) >made 2>&1 || fail "no amalgamation of sqlite3"
	fi
	(cd sqlite && compiled "$1" sqlite3 -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -I. sqlite3.c shell.c -lm) || exit 1
	cat >work.sql <<END
create table t(a integer primary key, b text, c integer);
with recursive n(i) as (select 1 union all select i + 1 from n where i < $([ "$few" ] && echo 20 || echo 400))
  insert into t select i, hex(i * i), i % 17 from n;
create index by_c on t(c);
select c, count(*), max(b) from t group by c order by 2, 1;
select count(*) from t x, t y where x.c = y.a;
END
	command=(./sqlite3 :memory: '.read work.sql')
}

# With code of its own for all templates: hooks are told the address of the C++ library's where that has the same, which is another module's.
program_ninja() {
	local at sources

	at=$(debian_source ninja-build) || fail "no source of ninja"
	sources=$(cd "$at/src" && echo ./*.cc | tr ' ' '\n' | grep -vE 'test\.cc|\.in\.cc|_bench|win32|browse|msvc|getopt|minidump|includes_norm')
	# shellcheck disable=SC2086 # several files
	(cd "$at/src" && compiled "$1" ninja++ -std=c++14 -D_GLIBCXX_EXTERN_TEMPLATE=0 $sources -pthread) || exit 1
	awk 'BEGIN {
		print "rule r\n  command = cp $in $out"
		for (i = 0; i < 200; i++) print "build out" i ": r in" i % 7
		printf "build all: phony"; for (i = 0; i < 200; i++) printf " out" i; print ""
	}' >build.ninja
	command=(./ninja -t query all)
}

# A server: what it is told, and when, is its caller's. What it is linked with has no hooks, nor has what its threads call a million times
# while they have nothing to do.
program_redis() {
	local at sources includes libraries=redis/libraries

	at=$(debian_source redis) || fail "no source of redis"
	# (Of what headers have inline, hooks are told the address of libc's, which is another module's.)
	includes="-D__NO_INLINE__ -I$TEST_DIR/redis -I$at/deps/hiredis -I$at/deps/lua/src -I$at/deps/hdr_histogram -I$at/src"
	mkdir -p $libraries redis/objects
	if [ ! -e redis/release.h ]; then
		printf '#define REDIS_%s "0"\n' GIT_SHA1 GIT_DIRTY BUILD_ID BUILD_ID_RAW >redis/release.h
		# shellcheck disable=SC2086 # several words
		(cd $libraries && gcc -O1 -w $includes -DHDR_MALLOC_INCLUDE='"hdr_redis_malloc.h"' -DENABLE_CJSON_GLOBAL -D_GNU_SOURCE -c \
			"$at"/deps/hiredis/{alloc,async,hiredis,net,read,sds,sockcompat}.c "$at"/deps/hdr_histogram/hdr_histogram.c \
			"$at"/deps/lua/src/{fpconv,strbuf,lua_*,lundump,l[!u]*}.c) || fail "what redis is linked with cannot be compiled"
	fi
	sources=$(sed -n 's/^REDIS_SERVER_OBJ=//p' "$at/src/Makefile" | tr ' ' '\n' |
		sed "s,^,$at/src/,; s/o$/c/; s,^.*/networking\.c,$TEST_DIR/redis/networking.c,")
	sed 's/^static inline .*getIOPendingCount/__attribute__((no_instrument_function)) &/' "$at/src/networking.c" >redis/networking.c
	# shellcheck disable=SC2046,SC2086 # several words
	(cd redis/objects && rm -f ./*.o && echo "$sources" | xargs -n 1 -P 2 $(compiler_of "$1" '') -std=gnu11 $includes -c) ||
		fail "$1: redis cannot be compiled"
	(cd redis && compiled "$1" redis-server -rdynamic objects/*.o libraries/*.o -lm -ldl -pthread) || exit 1
	# shellcheck disable=SC2034 # for who reads this
	command=(./redis-server)
}
