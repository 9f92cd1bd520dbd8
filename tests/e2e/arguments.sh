#!/bin/bash
# SPDX-License-Identifier: MIT
# --args and --retval: random programs, which write down what their functions are called with and what they return, by whoever
# calls them: types of all kinds, in registers and on the stack, at each optimisation, by gcc and clang, in C and C++. What the
# archive has is the same, or said to be optimised out. (FX_SEEDS="1 2 3" for other programs.)
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3
[ "$(uname -m)" = x86_64 ] || skip "values are known on x86-64 alone"
arguments=$FX_SRCDIR/tests/e2e/arguments.py

# one_program LEAST SEED LANGUAGE HOW COMPILER OPTION...: more than LEAST percent of its values are there. HOW: all functions
# are called, or some are inlined and tell nothing.
one_program() {
	local least=$1 seed=$2 language=$3 how=$4 source=prog.c

	shift 4
	[ "$language" = c ] || source=prog.cc
	python3 "$arguments" generate "$seed" "$language" >$source || fail "cannot make a program"
	"$@" -g -w -o prog $source 2>compile.log || fail "cannot compile: $*"$'\n'"$(head -n 20 compile.log)"
	expect_ok "$FXTRACE" run -q -c function --args 'f[0-9]*' --retval 'f[0-9]*' -o trace.fxt -- ./prog
	expect_equal '' "$(cat err)" "said of $*"
	expect_clean trace.fxt
	"$FXTRACE" dump --json trace.fxt >dump
	python3 "$arguments" compare log dump "$least" "$how" >result || {
		head -n 20 result
		fail "seed $seed: $*: $(tail -n 1 result)"
	}
	echo "$(tail -n 1 result): seed $seed, $*"
}

for seed in ${FX_SEEDS:-1}; do
	for optimise in -O0 -O1 -O2 -O3; do
		least=25
		[ $optimise = -O0 ] && least=95
		one_program $least "$seed" c all gcc -finstrument-functions $optimise
		[ $optimise = -O1 ] || one_program $least "$seed" c++ all g++ -std=c++17 -finstrument-functions $optimise
		command -v clang >/dev/null || continue
		[ $optimise = -O0 ] && least=75
		[ $optimise = -O3 ] || one_program $least "$seed" c all clang -finstrument-functions $optimise
		# (Its hooks of before inlining ask for functions of the C++ library that do not stand there.)
		[ $optimise = -O1 ] ||
			one_program $least "$seed" c++ inlined clang++ -std=c++17 -finstrument-functions-after-inlining $optimise
	done
	# Other ways to the same, and to the hooks.
	one_program 25 "$seed" c all gcc -finstrument-functions -O2 -fno-plt -fcf-protection=full -fstack-protector-all
	one_program 25 "$seed" c all gcc -finstrument-functions -O2 -no-pie -fno-pie -fno-omit-frame-pointer
	one_program 90 "$seed" c all gcc -finstrument-functions -O0 -mavx -gdwarf-4 -mstackrealign -static-libgcc
	one_program 25 "$seed" c++ all g++ -std=c++17 -finstrument-functions -O2 -flto=1 -gz
	plugin=$FX_BUILDDIR/compiler-plugin/.libs/fxtrace.so
	[ ! -e "$plugin" ] ||
		one_program 10 "$seed" c inlined gcc -fplugin="$plugin" -O2
done
