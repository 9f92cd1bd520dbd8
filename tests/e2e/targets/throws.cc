/* SPDX-License-Identifier: MIT */
/*
 * throws: leaves functions by C++ exceptions, with destructors on the way, thrown again, out of a
 * thread's nested calls, and by forced unwinding. Compile with -finstrument-functions.
 */
#include <pthread.h>
#include <stdexcept>
#include <vector>

#define NOINLINE __attribute__((noinline))
#define HIDDEN	 __attribute__((no_instrument_function))

namespace shapes
{

NOINLINE void after()
{
	__asm__ volatile("");
}

/* Its hooks are called below those of what was left before. */
NOINLINE void roomy()
{
	volatile char room[5000];

	room[0] = 0;
}

struct Guard {
	HIDDEN Guard()
	{
	}
	NOINLINE ~Guard()
	{
		after();
	}
};

NOINLINE void deep(int levels)
{
	if (levels == 0)
		throw std::runtime_error("deep");
	Guard guard;
	deep(levels - 1);
}

NOINLINE void caught()
{
	try {
		deep(2);
	} catch (const std::exception &) {
		after();
	}
	after();
}

NOINLINE void middle()
{
	try {
		deep(1);
	} catch (...) {
		after();
		throw;
	}
}

NOINLINE void thrown_again()
{
	try {
		middle();
	} catch (...) {
	}
	roomy();
	after();
}

template <typename T> struct Box {
	NOINLINE T twice(const std::vector<T> &values) const
	{
		after();
		return values.at(0) + values.at(0);
	}
};

} // namespace shapes

/* No std::thread: clang would show what that is made of. */
HIDDEN static void *run_thread(void *)
{
	shapes::caught();
	return nullptr;
}

int main()
{
	shapes::caught();
	shapes::thrown_again();
	pthread_t thread;

	pthread_create(&thread, nullptr, run_thread, nullptr);
	pthread_join(thread, nullptr);
	shapes::after();
	return shapes::Box<int>().twice({21}) == 42 ? 0 : 1;
}
