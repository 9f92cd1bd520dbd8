#!/bin/bash
# SPDX-License-Identifier: MIT
# clang's plugin: as plugin.sh of GCC's, programs that are built with it do what they did, and each real call is in the trace, exactly so
# often; and what doc/CLANG.md says of clang's own ways.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/plugin-calls.sh"
need python3 nm readelf strip clang clang++

PLUGIN=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace-clang.so
[ -e "$PLUGIN" ] || skip "clang's plugin was not built"
not_sanitized "what it makes is the same"
with_plugin=(-fpass-plugin="$PLUGIN" -Xclang -load -Xclang "$PLUGIN" -w)
early=(-mllvm -fxtrace-when=early)

built() { # OUT COMPILER OPTION...
	local out=$1

	shift
	"$@" -o "$out" || fail "cannot be compiled: $*"
}

# try WHEN COMPILER SOURCE OPTION...: with these, plain and with the plugin.
try() {
	local when=() compiler=$2 source=$FX_SRCDIR/tests/e2e/$3

	[ "$1" = late ] || when=("${early[@]}")
	built without "$compiler" -w "$source" "${@:4}"
	built with "$compiler" "${with_plugin[@]}" "${when[@]}" "$source" "${@:4}"
	./without >without.out || fail "$*: without the plugin: status $?"
	expect_unharmed 0 ./with
	expect_same_file without.out traced.out
	expect_calls "$*"
	ways=$((ways + 1))
}

ways=0
for optimise in -O0 -O1 -O2 '-O3 -g' -Os '-O2 -flto' '-O2 -fno-plt -no-pie' '-O3 -fomit-frame-pointer -fcf-protection' '-O1 -fstack-protector-all -g'; do
	[[ $optimise != *-flto* ]] || command -v ld.lld >/dev/null || continue
	for when in late early; do
		# shellcheck disable=SC2086 # several options
		try $when clang plugin.c ${optimise/-flto/-flto -fuse-ld=lld}
		# shellcheck disable=SC2086
		try $when clang++ plugin.cc -std=c++20 ${optimise/-flto/-flto -fuse-ld=lld}
	done
done
echo "$ways ways"

# --- Exceptions: seen where they leave, if the code is there before inlining ------------------------

cat >throws.cc <<'END'
#include <cstdio>
#include <string>
__attribute__((noinline)) int thrower(int i) { if (i % 3 == 0) throw i; return i; }
__attribute__((noinline)) int between(int i) { std::string s(20, 'x'); return thrower(i) + (int)s.size(); }
__attribute__((noinline)) int catcher(int i) { try { return between(i); } catch (int) { return -1; } }
int main() { int sum = 0; for (int i = 0; i < 30; i++) sum += catcher(i); std::printf("%d\n", sum); }
END
for optimise in -O0 -O2; do
	for when in '' "${early[*]}"; do
		# shellcheck disable=SC2086 # several options
		built throws clang++ "${with_plugin[@]}" $optimise $when throws.cc
		expect_unharmed 0 ./throws
		counted trace.fxt >counted
		for name in thrower between catcher; do
			grep -qE "^$name(\(int\))? 30$" counted || fail "$optimise $when: $name: $(cat counted)"
		done
		"$FXTRACE" report --functions trace.fxt >told
		expect_no_line 'have no end' told
	done
done

# --- Coroutines: the function that makes one, and its part each time that it goes on ----------------

