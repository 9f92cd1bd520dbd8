/* SPDX-License-Identifier: MIT */
/* The same of C++: exceptions, coroutines, virtual and templated functions, OpenMP. Prints "NAME CALLS" as plugin.c does; names are those
 * of the linker without their types. */
#include <coroutine>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define REAL __attribute__((noinline, noclone, noipa))

static int calls_of_throwing, calls_of_catching, calls_of_passing, calls_of_shape, calls_of_twice, calls_of_parallel,
    calls_of_after;
static volatile int sink;

struct guard {
	~guard()
	{
		sink = sink + 1;
	}
};

extern "C" {
REAL void throwing(int depth)
{
	calls_of_throwing++;
	guard g;
	if (depth == 0)
		throw std::runtime_error("here");
	throwing(depth - 1);
	sink = sink + 1;
}

REAL int after(int i)
{
	calls_of_after++;
	return i + 1;
}

REAL int catching(int i)
{
	calls_of_catching++;
	try {
		throwing(4);
	} catch (const std::exception &e) {
		return after(i) + (int)std::string(e.what()).size();
	}
	return 0;
}

REAL int passing(int i) noexcept
{
	calls_of_passing++;
	return i;
}

REAL int parallel(int n)
{
	int sum = 0;

	calls_of_parallel++;
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < n; i++)
		sum += i;
	return sum;
}
}

struct shape {
	virtual ~shape() = default;
	virtual int area() const = 0;
};

struct square : shape {
	int side;
	explicit square(int side) : side(side) {}
	REAL int area() const override
	{
		calls_of_shape++;
		return side * side;
	}
};

template <typename T> REAL T twice(T value)
{
	calls_of_twice++;
	return value + value;
}

struct task {
	struct promise_type {
		int value = 0;
		task get_return_object()
		{
			return task{std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int v)
		{
			value = v;
			return {};
		}
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
};

static task numbers(int n)
{
	for (int i = 0; i < n; i++)
		co_yield passing(i);
}

int main()
{
	std::vector<std::unique_ptr<shape>> shapes;
	long sum = 0;

	for (int i = 0; i < 10; i++) {
		sum += catching(i) + twice(i) + (long)twice(1.5);
		shapes.push_back(std::make_unique<square>(i));
	}
	for (const auto &s : shapes)
		sum += s->area();
	task t = numbers(6);
	while (t.handle.resume(), !t.handle.done())
		sum += t.handle.promise().value;
	t.handle.destroy();
	sum += parallel(100);
	std::printf("sum %ld\n", sum);
	std::printf("throwing %d\ncatching %d\nafter %d\npassing %d\nparallel %d\n", calls_of_throwing, calls_of_catching,
		    calls_of_after, calls_of_passing, calls_of_parallel);
	std::printf("square::area() const %d\n", calls_of_shape);
	return calls_of_twice == 20 ? 0 : 1;
}
