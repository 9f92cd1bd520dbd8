/* SPDX-License-Identifier: MIT */
/*
 * Memory of the manager in a fuzzer. What each input would map, clear, fault in and unmap again is kept
 * from one to the next; only what was touched is cleared. Sanitizers are told what is not in use, so
 * that they find the same as with memory that comes fresh.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/alone.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

/* --- Large blocks of the heap ---------------------------------------------------------------- */

#define LARGE	   16384u
#define BLOCKS_MAX 512u

struct block {
	void *at;
	size_t size;
	bool used;
};

static struct block blocks[BLOCKS_MAX];
static unsigned block_count;
static uintptr_t lowest = UINTPTR_MAX, highest;

static struct block *block_find(const void *at)
{
	if ((uintptr_t)at < lowest || (uintptr_t)at > highest)
		return NULL;
	for (unsigned i = 0; i < block_count; i++) {
		if (blocks[i].at == at)
			return &blocks[i];
	}
	return NULL;
}

static void *block_take(size_t size)
{
	for (unsigned i = 0; i < block_count; i++) {
		struct block *b = &blocks[i];

		if (!b->used && b->size == size) {
			b->used = true;
			ASAN_UNPOISON_MEMORY_REGION(b->at, size);
			return b->at;
		}
	}
	return NULL;
}

static void *block_make(size_t size)
{
	void *at = malloc(size);

	if (!at || block_count == BLOCKS_MAX)
		return at;
	blocks[block_count++] = (struct block){at, size, true};
	if ((uintptr_t)at < lowest)
		lowest = (uintptr_t)at;
	if ((uintptr_t)at > highest)
		highest = (uintptr_t)at;
	return at;
}

void *alone_malloc(size_t size)
{
	void *at = size >= LARGE ? block_take(size) : NULL;

	if (at)
		return at;
	return size >= LARGE ? block_make(size) : malloc(size);
}

void *alone_calloc(size_t count, size_t size)
{
	void *at;

	if (count * size < LARGE || (size && count > SIZE_MAX / size))
		return calloc(count, size);
	at = alone_malloc(count * size);
	return at ? memset(at, 0, count * size) : NULL;
}

void *alone_realloc(void *old, size_t size)
{
	const struct block *b = block_find(old);
	size_t had = b ? b->size : malloc_usable_size(old);
	void *at;

	if (!b && size < LARGE)
		return realloc(old, size);
	at = alone_malloc(size);
	if (!at)
		return NULL;
	if (old)
		memcpy(at, old, had < size ? had : size);
	alone_free(old);
	return at;
}

void alone_free(void *at)
{
	struct block *b = block_find(at);

	if (!b) {
		free(at);
		return;
	}
	if (!b->used)
		abort(); /* freed twice */
	b->used = false;
	ASAN_POISON_MEMORY_REGION(b->at, b->size);
}

/* --- Memory that is shared with providers ---------------------------------------------------- */

#define SHARED_MAX 256u

/* Its descriptors, out of the way of those that an input opens and closes. */
#define FIRST_FD 512

struct view {
	void *at; /* NULL: never mapped */
	bool used;
};

struct shared {
	int fd;
	ino_t inode;
	uint64_t size;
	bool taken;	      /* by this input: what is under way in messages may be mapped late */
	bool dirty;	      /* was taken since it was cleared */
	struct view views[2]; /* to read, to write */
};

static struct shared shared[SHARED_MAX];
static unsigned shared_count;

static struct shared *shared_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return NULL;
	for (unsigned i = 0; i < shared_count; i++) {
		if (shared[i].inode == st.st_ino)
			return &shared[i];
	}
	return NULL;
}

static void *view_at(struct shared *s, bool writable)
{
	struct view *v = &s->views[writable];

	if (!v->at) {
		v->at = mmap(NULL, s->size, writable ? PROT_READ | PROT_WRITE : PROT_READ,
			     MAP_SHARED, s->fd, 0);
		if (v->at == MAP_FAILED)
			abort();
	}
	return v->at;
}

/* Zeroes what there is: most of a buffer was never touched. */
static void shared_clear(struct shared *s)
{
	uint8_t *memory = view_at(s, true);
	off_t from = 0, to;

	while ((from = lseek(s->fd, from, SEEK_DATA)) >= 0) {
		to = lseek(s->fd, from, SEEK_HOLE);
		memset(memory + from, 0, (size_t)(to - from));
		from = to;
	}
	s->dirty = false;
}

static struct shared *shared_take(const char *name, uint64_t size)
{
	struct shared *s;
	struct stat st;
	int fd;

	for (unsigned i = 0; i < shared_count; i++) {
		s = &shared[i];
		if (!s->taken && s->size == size)
			return s;
	}
	if (shared_count == SHARED_MAX)
		return NULL;
	s = &shared[shared_count];
	fd = memfd_create(name, MFD_CLOEXEC);
	s->fd = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD);
	if (s->fd < 0 || ftruncate(s->fd, (off_t)size) < 0 || fstat(s->fd, &st) < 0)
		abort();
	close(fd);
	s->inode = st.st_ino;
	s->size = size;
	shared_count++;
	return s;
}

int alone_memory_create(const char *name, uint64_t size)
{
	struct shared *s = shared_take(name, size);

	if (!s)
		return -EMFILE;
	if (s->dirty)
		shared_clear(s);
	s->dirty = s->taken = true;
	return fcntl(s->fd, F_DUPFD_CLOEXEC, 0);
}

void *alone_memory_map(int fd, bool writable)
{
	struct shared *s = shared_of(fd);

	if (!s || s->views[writable].used)
		abort();
	s->views[writable].used = true;
	return view_at(s, writable);
}

int alone_memory_map_and_seal(int fd, uint64_t size, enum fx_memfd_writer writer, void **ret)
{
	(void)size;
	*ret = alone_memory_map(fd, writer == FX_MEMFD_OURS);
	return 0;
}

int alone_munmap(void *at, size_t size)
{
	for (unsigned i = 0; i < shared_count; i++) {
		for (unsigned v = 0; v < 2; v++) {
			if (shared[i].views[v].at == at) {
				shared[i].views[v].used = false;
				return 0;
			}
		}
	}
	return munmap(at, size);
}

void alone_memory_check(void)
{
	for (unsigned i = 0; i < block_count; i++) {
		if (blocks[i].used)
			abort(); /* lost */
	}
	for (unsigned i = 0; i < shared_count; i++) {
		if (shared[i].views[0].used || shared[i].views[1].used)
			abort();
		shared[i].taken = false;
	}
}
