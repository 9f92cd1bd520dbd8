/* SPDX-License-Identifier: MIT */
#include "manager/door/prepared.h"

#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "manager/door/memfd.h"

/* A memfd, mapped and sealed; its descriptor, or -errno. */
static int shared_create(const char *name, uint64_t size, enum fx_memfd_writer writer, void **ret)
{
	int fd = fx_memfd_create(name, size), r;

	if (fd < 0)
		return fd;
	r = fx_memfd_map_and_seal(fd, size, writer, ret);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

static int prepared_make(const struct fx_memory_shape *shape, struct fx_memory *ret)
{
	ret->control_fd = shared_create("fxtrace-control", shape->control_size, FX_MEMFD_OURS,
					(void **)&ret->control);
	if (ret->control_fd < 0)
		return ret->control_fd;
	ret->buffer_fd =
	    shared_create("fxtrace-buffer", shape->buffer_size, FX_MEMFD_THEIRS, &ret->buffer);
	if (ret->buffer_fd >= 0)
		return 0;
	munmap(ret->control, shape->control_size);
	close(ret->control_fd);
	return ret->buffer_fd;
}

static void prepared_drop(struct fx_prepared *prepared)
{
	const struct fx_memory *m = &prepared->memory;

	if (!prepared->full)
		return;
	munmap(m->control, prepared->shape.control_size);
	munmap(m->buffer, prepared->shape.buffer_size);
	close(m->control_fd);
	close(m->buffer_fd);
	prepared->full = false;
}

int fx_prepared_take(struct fx_prepared *prepared, const struct fx_memory_shape *shape,
		     struct fx_memory *ret)
{
	if (prepared->full && memcmp(&prepared->shape, shape, sizeof(*shape)) == 0) {
		*ret = prepared->memory;
		prepared->full = false;
		return 0;
	}
	prepared_drop(prepared);
	prepared->shape = *shape;
	return prepared_make(shape, ret);
}

bool fx_prepared_is_due(const struct fx_prepared *prepared)
{
	return prepared->shape.control_size && !prepared->full;
}

/* Whether so many of the last descriptors that we may have are free: those come last. One call says which are not open, and
 * takes none, not even from other threads. */
static bool numbers_are_free(unsigned count)
{
	struct pollfd last[FX_PREPARED_ROOM] = {0};
	struct rlimit limit;
	unsigned room = 0;
	int end;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur < FX_PREPARED_ROOM)
		return false;
	end = limit.rlim_cur < INT_MAX ? (int)limit.rlim_cur : INT_MAX;
	for (unsigned i = 0; i < FX_PREPARED_ROOM; i++)
		last[i].fd = end - 1 - (int)i;
	if (poll(last, FX_PREPARED_ROOM, 0) < 0)
		return false;
	for (unsigned i = 0; i < FX_PREPARED_ROOM; i++)
		room += (last[i].revents & POLLNVAL) != 0;
	return room >= count;
}

bool fx_prepared_give_back(struct fx_prepared *prepared, unsigned unless_free)
{
	if (!prepared->full || (unless_free && numbers_are_free(unless_free)))
		return false;
	fx_prepared_destroy(prepared);
	return true;
}

void fx_prepared_fill(struct fx_prepared *prepared)
{
	volatile char *page;

	if (prepared_make(&prepared->shape, &prepared->memory) < 0) {
		prepared->shape = (struct fx_memory_shape){0};
		return;
	}
	prepared->full = true;
	if (fx_prepared_give_back(prepared, FX_PREPARED_ROOM))
		return;
	/* What is written first is there by then: each of both is a fault. */
	page = (volatile char *)prepared->memory.control;
	page[0] = 0;
	page[prepared->shape.list_offset] = 0;
}

void fx_prepared_destroy(struct fx_prepared *prepared)
{
	prepared_drop(prepared);
	prepared->shape = (struct fx_memory_shape){0};
}
