/* SPDX-License-Identifier: MIT */
/*
 * A program whose functions are named by the tests. Its argument, if any, is a shared object, which
 * it opens with dlopen().
 */
#include "tests/symbols/report.h"

#include <dlfcn.h>
#include <stdlib.h>

int global_function(int number);
int strong_name(int number);
int __strong_name(int number) __attribute__((alias("strong_name")));
int plain_weak_name(int number) __attribute__((weak, alias("__only_strong_name")));
int __only_strong_name(int number);
int global_twin(int number);
static int local_twin(int number) __attribute__((alias("global_twin"), used));
void bare_label(void);
void around_label(void);
extern const char inner_label[];

/* A function without a size, and one with a label inside. */
__asm__(".pushsection .text\n"
	".globl bare_label\n"
	".type bare_label, %function\n"
	"bare_label: nop\n nop\n ret\n"
	".globl around_label\n"
	".type around_label, %function\n"
	"around_label: .zero 8\n"
	".globl inner_label\n"
	"inner_label: nop\n nop\n ret\n"
	".size around_label, . - around_label\n"
	".popsection\n");

__attribute__((noinline)) static int local_function(int number)
{
	__asm__ volatile("" : "+r"(number));
	return number + 1;
}

__attribute__((noinline)) int global_function(int number)
{
	return local_function(number) + 2;
}

__attribute__((noinline)) int strong_name(int number)
{
	return number + 3;
}

__attribute__((noinline)) int __only_strong_name(int number)
{
	return number + 4;
}

__attribute__((noinline)) int global_twin(int number)
{
	return number + 5;
}

#ifdef TARGET_STATIC
#define open_library(path) 1
#else
/* Functions that glibc defines under several names. */
static void report_libc(void)
{
	static const char *const names[] = {"read", "getpid", "qsort", "malloc"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		report_function(dlsym(RTLD_DEFAULT, names[i]), names[i]);
}

static int open_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	void (*report)(void) = (void (*)(void))dlsym(library, "library_report");
	if (!report)
		return 1;
	report();
	report_libc();
	return 0;
}
#endif

int main(int argc, char **argv)
{
	report_function((void *)main, "main");
	report_function((void *)global_function, "global_function");
	report_function((void *)local_function, "local_function");
	report_function((void *)strong_name, "strong_name");
	report_function((void *)__only_strong_name, "plain_weak_name");
	report_function((void *)local_twin, "global_twin");
	report_function((void *)bare_label, "bare_label");
	report_function((char *)bare_label + 2, "bare_label+0x2");
	report_function((void *)around_label, "around_label");
	report_function(inner_label, "around_label+0x8");
	int failed = argc > 1 ? open_library(argv[1]) : 0;
	report_modules();
	return failed;
}
