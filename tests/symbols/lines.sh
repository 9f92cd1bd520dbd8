#!/bin/bash
# SPDX-License-Identifier: MIT
# Source lines and inlined functions: what debug information says of each instruction, as addr2line reads it. Of programs by
# each compiler, in each version, in one file and in several; and of our own library.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3 addr2line objdump objcopy readelf

places=$FX_BUILDDIR/tests/symbols/places
agree() { # FILE EVERY [SOURCE]
	python3 "$FX_SRCDIR/tests/symbols/lines.py" "$places" "$@" >agreed || fail "$(cat agreed)"
	tail -n 1 agreed
}

cat >nest.c <<'END'
#include <stdlib.h>
#define INLINE static inline __attribute__((always_inline))
volatile int sum;
INLINE void third(int x) { sum += x; }
INLINE void second(int x)
{
	for (int i = 0; i < x; i++)
		third(i);
	third(x * x);
}
INLINE int first(int x)
{
	second(x);
	if (x > 3)
		abort();
	return sum;
}
__attribute__((noinline)) int work(int x)
{
	return first(x) + first(x + 1);
}
int main(int argc, char **argv)
{
	(void)argv;
	return work(argc) - work(argc);
}
END
cat >nest.cc <<'END'
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>
namespace shop {
template <class T> struct basket {
	std::vector<T> goods;
	T total() const
	{
		T sum{};
		std::for_each(goods.begin(), goods.end(), [&sum](const T &t) { sum += t; });
		return sum;
	}
};
}
int main(int argc, char **)
{
	shop::basket<int> numbers{{3, 1, argc}};
	shop::basket<std::string> words{{"a", "b"}};
	try {
		std::sort(numbers.goods.begin(), numbers.goods.end());
		std::printf("%d %s\n", numbers.total(), words.total().c_str());
		if (argc > 5)
			throw std::runtime_error("many");
	} catch (const std::exception &e) {
		std::puts(e.what());
	}
}
END
tried=0
for compiler in gcc clang; do
	command -v $compiler >/dev/null && command -v ${compiler/gcc/g}++ >/dev/null || continue
	for version in 4 5; do
		# Which binutils' addr2line does not read: inlined functions of more than one piece.
		[ "$compiler $version" != 'clang 5' ] || continue
		for optimise in -O0 -O2 -O3; do
			$compiler -gdwarf-$version $optimise -o nest nest.c || fail "$compiler"
			agree nest 1 nest.c
			${compiler/gcc/g}++ -gdwarf-$version $optimise -o nest++ nest.cc || fail "${compiler/gcc/g}++"
			agree nest++ 1 nest.cc
			tried=$((tried + 2))
		done
	done
done
[ "$tried" -gt 0 ] || skip "no compiler is here"

# What clang says in version 5, the same as in 4 but for columns.
if command -v clang >/dev/null; then
	for version in 4 5; do
		clang -gdwarf-$version -O2 -o nest-$version nest.c
		objdump -d --no-show-raw-insn nest-$version | sed -nE 's/^ *([0-9a-f]+):\t.*/\1/p' | "$places" ./nest-$version >places-$version
	done
	expect_same_file places-4 places-5
	[ "$(grep -c third places-5)" -gt 3 ] || fail "nothing is inlined: $(cat places-5)"
fi

# The debug information elsewhere: behind a link, by its build-id's name, in pieces.
gcc -g -O2 -o whole nest.c
objcopy --only-keep-debug whole linked.debug
objcopy -S --add-gnu-debuglink=linked.debug whole linked
objdump -d --no-show-raw-insn whole | sed -nE 's/^ *([0-9a-f]+):\t.*/\1/p' >asked
"$places" ./whole <asked >whole.places
"$places" ./linked <asked >linked.places
expect_same_file whole.places linked.places
[ "$(grep -c third whole.places)" -gt 3 ] || fail "nothing is inlined: $(cat whole.places)"
gcc -g -O2 -gsplit-dwarf -c nest.c && gcc -o split nest.o
objdump -d --no-show-raw-insn split | sed -nE 's/^ *([0-9a-f]+):\t.*/\1/p' >asked
"$places" ./split <asked >split.places
expect_line 'third	nest.c:4	second	nest.c:[89]	first	nest.c:13	work	nest.c:20' split.places

# Without any there is nothing, and of code that was left out, nothing either.
gcc -O2 -s -o none nest.c
"$places" ./none <asked >none.places
expect_no_line 'nest' none.places
gcc -g -O2 -ffunction-sections -Wl,--gc-sections -DUNUSED -o left nest.c
agree left 1

# Our own library, with all that gcc does to it.
if readelf -p .comment "$LIBFXTRACE" | grep -q clang; then
	echo "the library was built by clang: see above"
else
	agree "$LIBFXTRACE" 20
fi
