/* SPDX-License-Identifier: MIT */
/*
 * How many instructions of libfxtrace.so a call of each function costs, at its entry and at its exit: those that nearly
 * every call takes. The processor stops behind each, for a signal handler that counts.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define PLAIN __attribute__((no_instrument_function, noinline))
#define LONE  __attribute__((noinline, noclone))
#define CALLS 101

enum color { RED, GREEN = 7, BLUE };

static volatile int sink, three = 3;
static volatile int phase;
static volatile unsigned counts[2];
static uintptr_t code_start, code_end; /* of libfxtrace.so */

static LONE void leaf(void)
{
	phase = 1;
}

static LONE void two(int a, int b)
{
	phase = 1;
	__asm__ __volatile__("" : "+r"(a), "+r"(b)); /* both are kept until here */
	sink = a + b;
}

static LONE void mixed(long a, unsigned char b, short c, enum color d)
{
	phase = 1;
	sink = (int)a + b + c + (int)d;
}

static LONE int result(int a)
{
	phase = 1;
	return a + 3;
}

PLAIN static void step(int signal, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)signal;
	(void)info;
	if (at >= code_start && at < code_end)
		counts[phase]++;
}

PLAIN static int find_code(struct dl_phdr_info *info, size_t size, void *of)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		uintptr_t end = start + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_LOAD || (uintptr_t)of < start ||
		    (uintptr_t)of >= end)
			continue;
		code_start = start;
		code_end = end;
		return 1;
	}
	return 0;
}

PLAIN static void single_steps(int on)
{
	if (on)
		__asm__ volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
	else
		__asm__ volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "memory", "cc");
}

PLAIN static void call(int which)
{
	switch (which) {
	case 0:
		leaf();
		break;
	case 1:
		two(three, -1 - three);
		break;
	case 2:
		mixed(-1000000000000, 200, -5, GREEN);
		break;
	default:
		result(39);
	}
}

PLAIN static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

PLAIN int main(void)
{
	static const char *const names[] = {"leaf", "two", "mixed", "result"};
	struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
	void *hook = dlsym(RTLD_DEFAULT, "__cyg_profile_func_enter");

	dl_iterate_phdr(find_code, hook);
	sigaction(SIGTRAP, &action, NULL);
	for (int which = 0; which < 4; which++) {
		int in[CALLS], out[CALLS];

		for (int i = 0; i < CALLS; i++) {
			counts[0] = counts[1] = 0;
			phase = 0;
			single_steps(1);
			call(which);
			single_steps(0);
			in[i] = (int)counts[0];
			out[i] = (int)counts[1];
		}
		qsort(in, CALLS, sizeof *in, compare);
		qsort(out, CALLS, sizeof *out, compare);
		printf("%s %d %d\n", names[which], in[CALLS / 2], out[CALLS / 2]);
	}
	return 0;
}
