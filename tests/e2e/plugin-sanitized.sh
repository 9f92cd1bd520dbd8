#!/bin/bash
# SPDX-License-Identifier: MIT
# GCC's plugin, built with AddressSanitizer and UndefinedBehaviorSanitizer: it compiles what plugin.sh has, with each of its
# arguments, and refuses what it must, without a report; and the code that it makes is, to the byte, the plugin's.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need g++

PLUGIN=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace.so
[ -e "$PLUGIN" ] || skip "the plugin was not built"
not_sanitized "it is built here as the compiler is"
runtime=$(gcc -print-file-name=libasan.so)
[ -e "$runtime" ] || skip "there is no libasan.so"

# build FOLDER OPTION...: the plugin, in a folder of its own, for the compiler knows it by its file's name.
build() {
	local folder=$1

	shift
	mkdir -p "$folder"
	g++ -shared -fPIC -g -O1 -std=gnu++17 -fno-rtti -fno-exceptions -fsanitize=address,undefined -fno-sanitize-recover=all \
		-I"$(gcc -print-file-name=plugin)/include" -I"$FX_SRCDIR" -I"$FX_SRCDIR/include" -DFX_VERSION='"1"' "$@" \
		"$FX_SRCDIR"/compiler-plugin/*.cc -o "$folder/fxtrace.so"
}
build sanitized

# sanitized_gcc FOLDER OPTION...: leaves the compiler's words in `said`, and its status in $status. The compiler itself frees
# little at its end.
sanitized_gcc() {
	local plugin=$1/fxtrace.so

	shift
	status=0
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD=$runtime gcc -w -fplugin="$plugin" "$@" >said 2>&1 || status=$?
	grep -E 'AddressSanitizer|runtime error' said && fail "$plugin: $*"
	return 0
}

# A plugin with a fault is found out.
cat >fault.cc <<'END'
#include <cstdlib>
__attribute__((constructor)) static void fault()
{
	volatile char *one = (char *)malloc(1);
	one[1] = 0;
}
END
build faulty fault.cc
(sanitized_gcc faulty -fplugin-arg-fxtrace-when=early -S "$FX_SRCDIR/tests/e2e/plugin.c" -o faulty.s) >report 2>&1 &&
	fail "a fault of the plugin was not reported"
grep -q 'fault\.cc:5' report || fail "another fault was reported: $(head -n 3 report)"

# --- What it compiles ------------------------------------------------------------------------------------

printf 'work*\nmain\nsum*\n' >names
made=0
# same ARGUMENT... -- SOURCE OPTION...: with the plugin's arguments, and the compiler's options.
same() {
	local arguments=()

	while [ "$1" != -- ]; do
		arguments+=("-fplugin-arg-fxtrace-$1")
		shift
	done
	shift
	local source=$FX_SRCDIR/tests/e2e/$1

	shift
	rm -f code.s expected.s
	sanitized_gcc sanitized "${arguments[@]}" "$@" -S "$source" -o code.s
	[ "$status" -eq 0 ] || fail "it does not compile: $*: $(head -n 3 said)"
	gcc -w -fplugin="$PLUGIN" "${arguments[@]}" "$@" -S "$source" -o expected.s
	expect_same_file expected.s code.s
	gcc -w "$@" -S "$source" -o plain.s
	cmp -s plain.s code.s && fail "nothing was inserted: ${arguments[*]} $*"
	made=$((made + 1))
}

for when in late early; do
	for optimise in -O0 -O2 '-O3 -fcf-protection -g -gno-record-gcc-switches'; do
		# shellcheck disable=SC2086 # several options
		same when=$when -- plugin.c $optimise
	done
	same when=$when -- plugin.cc -std=c++20 -fopenmp -O2
done
for argument in functions=@names "no-functions=work*,x*" "files=*plugin*" "no-files=/usr/*" min-size=9 need=call need=loop; do
	same "$argument" -- plugin.c -O2
done
echo "$made pieces of code"

# --- What it refuses -------------------------------------------------------------------------------------

for argument in nonsense=1 min-size=many min-size= need=sleep when=never functions=@nothing list=/nothing/here functions= files; do
	sanitized_gcc sanitized "-fplugin-arg-fxtrace-$argument" -S "$FX_SRCDIR/tests/e2e/plugin.c" -o refused.s
	echo "$argument: $status: $(head -n 1 said)"
	[ "$status" -le 1 ] || fail "$argument: the compiler ended with $status"
done
