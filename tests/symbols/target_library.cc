/* SPDX-License-Identifier: MIT */
/* A shared object whose functions are named by the tests; target.c opens it with dlopen(). */
#include "tests/symbols/report.h"

namespace fruit
{
struct Basket {
	int count;
	explicit Basket(int n);
	int take(int n, const char *why);
	template <typename T> int weigh(T each);
	static int compare(const Basket &a, const Basket &b);
};

__attribute__((noinline)) int Basket::take(int n, const char *)
{
	return count -= n;
}

template <typename T> __attribute__((noinline)) int Basket::weigh(T each)
{
	return (int)(count * each);
}

template int Basket::weigh<double>(double each);

__attribute__((noinline)) int Basket::compare(const Basket &a, const Basket &b)
{
	return a.count - b.count;
}

namespace
{
__attribute__((noinline, used)) int hidden(unsigned long number)
{
	__asm__ volatile("" : "+r"(number));
	return (int)number;
}
} // namespace
} // namespace fruit

/* The address of a member function that is not virtual is the first word of the pointer. */
template <typename Member> static const void *address_of(Member member)
{
	const void *address;
	memcpy(&address, &member, sizeof(address));
	return address;
}

extern "C" __attribute__((visibility("default"))) void library_report(void)
{
	using fruit::Basket;
	report_function((const void *)library_report, "library_report");
	report_function(address_of(&Basket::take), "fruit::Basket::take(int, char const*)");
	report_function(address_of(&Basket::weigh<double>),
			"int fruit::Basket::weigh<double>(double)");
	report_function((const void *)&Basket::compare,
			"fruit::Basket::compare(fruit::Basket const&, fruit::Basket const&)");
	report_function((const void *)&fruit::hidden,
			"fruit::(anonymous namespace)::hidden(unsigned long)");
}
