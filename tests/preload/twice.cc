// SPDX-License-Identifier: MIT
// twice: as twice.c, for what is C++'s: exceptions, destructors, templates, calls by table.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

namespace
{
volatile long sum;

NOINLINE void leaf(long value)
{
	sum = sum + value;
}

inline void small(long value)
{
	leaf(value + 1);
}

NOINLINE void large(long value)
{
	volatile char room[700];

	room[value % 700] = 1;
	leaf(value);
	small(room[value % 700]);
}

struct Guard {
	explicit Guard(long v) : value(v)
	{
		small(value);
	}
	~Guard()
	{
		large(value);
	}
	long value;
};

// --- Exceptions -----------------------------------------------------------------------------------

NOINLINE void throw_one(long value)
{
	throw value;
}

NOINLINE void throw_from(int depth)
{
	if (!depth)
		throw_one(depth);
	Guard guard(depth);
	throw_from(depth - 1);
	leaf(depth);
}

NOINLINE void throw_without_guards(int depth)
{
	if (!depth)
		throw std::runtime_error("depth");
	throw_without_guards(depth - 1);
	leaf(depth);
}

inline void throw_inlined(long value)
{
	small(value);
	if (value % 2)
		throw value;
}

void caught()
{
	try {
		throw_one(1);
	} catch (long) {
	}
	large(1);
	for (int i = 0; i < 5; i++) {
		try {
			throw_from(i);
		} catch (long value) {
			large(value);
		}
		large(i);
	}
	for (int i = 0; i < 5; i++) {
		try {
			throw_without_guards(i);
		} catch (const std::exception &e) {
			large(i);
		}
	}
}

void caught_inlined()
{
	for (int i = 0; i < 6; i++) {
		try {
			throw_inlined(i);
			large(i);
		} catch (long value) {
			large(value);
		}
	}
}

NOINLINE void rethrow()
{
	try {
		throw_from(2);
	} catch (long) {
		large(2);
		throw;
	}
}

void nested()
{
	try {
		try {
			rethrow();
		} catch (const char *) {
			leaf(1);
		}
	} catch (long) {
		try {
			throw_without_guards(3);
		} catch (const std::runtime_error &) {
			large(3);
		}
		large(4);
	}
	large(5);
}

struct Part {
	explicit Part(long v) : value(v)
	{
		if (value == 3)
			throw_one(value);
		leaf(value);
	}
	~Part()
	{
		large(value);
	}
	long value;
};

struct Whole {
	Whole() : a(1), b(2), c(3)
	{
	}
	Part a, b, c;
};

void half_made()
{
	try {
		Whole whole;
	} catch (long) {
		large(1);
	}
}

int compare_throwing(const void *a, const void *b)
{
	small(1);
	if (sum % 7 == 0)
		throw 1;
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

void through_c()
{
	int numbers[30];

	for (int i = 0; i < 30; i++)
		numbers[i] = i * 17 % 31;
	for (int i = 0; i < 4; i++) {
		sum = i;
		try {
			qsort(numbers, 30, sizeof numbers[0], compare_throwing);
		} catch (int) {
			large(1);
		}
		large(2);
	}
}

void by_pointer()
{
	std::exception_ptr kept;

	try {
		throw_without_guards(2);
	} catch (...) {
		kept = std::current_exception();
	}
	large(1);
	try {
		std::rethrow_exception(kept);
	} catch (const std::exception &) {
		large(2);
	}
}

// --- Calls -----------------------------------------------------------------------------------------

struct Shape {
	virtual ~Shape() = default;
	virtual long area() const = 0;
};

struct Square : Shape {
	explicit Square(long s) : side(s)
	{
	}
	long area() const override
	{
		small(side);
		return side * side;
	}
	long side;
};

struct Field : Shape {
	long area() const override
	{
		volatile char room[300];

		room[0] = 1;
		if (sum % 3 == 0)
			throw_one(1);
		leaf(room[0]);
		return 1;
	}
};

void virtual_calls()
{
	std::vector<std::unique_ptr<Shape>> shapes;

	for (int i = 0; i < 6; i++) {
		if (i % 2)
			shapes.emplace_back(new Square(i));
		else
			shapes.emplace_back(new Field);
	}
	for (const auto &shape : shapes) {
		try {
			leaf(shape->area());
		} catch (long value) {
			large(value);
		}
	}
}

void templates()
{
	std::vector<int> numbers;
	std::map<std::string, int> names;
	std::function<long(long)> f = [](long n) {
		small(n);
		return n;
	};

	for (int i = 0; i < 20; i++) {
		numbers.push_back(i * 11 % 23);
		names[std::string("n") + char('a' + i % 9)] += i;
	}
	std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a > b; });
	for (int n : numbers)
		leaf(f(n));
	for (const auto &name : names)
		leaf(name.second);
}

void threads()
{
	for (int i = 0; i < 2; i++) {
		std::thread thread([] {
			try {
				throw_from(3);
			} catch (long) {
				large(1);
			}
		});
		thread.join();
	}
}

const struct {
	const char *name;
	void (*run)();
} programs[] = {
    {"caught", caught},		{"caught, inlined", caught_inlined},
    {"nested", nested},		{"half made", half_made},
    {"through C", through_c},	{"by pointer", by_pointer},
    {"virtual", virtual_calls}, {"templates", templates},
    {"threads", threads},
};
} // namespace

int main()
{
	for (const auto &program : programs) {
		sum = 0;
		program.run();
		std::printf("%s: %ld\n", program.name, static_cast<long>(sum));
	}
	return 0;
}
