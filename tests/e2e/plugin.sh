#!/bin/bash
# SPDX-License-Identifier: MIT
# GCC's plugin: programs that are built with it do what they did, each real call is in the trace, exactly so often, and without
# libfxtrace.so there is nothing to link or load. plugin.c and plugin.cc have each kind of function.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/plugin-calls.sh"
need python3 nm readelf strip

PLUGIN=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace.so
[ -e "$PLUGIN" ] || skip "the plugin was not built"
not_sanitized "what it makes is the same"
with_plugin=(-fplugin="$PLUGIN" -w)
early=-fplugin-arg-fxtrace-when=early

# try WHAT SOURCE OPTION...: with these, plain and with the plugin.
try() {
	local what=$1 source=$FX_SRCDIR/tests/e2e/$2 option plain=()

	shift 2
	for option in "$@"; do
		[ "$option" = "$early" ] || plain+=("$option")
	done
	compile without -w "$source" "${plain[@]}"
	compile with "${with_plugin[@]}" "$source" "$@"
	./without >without.out || fail "$what: without the plugin: status $?"
	expect_unharmed 0 ./with
	expect_same_file without.out traced.out
	expect_calls "$what $*"
}

ways=0
for optimise in -O0 -O1 -O2 -O3 -Os '-O2 -flto' '-O2 -fno-plt -no-pie' '-O3 -fomit-frame-pointer -fcf-protection' \
	'-O1 -fstack-protector-all -g'; do
	for when in '' $early; do
		# shellcheck disable=SC2086 # several options
		try C plugin.c $optimise $when
		# shellcheck disable=SC2086
		try C++ plugin.cc -std=c++20 -fopenmp $optimise $when
		ways=$((ways + 2))
	done
done
echo "$ways ways"

# Coroutines that hand on to one another do so by jumps, and need no stack for it.
cat >chain.cc <<'END'
#include <coroutine>
#include <cstdio>
struct hop {
	std::coroutine_handle<> next;
	bool await_ready() { return false; }
	std::coroutine_handle<> await_suspend(std::coroutine_handle<>) { return next; }
	void await_resume() {}
};
struct player {
	struct promise_type {
		player get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};
static std::coroutine_handle<> players[2];
static long turns = 1000000;
static player play(int other)
{
	while (turns-- > 0)
		co_await hop{players[other]};
}
int main()
{
	player a = play(1), b = play(0);
	players[0] = a.handle;
	players[1] = b.handle;
	a.handle.resume();
	std::printf("%ld\n", turns);
	a.handle.destroy();
	b.handle.destroy();
}
END
for when in '' $early; do
	for optimise in -O2 -O3; do
		# shellcheck disable=SC2086 # none, or one
		compile chain "${with_plugin[@]}" -std=c++20 $optimise $when chain.cc
		./chain >alone.out || fail "a chain of coroutines, $optimise $when: status $?"
		expect_unharmed 0 ./chain
		expect_same_file alone.out traced.out
	done
done

# --- Without a tracer ------------------------------------------------------------------------------

# Nothing is linked with, and the gate is shut: also where nothing can be loaded.
compile alone "${with_plugin[@]}" -O2 "$FX_SRCDIR/tests/e2e/plugin.c"
readelf -d alone | grep -q fxtrace && fail "the program needs a library of ours"
compile static "${with_plugin[@]}" -O2 -static "$FX_SRCDIR/tests/e2e/plugin.c"
./static >static.out || fail "linked statically: status $?"
./alone >alone.out || fail "alone: status $?"
expect_same_file alone.out static.out

# --- Names -----------------------------------------------------------------------------------------

strip -o stripped alone
expect_unharmed 0 ./stripped
expect_calls stripped
expect_ok "$FXTRACE" doctor -- ./stripped
# What is called is listed, with its file and line; a filter shows what it would choose; both also of the stripped one.
expect_ok "$FXTRACE" list-functions --csv ./stripped
cp out listed
while read -r name _; do
	grep -qE "^\"?$name(\(.*\))?\"?," listed || fail "list-functions: no $name: $(cat listed)"
done < <(grep -v '^sum' traced.out)
expect_line '^"?recursive"?,[0-9]+,"?[a-z, ]*calls"?,[0-9]+,.*plugin\.c' listed
expect_ok "$FXTRACE" list-functions --json -F 'recur*' -F 'stripped:plain' -F 'other:variadic' ./stripped
expect_equal "plain recursive" "$(python3 -c 'import json
print(" ".join(sorted(r["name"] for r in json.load(open("out"))["functions"]["rows"])))')" "by filter"
expect_no_line 'own functions|module\+0x' out
expect_ok "$FXTRACE" doctor -- ./alone
expect_no_line 'own functions' out

# --- Libraries -------------------------------------------------------------------------------------

cat >part.c <<'END'
__attribute__((noipa)) static int inner(int i) { return i + 1; }
int part(int i) { return inner(i) + inner(i); }
END
cat >opens.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	void *handle = dlopen("./libpart.so", RTLD_NOW);
	int (*part)(int) = handle ? (int (*)(int))dlsym(handle, "part") : NULL;

