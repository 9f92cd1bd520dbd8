/* SPDX-License-Identifier: MIT */
/*
 * hooklog: an independent logger of the -finstrument-functions hooks, to hold our own against. Preloaded
 * alone, it writes HOOKLOG: one line with the program's load address in hex, then 16 bytes a hook.
 *
 * Nothing clever: a lock, a stdio buffer, no notion of frames. What it logs is what the compiler called.
 */
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static FILE *out;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct hook {
	uint64_t function; /* address << 1 | exit */
	uint64_t tid;
};

static int first_object(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the program itself comes first */
}

static void log_open(void)
{
	uint64_t base = 0;

	out = fopen(getenv("HOOKLOG") ? getenv("HOOKLOG") : "hooklog", "w");
	if (!out)
		abort();
	dl_iterate_phdr(first_object, &base);
	fprintf(out, "%llx\n", (unsigned long long)base);
}

static void log_hook(void *function, unsigned exit)
{
	struct hook h = {(uint64_t)function << 1 | exit, (uint64_t)syscall(SYS_gettid)};

	pthread_mutex_lock(&lock);
	if (!out)
		log_open();
	fwrite(&h, sizeof h, 1, out);
	pthread_mutex_unlock(&lock);
}

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

void __cyg_profile_func_enter(void *function, void *site)
{
	(void)site;
	log_hook(function, 0);
}

void __cyg_profile_func_exit(void *function, void *site)
{
	(void)site;
	log_hook(function, 1);
}

__attribute__((destructor)) static void log_close(void)
{
	if (out)
		fflush(out);
}

/* --- Programs that are built with the plugin (include/fxtrace/gate.h) -------------------------- */

struct calls {
	void (*enter)(void *function, void *site);
	void (*leave)(void *function, void *site);
};

extern const struct calls __fxtrace_calls;
const struct calls __fxtrace_calls = {__cyg_profile_func_enter, __cyg_profile_func_exit};

/* The note is 24 bytes: sizes 8 and 4, type 1, "fxtrace", and the distance to the gate. */
static int open_gate(struct dl_phdr_info *info, size_t size, void *unused)
{
	static const unsigned head[] = {8, 4, 1};

	(void)size;
	(void)unused;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const char *at = (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		const char *end = at + info->dlpi_phdr[i].p_memsz;

		for (; info->dlpi_phdr[i].p_type == PT_NOTE && at + 24 <= end; at += 4) {
			if (memcmp(at, head, sizeof head) == 0 && strcmp(at + 12, "fxtrace") == 0)
				*(const struct calls **)(at + 20 + *(const int *)(at + 20)) =
				    &__fxtrace_calls;
		}
	}
	return 0;
}

__attribute__((constructor(101))) static void gates_open(void)
{
	dl_iterate_phdr(open_gate, NULL);
}
