/* SPDX-License-Identifier: MIT */
#include "preload/boot/environ-memory.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/atomic.h"
#include "base/handle.h"
#include "base/syscall.h"
#include "engine/provider/engine.h"

/*
 * A vfork child that becomes another program leaves what it has built in its parent's memory: the parent gives that
 * back. A child that builds one stands here, as far as there is room.
 */
#define BUILDERS 64u
#define FREE	 0u
#define BUSY	 UINT64_MAX

static struct builder {
	uint64_t pid; /* the process that the rest belongs to; or one of the above */
	void *memory;
	size_t bytes;
} builders[BUILDERS] FX_LARGE;

static bool builder_take(struct builder *b, uint64_t pid)
{
	return fx_load_relaxed(&b->pid) == pid && fx_cas_acq_rel(&b->pid, &pid, BUSY);
}

/* Pairs with builder_take(). */
static void builder_let_go(struct builder *b, uint64_t pid)
{
	fx_store_release(&b->pid, pid);
}

static void builder_add(void *memory, size_t bytes)
{
	for (unsigned i = 0; i < BUILDERS; i++) {
		if (!builder_take(&builders[i], FREE))
			continue;
		builders[i].memory = memory;
		builders[i].bytes = bytes;
		builder_let_go(&builders[i], (uint64_t)fx_getpid());
		return;
	}
}

static void builder_remove(const void *memory)
{
	const uint64_t pid = (uint64_t)fx_getpid();

	for (unsigned i = 0; i < BUILDERS; i++)
		if (builder_take(&builders[i], pid))
			builder_let_go(&builders[i], builders[i].memory == memory ? FREE : pid);
}

/* For a process that may not ask for memory, or gets none: as much as there is, for one at a time. A vfork child is its parent's
 * thread. */
static struct {
	uint64_t owner; /* by thread pointer; 0: nobody's */
	char bytes[128 << 10] __attribute__((aligned(16)));
} spare FX_LARGE;

static bool spare_take(void)
{
	const uint64_t who = fx_thread_pointer();
	uint64_t owner = 0;

	/* Pairs with spare_give(). */
	return fx_load_relaxed(&spare.owner) == who || fx_cas_acq_rel(&spare.owner, &owner, who);
}

static void spare_give(void)
{
	if (fx_load_relaxed(&spare.owner) == fx_thread_pointer())
		fx_store_release(&spare.owner, 0);
}

bool fx_environ_memory_take(struct fx_environ_memory *ret, size_t bytes)
{
	long p = -ENOMEM;

	if (fx_engine_may(FX_ASK_START))
		p = fx_syscall6(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ret->at = (void *)p;
	ret->bytes = bytes;
	ret->is_spare = (uint64_t)p > (uint64_t)-4096;
	if (!ret->is_spare)
		return true;
	ret->at = spare.bytes;
	return bytes <= sizeof spare.bytes && spare_take();
}

void fx_environ_memory_give(const struct fx_environ_memory *memory)
{
	if (memory->is_spare)
		spare_give();
	else
		fx_syscall2(SYS_munmap, memory->at, memory->bytes);
}

size_t fx_environ_memory_keep(const struct fx_environ_memory *memory)
{
	if (memory->is_spare)
		return 0;
	builder_add(memory->at, memory->bytes);
	return memory->bytes;
}

void fx_environ_memory_release(const void *at, size_t bytes)
{
	spare_give();
	if (!bytes)
		return;
	builder_remove(at);
	fx_syscall2(SYS_munmap, at, bytes);
}

void fx_environ_memory_left(pid_t child)
{
	spare_give();
	for (unsigned i = 0; child > 0 && i < BUILDERS; i++) {
		if (!builder_take(&builders[i], (uint64_t)child))
			continue;
		fx_syscall2(SYS_munmap, builders[i].memory, builders[i].bytes);
		builder_let_go(&builders[i], FREE);
	}
}