	printf("%d\n", part ? part(3) : -1);
	return 0;
}
END
compile libpart.so "${with_plugin[@]}" -O2 -shared -fPIC part.c
compile opens opens.c -ldl
expect_unharmed 0 ./opens
expect_line '^8$' traced.out
counted trace.fxt >counted
expect_line '^inner 2$' counted
expect_line '^part 1$' counted
echo 'int part(int); int main(void) { return part(1) != 4; }' >uses.c
compile uses "${with_plugin[@]}" uses.c "$PWD/libpart.so"
expect_unharmed 0 ./uses
counted trace.fxt >counted
expect_line '^main 1$' counted
expect_line '^inner 2$' counted
for linker in gold lld; do
	command -v "ld.$linker" >/dev/null || continue
	compile other "${with_plugin[@]}" -O2 -fuse-ld=$linker -Wl,--gc-sections -ffunction-sections "$FX_SRCDIR/tests/e2e/plugin.c"
	expect_unharmed 0 ./other
	expect_calls "ld.$linker"
done

# --- Optimised at link time ------------------------------------------------------------------------

# The plugin's late code is made where the linker has the code made. Where it is not there, that is said; the early code is there already.
echo 'int part(int i) { return i + 3; } int apart_unused(void) { return 1; }' >apart.c
listed_names() {
	sed -n 's/^"\{0,1\}\([a-z_]*\)"\{0,1\},[0-9].*/\1/p' out | sort | xargs
}
# linked WHEN FORM OPTION...: compiled so, linked with these options.
linked() {
	local file

	for file in uses apart; do
		compile $file.o -c -O2 -flto "$2" "${with_plugin[@]}" -fplugin-arg-fxtrace-when="$1" $file.c
	done
	compile linked -O2 "${@:3}" uses.o apart.o
	expect_unharmed 0 ./linked
	counted trace.fxt >counted
	expect_ok "$FXTRACE" doctor -- ./linked
	cp out doctored
}
for form in -fno-fat-lto-objects -ffat-lto-objects; do
	for way in '-flto' '-flto -flto-partition=max'; do
		# shellcheck disable=SC2086 # several options
		linked late $form $way "${with_plugin[@]}"
		expect_line '^main 1$' counted
		expect_no_line 'linked without' doctored
		# shellcheck disable=SC2086
		linked late $form $way
		expect_equal '' "$(cat counted)" "calls of what was linked without the plugin"
		expect_line '^\./linked: partial: .*-flto.*linked without the plugin.*; cure: .*-fplugin' doctored
		expect_one_error 1 "$FXTRACE" list-functions ./linked
		expect_line 'linked without the plugin; give the linker -fplugin' err
		strip linked
		expect_ok "$FXTRACE" doctor -- ./linked
		expect_line 'linked without the plugin' out
		# shellcheck disable=SC2086
		linked early $form $way
		expect_line '^main 1$' counted
		expect_line '^part 1$' counted
		expect_no_line 'linked without|own functions' doctored
		# Which of them the linker has left is listed; of the stripped file, which there were.
		expect_ok "$FXTRACE" list-functions --csv ./linked
		expect_equal 'main part' "$(listed_names)" "listed, early $form $way"
		expect_line '^"?part"?,[0-9]+,"?early"?,1,.*apart\.c' out
		strip -o fewer linked
		expect_ok "$FXTRACE" list-functions --csv ./fewer
		expect_equal 'apart_unused main part' "$(listed_names)" "listed of the stripped one, early $form $way"
		expect_ok "$FXTRACE" list-functions ./fewer
		expect_line '3 were compiled with -flto' out
		# shellcheck disable=SC2086
		linked early $form $way "${with_plugin[@]}"
		expect_ok "$FXTRACE" list-functions --csv ./linked
		expect_equal 'main part' "$(listed_names)" "listed, early $form $way, with the plugin"
		expect_line '^"?part"?,[0-9]+,"?early"?,1,.*apart\.c' out
	done
