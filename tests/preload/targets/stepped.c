/* SPDX-License-Identifier: MIT */
/*
 * stepped entries|ends return|jump: a signal handler comes at one instruction of libfxtrace.so that the entry of a call takes, or its end, each in
 * turn; it makes a call itself, and returns or leaves by siglongjmp(). Prints how many calls of each function are to be in the
 * trace: name, at least, at most.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#define PLAIN __attribute__((no_instrument_function, noinline))
#define LONE  __attribute__((noinline, noclone))
#define STEPS 120u /* more than a hook takes */

static sigjmp_buf out;
static volatile int phase; /* 1: the call's function has begun */
static volatile int
    countdown; /* instructions of the phase `comes' until the handler does something; 0: it does not */
static volatile int comes, jumps;
static volatile unsigned handled;
static uintptr_t code_start, code_end; /* of libfxtrace.so */

static LONE void inner(void)
{
	__asm__ __volatile__("" ::: "memory");
}

static LONE void leaf(void)
{
	phase = 1;
}

static LONE void after(void)
{
	__asm__ __volatile__("" ::: "memory");
}

PLAIN static void step(int signal, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)signal;
	(void)info;
	if (at < code_start || at >= code_end || phase != comes || !countdown || --countdown)
		return;
	inner();
	handled++;
	if (jumps)
		siglongjmp(out, 1);
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

/* Returns whether the handler has jumped. */
PLAIN static int jumped_over(int instruction)
{
	phase = 0;
	countdown = instruction;
	if (sigsetjmp(out, 1)) {
		single_steps(0);
		return 1;
	}
	single_steps(1);
	leaf();
	single_steps(0);
	countdown = 0;
	return 0;
}

PLAIN int main(int argc, char **argv)
{
	struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
	unsigned left = 0;

	if (argc != 3)
		return 2;
	comes = strcmp(argv[1], "ends") == 0;
	jumps = strcmp(argv[2], "jump") == 0;
	dl_iterate_phdr(find_code, dlsym(RTLD_DEFAULT, "__cyg_profile_func_enter"));
	sigaction(SIGTRAP, &action, NULL);
	leaf();
	inner();
	after();
	for (unsigned i = 1; i <= STEPS; i++) {
		if (jumped_over((int)i))
			left++;
		after();
	}
	/* An entry that was left may have begun its call. */
	printf("leaf %u %u\ninner %u %u\nafter %u %u\n", STEPS + 1 - (comes ? 0 : left), STEPS + 1,
	       handled + 1, handled + 1, STEPS + 1, STEPS + 1);
	return handled < 30;
}
