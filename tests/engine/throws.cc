/* SPDX-License-Identifier: MIT */
/* Exceptions, compiled with -finstrument-functions. */
#include "tests/engine/calls.h"

namespace
{
volatile uint32_t sink;

void __attribute__((noinline)) throw_one()
{
	sink = sink + 1;
	throw 1;
}

void __attribute__((noinline)) throw_deeper()
{
	throw_one();
	sink = sink + 1;
}

void __attribute__((noinline)) throw_deepest()
{
	throw_deeper();
	sink = sink + 1;
}

void __attribute__((noinline)) plain()
{
	sink = sink + 1;
}

void __attribute__((noinline)) large_plain()
{
	volatile uint8_t room[400];

	room[sink % 400] = 1;
	plain();
}

void __attribute__((noinline)) catch_and_rethrow()
{
	try {
		throw_deeper();
	} catch (int) {
		plain();
		throw;
	}
}
} // namespace

extern "C" void throw_over_three()
{
	try {
		throw_deepest();
	} catch (int) {
		plain();
	}
	plain();
}

extern "C" void throw_in_loop(int rounds)
{
	while (rounds--) {
		try {
			throw_deeper();
		} catch (int) {
		}
	}
	plain();
}

extern "C" void rethrow_through()
{
	try {
		catch_and_rethrow();
	} catch (int) {
		plain();
	}
}

extern "C" void throw_then_large()
{
	for (int i = 0; i < 2; i++) {
		try {
			throw_deeper();
		} catch (int) {
			large_plain();
		}
		large_plain();
	}
}

#define NAME(f)                                                                                    \
	{                                                                                          \
		reinterpret_cast<void (*)(void)>(f), #f                                            \
	}

extern "C" const struct test_function throws_functions[] = {
    NAME(throw_one),	     NAME(throw_deeper),     NAME(throw_deepest), NAME(plain),
    NAME(catch_and_rethrow), NAME(throw_over_three), NAME(throw_in_loop), NAME(rethrow_through),
    NAME(large_plain),	     NAME(throw_then_large), {nullptr, nullptr},
};
