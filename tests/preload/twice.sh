#!/bin/bash
# SPDX-License-Identifier: MIT
# Each run is recorded twice, by tests/preload/second.c and by libfxtrace.so behind it: the same calls, in the same
# order, at the same depth, whatever way they are left. In `make check' small programs; with FX_SUITES=all, as `make
# check-suites' does, in more ways of compiling, and real programs, built from Debian's sources.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/source.sh"

CALLTREE=$FX_BUILDDIR/tests/e2e/calltree
SECOND_SO=$FX_BUILDDIR/.libs/libsecond.so

[ "$(uname -m)" = x86_64 ] || skip "the second recorder is of x86-64"
need nm

# expect_twice LEAST PROGRAM...: at least so many calls. What the symbols of the program do not tell (what a library has as
# well may be called there), a fifth at most, is compared by order and depth alone; names are cut as archives cut them.
expect_twice() {
	local least=$1

	shift
	rm -f second.log
	expect_ok "$FXTRACE" run -q -c function --on-full block -b 16M -o trace.fxt -- \
		env SECOND="$PWD/second.log" LD_PRELOAD="$SECOND_SO:$LIBFXTRACE" "$@" </dev/null
	expect_clean trace.fxt
	nm -C "$1" >symbols
	"$CALLTREE" hooks second.log symbols | sort -s -k1,1n | cut -c1-500 >second.tree
	"$CALLTREE" archive trace.fxt | sort -s -k1,1n | cut -c1-500 >calls
	awk 'NR == FNR { split($0, f, " "); if (f[3] == "?") nameless[FNR] = 1; next }
		{ print FNR in nameless ? $1 " " $2 " ?" : $0 }' second.tree calls >trace.tree
	[ "$(wc -l <second.tree)" -ge "$least" ] || fail "$*: the second recorder saw $(wc -l <second.tree) calls"
	[ $(($(grep -c ' ?$' second.tree) * 5)) -lt "$(wc -l <second.tree)" ] ||
		fail "$*: $(grep -c ' ?$' second.tree) of $(wc -l <second.tree) calls have no name"
	expect_same_file second.tree trace.tree
	echo "$*: $(wc -l <trace.tree) calls, the same"
}

# small_programs OPTION...: by each compiler that there is.
small_programs() {
	local name=$* compiler cxx

	name=${name//[ =]/}
	while read -r compiler cxx; do
		if command -v "$compiler" >/dev/null; then
			"$compiler" "$@" -w -D_GNU_SOURCE -finstrument-functions -pthread \
				"$FX_SRCDIR/tests/preload/twice.c" -o "c-$compiler$name" || fail "$compiler $*"
			expect_twice 2000 "./c-$compiler$name"
			tried=1
		fi
		if command -v "$cxx" >/dev/null; then
			"$cxx" "$@" -w -finstrument-functions -pthread \
				"$FX_SRCDIR/tests/preload/twice.cc" -o "cc-$compiler$name" || fail "$cxx $*"
			expect_twice 4000 "./cc-$compiler$name"
		fi
	done <<<"$compilers"
}

compilers=$'gcc g++\nclang clang++'

tried=
small_programs -O0
small_programs -O2
[ -n "$tried" ] || skip "neither gcc nor clang is installed"
case ,${FX_SUITES-}, in
*,all,* | *,twice,*) ;;
*) exit 0 ;;
esac

small_programs -O1 -fno-omit-frame-pointer
small_programs -O3 -fcf-protection=full
small_programs -Os -fPIE -pie
small_programs -O2 -static-libgcc

missing= # of what no source can be had

# real NAME LEAST COMMAND...: a program of Debian's sources, by the function make_NAME OPTIONS, in its folder.
real() {
	local name=$1 least=$2 tree options CC CXX

	shift 2
	tree=$(debian_source "$name") || {
		missing+=" $name"
		return
	}
	while read -r CC CXX; do
		command -v "$CC" >/dev/null || continue
		for options in -O0 -O2; do
			rm -rf built
			cp -r "$tree" built
			(cd built && "make_${name//-/_}" $options) >log 2>&1 </dev/null ||
				fail "$name $CC $options: $(tail -n 5 log)"
			expect_twice "$least" "$@"
		done
	done <<<"$compilers"
}

instrument='-w -g -finstrument-functions'

make_jq() {
	autoreconf -fi
	./configure --disable-docs --disable-maintainer-mode --enable-static --disable-shared --with-oniguruma=no \
		CC="$CC" CFLAGS="$1 $instrument" &&
		make -j2 src/builtin.inc src/version.h && make -j2 jq
}

make_expat() {
	cd expat && autoreconf -fi || return
	./configure --disable-shared --without-docbook CC="$CC" CXX="$CXX" CFLAGS="$1 $instrument" && make -j2 -C lib &&
		make -j2 -C xmlwf
}

make_pigz() {
	make pigz CC="$CC" CFLAGS="$1 $instrument" LDFLAGS=
}

make_ninja_build() {
	# shellcheck disable=SC2046 # a list of files
	"$CXX" "$1" -w -finstrument-functions -pthread -o ninja \
		$(find src -name '*.cc' ! -name '*.in.cc' ! -name '*test*' ! -name '*bench*' ! -name '*win32*' \
			! -name '*-win*' ! -name 'minidump*' ! -name 'msvc*' ! -name 'includes_normalize*' \
			! -name 'getopt*' ! -name 'browse*' ! -name '*perf*')
}

seq 1 300 | awk 'BEGIN { print "[" } { print (NR > 1 ? "," : "") "{\"a\":" $1 ",\"b\":[1,2,{\"c\":\"x" $1 "\"}]}" } END { print "]" }' \
	>input.json
real jq 10000 built/jq 'map(select(.a % 3 == 0) | .b[2].c) | map(try error(.) catch .) | length' input.json
awk 'BEGIN { print "<r>"; for (i = 0; i < 500; i++) print "<e a=\"" i "\">t&amp;" i "</e>"; print "</r>" }' >input.xml
real expat 5000 built/expat/xmlwf/xmlwf input.xml
head -c 1000000 "$FXTRACE" >input
real pigz 200 built/pigz -kcf -p 2 input
{
	printf 'rule copy\n  command = cp $in $out\n'
	for i in $(seq 40); do
		echo "build out$i: copy input.xml"
	done
} >build.ninja
real ninja-build 10000 built/ninja -n -v
[ -z "$missing" ] || skip "no source of$missing can be had"
