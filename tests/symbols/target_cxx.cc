/* SPDX-License-Identifier: MIT */
/* A C++ program, linked with the library that target.c opens at run time. */
#include "tests/symbols/report.h"

#include <stdexcept>
#include <vector>

extern "C" void library_report(void);

struct Shape {
	virtual ~Shape() {}
	virtual int area() const = 0;
};

template <typename T, int N> struct Grid {
	std::vector<T> cells;
	__attribute__((noinline)) static int fill(const std::vector<T> &from)
	{
		return (int)from.size() * N;
	}
};

template struct Grid<Shape *, 3>;

__attribute__((noinline)) bool operator<(const Shape &a, const Shape &b)
{
	return a.area() < b.area();
}

int main()
{
	report_function((const void *)main, "main");
	report_function((const void *)(bool (*)(const Shape &, const Shape &))operator<,
			"operator<(Shape const&, Shape const&)");
	report_function(
		(const void *)&Grid<Shape *, 3>::fill,
		"Grid<Shape*, 3>::fill(std::vector<Shape*, std::allocator<Shape*> > const&)");
	library_report();
	report_modules();
	return 0;
}
