/* SPDX-License-Identifier: MIT */
/*
 * hooklog: an independent logger of the -finstrument-functions hooks, and of the gates of the plugin, to hold our own against. Preloaded
 * alone, or before libfxtrace.so, which then sees every hook as if it were not there. It writes HOOKLOG, 16 bytes a
 * record: the program's load address in hex and a newline, then one a hook, up to the first that is zero.
 *
 * Nothing clever: each hook takes the next place in a file that is mapped; no notion of frames. What it logs is what the compiler
 * called, whatever ends the process.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct hook {
	uint64_t function; /* address << 1 | exit */
	uint64_t tid;
};

/* Of which nothing is there but what is written. */
#define LOG_BYTES (1ull << 32)

static struct hook *hooks; /* NULL: it is not open */
static uint64_t hook_count;

struct calls {
	void (*enter)(void *function, void *site);
	void (*leave)(void *function, void *site);
};

static void nothing(void *function, void *site)
{
	(void)function;
	(void)site;
}

/* Whose turn is next. Those of gates are the same. */
static struct calls next = {nothing, nothing};

static void log_hook(void *function, unsigned exit)
{
	uint64_t at;

	if (!hooks)
		return;
	at = __atomic_fetch_add(&hook_count, 1, __ATOMIC_RELAXED);
	if (at >= LOG_BYTES / sizeof *hooks)
		abort();
	hooks[at] = (struct hook){(uint64_t)function << 1 | exit, (uint64_t)syscall(SYS_gettid)};
}

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

/* Each ends with a jump, so that the next is called by the function itself. */
void __cyg_profile_func_enter(void *function, void *site)
{
	log_hook(function, 0);
	next.enter(function, site);
}

void __cyg_profile_func_exit(void *function, void *site)
{
	log_hook(function, 1);
	next.leave(function, site);
}

extern const struct calls __fxtrace_calls;
const struct calls __fxtrace_calls = {__cyg_profile_func_enter, __cyg_profile_func_exit};

/* --- Its beginning ------------------------------------------------------------------------------ */

/* The note is 24 bytes: sizes 8 and 4, type 1, "fxtrace", and the distance to the gate (include/fxtrace/gate.h). */
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

static int first_object(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uint64_t *)base = info->dlpi_addr;
	return 1; /* the program itself comes first */
}

static void next_find(void)
{
	void *enter = dlsym(RTLD_NEXT, "__cyg_profile_func_enter");
	void *leave = dlsym(RTLD_NEXT, "__cyg_profile_func_exit");

	if (enter && leave) {
		memcpy(&next.enter, &enter, sizeof enter);
		memcpy(&next.leave, &leave, sizeof leave);
	}
}

/* A program that it starts has none: its log would be another's. */
__attribute__((constructor(101))) static void log_open(void)
{
	const char *path = getenv("HOOKLOG");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	uint64_t base = 0;
	char *at;

	next_find();
	dl_iterate_phdr(open_gate, NULL);
	if (fd < 0)
		return;
	unsetenv("HOOKLOG");
	if (ftruncate(fd, LOG_BYTES) < 0)
		abort();
	at = mmap(NULL, LOG_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	close(fd);
	if (at == MAP_FAILED)
		abort();
	dl_iterate_phdr(first_object, &base);
	snprintf(at, 17, "%015llx\n", (unsigned long long)base);
	hook_count = 1;
	hooks = (struct hook *)(void *)at;
}