cat >counts.cc <<'END'
#include <coroutine>
#include <cstdio>
struct numbers {
	struct promise_type {
		int value;
		numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int i) { value = i; return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};
__attribute__((noinline)) numbers counts(int n) { for (int i = 0; i < n; i++) co_yield i; }
int main(int argc, char **)
{
	numbers g = counts(10 * argc);
	int sum = 0;

	while (!g.handle.done()) {
		g.handle.resume();
		sum += g.handle.promise().value;
	}
	g.handle.destroy();
	std::printf("%d\n", sum);
}
END
for optimise in -O0 -O2; do
	for when in '' "${early[*]}"; do
		# shellcheck disable=SC2086 # several options
		built counts clang++ "${with_plugin[@]}" -std=c++20 $optimise $when counts.cc
		expect_unharmed 0 ./counts
		counted trace.fxt | grep '^counts' >counted
		expect_equal 'counts(int) 1 counts(int) [clone .destroy] 1 counts(int) [clone .resume] 11' "$(sort counted | xargs)" "coroutine, $optimise $when"
	done
done

# --- Without a tracer, stripped, in libraries, beside GCC's files ---------------------------------

built alone clang "${with_plugin[@]}" -O2 "$FX_SRCDIR/tests/e2e/plugin.c"
readelf -d alone | grep -q fxtrace && fail "the program needs a library of ours"
built static clang "${with_plugin[@]}" -O2 -static "$FX_SRCDIR/tests/e2e/plugin.c"
./static >static.out || fail "linked statically: status $?"
./alone >alone.out || fail "alone: status $?"
expect_same_file alone.out static.out
strip -o stripped alone
expect_unharmed 0 ./stripped
expect_calls stripped
built lined clang "${with_plugin[@]}" -O1 -g "$FX_SRCDIR/tests/e2e/plugin.c"
strip lined
expect_ok "$FXTRACE" list-functions --csv ./lined
expect_line '^"?recursive"?,[0-9]+,"?[a-z, ]*calls"?,[1-9][0-9]*,.*plugin\.c' out
expect_ok "$FXTRACE" list-functions --csv ./stripped
expect_line '^"?recursive"?,[0-9]+,"?[a-z, ]*calls"?,,.*plugin\.c' out

cat >part.c <<'END'
__attribute__((noinline)) static int inner(int i) { __asm__ volatile(""); return i + 1; }
int part(int i) { return inner(i) + inner(i); }
END
echo 'int part(int); int main(void) { return part(1) != 4; }' >uses.c
built libpart.so clang "${with_plugin[@]}" -O2 -shared -fPIC part.c
built uses clang "${with_plugin[@]}" uses.c "$PWD/libpart.so"
expect_unharmed 0 ./uses
counted trace.fxt >counted
expect_equal 'inner 2 main 1 part 1' "$(xargs <counted)" "with a library"
GCC_PLUGIN=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace.so
if [ -e "$GCC_PLUGIN" ]; then
	built part.o clang "${with_plugin[@]}" -O2 -c part.c
	compile uses.o -fplugin="$GCC_PLUGIN" -O2 -c uses.c
	for first in 'uses.o part.o' 'part.o uses.o'; do
		# shellcheck disable=SC2086 # two files
		built both clang $first
		expect_unharmed 0 ./both
		counted trace.fxt >counted
		expect_equal 'inner 2 main 1 part 1' "$(xargs <counted)" "by both compilers: $first"
	done
fi
for linker in gold lld; do
	command -v "ld.$linker" >/dev/null || continue
	built other clang "${with_plugin[@]}" -O2 -fuse-ld=$linker -Wl,--gc-sections -ffunction-sections "$FX_SRCDIR/tests/e2e/plugin.c"
	expect_unharmed 0 ./other
	expect_calls "ld.$linker"
done

# --- Which functions -------------------------------------------------------------------------------

# chosen ARGUMENT...: the functions of plugin.c that have the code.
chosen() {
	local argument options=()

	rm -f list
	for argument in "$@"; do
		options+=(-mllvm "-fxtrace-$argument")
	done
	built some clang "${with_plugin[@]}" -O1 -mllvm "-fxtrace-list=$PWD/list" "${options[@]}" "$FX_SRCDIR/tests/e2e/plugin.c"
	[ -e list ] || : >list
	cut -f1 list | sort
}

expect_choices
cat >attributes.c <<'END'
#define NOTE(text) __attribute__((noinline, annotate(text)))
NOTE("fxtrace_always") static int always(int i) { __asm__ volatile(""); return i; }
NOTE("fxtrace_never") static int never(int i) { __asm__ volatile(""); return i; }
NOTE("") static int other(int i) { __asm__ volatile(""); return i; }
int main(int argc, char **argv) { return always(0) + never(0) + other(0) + !argv; }
END
built attributes clang "${with_plugin[@]}" -O1 -mllvm -fxtrace-min-size=1000 attributes.c
expect_unharmed 0 ./attributes
expect_equal 'always 1' "$(counted trace.fxt | xargs)" "annotations, min-size=1000"
built attributes clang "${with_plugin[@]}" -O1 attributes.c
expect_unharmed 0 ./attributes
expect_equal 'always 1 main 1 other 1' "$(counted trace.fxt | xargs)" "annotations"

# refused TEXT OPTION...: the compiler says so, and makes nothing.
refused() {
	local text=$1

	shift
	if clang "${with_plugin[@]}" "$@" -c -o refused.o part.c >refused.log 2>&1; then
		fail "not refused: $*"
	fi
	grep -q -- "$text" refused.log || fail "$*: no '$text' in: $(cat refused.log)"
}

refused 'fxtrace-nonsense' -mllvm -fxtrace-nonsense=1
refused 'not a number' -mllvm -fxtrace-min-size=many
refused 'not loop or call' -mllvm -fxtrace-need=sleep
refused 'not late or early' -mllvm -fxtrace-when=never
refused 'cannot be read' -mllvm -fxtrace-functions=@nothing
refused 'cannot be written' -mllvm -fxtrace-list=/nothing/here
refused 'is not known before' "${early[@]}" -mllvm -fxtrace-need=loop
refused 'is not known before' -mllvm -fxtrace-need=loop "${early[@]}"
refused 'recorded twice' -finstrument-functions
refused 'on one stack' -fsplit-stack
