/* SPDX-License-Identifier: MIT */
/*
 * The malloc family: each call is an event in category `malloc`, and counts for the live heap.
 *
 * These functions are called before any constructor, by the dynamic linker and by dlsym() itself:
 * while the real ones are being looked up, memory comes from the arena, whose blocks free() and
 * realloc() recognise. free() itself never looks anything up.
 */
#include "preload/host/arena.h"
#include "preload/call/call.h"
#include "preload/call/heap.h"
#include "preload/host/real.h"

#include <stdlib.h>
#include <string.h>

static fx_cold void *real_now(enum fx_real_index i)
{
	return fx_heap_find_real() ? fx_load_relaxed(&fx_real.slot[i]) : NULL;
}

/* The real function; NULL: memory must come from the arena. */
fx_hot void *real_or_arena(enum fx_real_index i)
{
	void *p = fx_load_relaxed(&fx_real.slot[i]);

	return fx_likely(p != NULL) ? p : real_now(i);
}

#define REAL_OR_ARENA(name) ((__typeof__(fx_real.fn.name))real_or_arena(FX_REAL_##name))

/* Bytes of a block that the real malloc gave. 0 where nobody can tell. */
fx_hot int64_t usable(void *p)
{
	__typeof__(fx_real.fn.malloc_usable_size) real =
	    fx_load_relaxed(&fx_real.fn.malloc_usable_size);

	return fx_likely(real != NULL) ? (int64_t)real(p) : 0;
}

fx_hot void *counted(void *p)
{
	if (fx_likely(p != NULL))
		fx_heap_count(usable(p), 1);
	return p;
}

fx_hot void *fx_call_malloc(size_t size)
{
	__typeof__(fx_real.fn.malloc) real = REAL_OR_ARENA(malloc);

	return fx_likely(real != NULL) ? counted(real(size)) : fx_arena_alloc(0, size);
}

static void *fx_call_calloc(size_t count, size_t size)
{
	__typeof__(fx_real.fn.calloc) real = REAL_OR_ARENA(calloc);
	size_t bytes;

	if (fx_likely(real != NULL))
		return counted(real(count, size));
	if (__builtin_mul_overflow(count, size, &bytes))
		bytes = SIZE_MAX - FX_ARENA_SIZE;
	return fx_arena_alloc(0, bytes); /* zeroed: never used before */
}

fx_hot void fx_call_free(void *ptr)
{
	__typeof__(fx_real.fn.free) real = fx_load_relaxed(&fx_real.fn.free);

	if (!ptr || fx_unlikely(fx_arena_owns(ptr) || !real))
		return;
	fx_heap_count(-usable(ptr), -1);
	real(ptr);
}

/* A block of the arena stays there; its contents move. */
static fx_cold void *realloc_arena(void *ptr, size_t size)
{
	size_t old = fx_arena_usable(ptr);
	void *p = fx_call_malloc(size);

	if (p)
		memcpy(p, ptr, old < size ? old : size);
	return p;
}

/* After realloc: `old` is what `ptr` held before. No new block for size 0: the old one was freed. */
fx_hot void *recounted(void *ptr, int64_t old, void *p, size_t size)
{
	if (fx_likely(p != NULL))
		fx_heap_count(usable(p) - old, ptr ? 0 : 1);
	else if (ptr && !size)
		fx_heap_count(-old, -1);
	return p;
}

static void *fx_call_realloc(void *ptr, size_t size)
{
	__typeof__(fx_real.fn.realloc) real = REAL_OR_ARENA(realloc);
	int64_t old;

	if (fx_unlikely(ptr && fx_arena_owns(ptr)))
		return realloc_arena(ptr, size);
	if (fx_unlikely(!real))
		return fx_arena_alloc(0, size);
	old = ptr ? usable(ptr) : 0;
	return recounted(ptr, old, real(ptr, size), size);
}

/* As libc's reallocarray finds it: a program may bring an allocator that has realloc and no reallocarray,
 * and this library's real functions are what comes behind. NULL until this library is relocated. */
static void *(*const volatile realloc_by_name)(void *, size_t) = realloc;

static void *fx_call_reallocarray(void *ptr, size_t count, size_t size)
{
	void *(*by_name)(void *, size_t) = realloc_by_name;
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	if (by_name && !fx_real_is_ours((void *)by_name) && !fx_arena_owns(ptr))
		return by_name(ptr, bytes);
	return fx_call_realloc(ptr, bytes);
}

static bool is_power_of_two(size_t n)
{
	return n && !(n & (n - 1));
}

static int fx_call_posix_memalign(void **ptr, size_t alignment, size_t size)
{
	__typeof__(fx_real.fn.posix_memalign) real = REAL_OR_ARENA(posix_memalign);
	int ret;

	if (fx_likely(real != NULL)) {
		ret = real(ptr, alignment, size);
		if (ret == 0)
			counted(*ptr);
		return ret;
	}
	if (alignment % sizeof(void *) || !is_power_of_two(alignment))
		return EINVAL;
	*ptr = fx_arena_alloc(alignment, size);
	return *ptr ? 0 : ENOMEM;
}

static void *arena_aligned(size_t alignment, size_t size)
{
	if (is_power_of_two(alignment))
		return fx_arena_alloc(alignment, size);
	errno = EINVAL;
	return NULL;
}

static void *fx_call_aligned_alloc(size_t alignment, size_t size)
{
	__typeof__(fx_real.fn.aligned_alloc) real = REAL_OR_ARENA(aligned_alloc);

	return real ? counted(real(alignment, size)) : arena_aligned(alignment, size);
}

static void *fx_call_memalign(size_t alignment, size_t size)
{
	__typeof__(fx_real.fn.memalign) real = REAL_OR_ARENA(memalign);

	return real ? counted(real(alignment, size)) : arena_aligned(alignment, size);
}

static void *fx_call_valloc(size_t size)
{
	__typeof__(fx_real.fn.valloc) real = REAL_OR_ARENA(valloc);

	return real ? counted(real(size)) : fx_arena_alloc(FX_PAGE, size);
}

static void *fx_call_pvalloc(size_t size)
{
	__typeof__(fx_real.fn.pvalloc) real = REAL_OR_ARENA(pvalloc);

	return real ? counted(real(size))
		    : fx_arena_alloc(FX_PAGE, FX_ALIGN_UP(size, (size_t)FX_PAGE));
}

#include "preload/unit-malloc.inc"