done
linked late -ffat-lto-objects -fno-lto
expect_line '^part 1$' counted
expect_no_line 'linked without' doctored
# What the plugin has chosen nothing of is as without.
compile uses.o -c -O2 -flto "${with_plugin[@]}" -fplugin-arg-fxtrace-functions=nothing uses.c
compile apart.o -c -O2 -flto apart.c
compile linked -O2 -flto uses.o apart.o
expect_ok "$FXTRACE" doctor -- ./linked
expect_no_line 'linked without' out

# --- Which functions -------------------------------------------------------------------------------

# chosen ARGUMENT...: the functions of plugin.c that have the code.
chosen() {
	rm -f list
	compile some "${with_plugin[@]}" -O1 -fplugin-arg-fxtrace-list="$PWD/list" "${@/#/-fplugin-arg-fxtrace-}" \
		"$FX_SRCDIR/tests/e2e/plugin.c"
	[ -e list ] || : >list
	cut -f1 list | sort
}

expect_choices
cat >attributes.c <<'END'
__attribute__((noinline, fxtrace_always)) static int always(int i) { return i; }
__attribute__((noinline, fxtrace_never)) static int never(int i) { return i; }
__attribute__((noinline, no_instrument_function)) static int not(int i) { return i; }
__attribute__((noinline)) static int other(int i) { return i; }
int main(int argc, char **argv) { return always(0) + never(0) + not(0) + other(0) + !argv; }
END
compile attributes "${with_plugin[@]}" -O1 -fplugin-arg-fxtrace-min-size=1000 attributes.c
expect_unharmed 0 ./attributes
expect_equal 'always 1' "$(counted trace.fxt | xargs)" "attributes, min-size=1000"
compile attributes "${with_plugin[@]}" -O1 attributes.c
expect_unharmed 0 ./attributes
expect_equal 'always 1 main 1 other 1' "$(counted trace.fxt | xargs)" "attributes"

# --- What cannot be --------------------------------------------------------------------------------

# refused TEXT OPTION...: the compiler says so, and makes nothing.
refused() {
	local text=$1

	shift
	# shellcheck disable=SC2086 # the compiler may come with options of its own
	if $FX_CC "${with_plugin[@]}" "$@" -c -o refused.o part.c >refused.log 2>&1; then
		fail "not refused: $*"
	fi
	grep -q -- "$text" refused.log || fail "$*: no '$text' in: $(cat refused.log)"
}

refused 'there is no such argument' -fplugin-arg-fxtrace-nonsense=1
refused 'not a number' -fplugin-arg-fxtrace-min-size=many
refused 'not loop or call' -fplugin-arg-fxtrace-need=sleep
refused 'not late or early' -fplugin-arg-fxtrace-when=never
refused 'cannot be read' -fplugin-arg-fxtrace-functions=@nothing
refused 'cannot be written' -fplugin-arg-fxtrace-list=/nothing/here
refused 'recorded twice' -finstrument-functions
refused 'is not known before' $early -fplugin-arg-fxtrace-need=loop
if [ "$(uname -m)" = x86_64 ]; then
	refused 'on one stack' -fsplit-stack
fi

# --- fxtrace-config --------------------------------------------------------------------------------

config=$FX_BUILDDIR/compiler-plugin/fxtrace-config
expect_ok "$config" --cflags --hooks
expect_line 'finstrument-functions' out
expect_ok "$config" --help
expect_status 2 "$config"
expect_status 2 "$config" --cflags --nonsense
expect_one_error 2 "$config" --plugin-path more
