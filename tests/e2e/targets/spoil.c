/* SPDX-License-Identifier: MIT */
/* Stands for the halves behind entry-ways.c: each call spoils the registers that it may, the slow one the vectors too. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct {
	void *mcount, *fentry;
} fx_entry_next;

static unsigned long calls, slow_calls;

#if defined(__x86_64__)
#define SPOIL_WORDS()                                                                              \
	__asm__ volatile(                                                                          \
	    "mov $0x55, %%eax\n mov %%rax, %%rcx\n mov %%rax, %%rdx\n mov %%rax, %%rsi\n"          \
	    "mov %%rax, %%rdi\n mov %%rax, %%r8\n mov %%rax, %%r9\n mov %%rax, %%r10\n"            \
	    "mov %%rax, %%r11\n"                                                                   \
	    :                                                                                      \
	    :                                                                                      \
	    : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11")

__attribute__((target("avx"))) static void spoil_avx(void)
{
	__asm__ volatile("vzeroall" : : : "memory");
}

__attribute__((target("avx512f"))) static void spoil_avx512(void)
{
	__asm__ volatile("vpternlogd $255, %%zmm0, %%zmm0, %%zmm0\n vmovdqa64 %%zmm0, %%zmm1\n"
			 "vmovdqa64 %%zmm0, %%zmm2\n vmovdqa64 %%zmm0, %%zmm7\n"
			 :
			 :
			 : "memory");
}

static void spoil_vectors(void)
{
	if (__builtin_cpu_supports("avx"))
		spoil_avx();
	else
		__asm__ volatile(
		    "xorps %%xmm0, %%xmm0\n xorps %%xmm1, %%xmm1\n xorps %%xmm2, %%xmm2\n"
		    :
		    :
		    : "memory");
	if (__builtin_cpu_supports("avx512f"))
		spoil_avx512();
}
#else
#define SPOIL_WORDS()                                                                              \
	__asm__ volatile(""                                                                        \
			 :                                                                         \
			 :                                                                         \
			 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x16",      \
			   "x17")

static void spoil_vectors(void)
{
}
#endif

bool fx_entry_record(uint64_t place)
{
	bool is_done = __atomic_add_fetch(&calls, place != 0, __ATOMIC_RELAXED) % 3 != 0;

	SPOIL_WORDS();
	return is_done;
}

void fx_entry_record_slowly(uint64_t place)
{
	__atomic_add_fetch(&slow_calls, place != 0, __ATOMIC_RELAXED);
	spoil_vectors();
	SPOIL_WORDS();
}

__attribute__((destructor)) static void tell(void)
{
	printf("spoiled %lu\n", slow_calls);
}
