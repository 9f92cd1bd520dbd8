/* SPDX-License-Identifier: MIT */
#include "manager/door/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/atomic.h"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* Sealed, so that nobody can take away what is mapped: behind the end of a file every access is a signal. Huge pages may be
 * missing where they are touched first, which is one too. */
static bool is_steady(int fd)
{
	const int needed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
	int seals;
	struct statfs fs;

	fcntl(fd, F_ADD_SEALS, needed); /* it fails where its maker has done so, or nobody can */
	seals = fcntl(fd, F_GET_SEALS);
	return seals >= 0 && (seals & needed) == needed &&
	       !(seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) && fstatfs(fd, &fs) == 0 &&
	       fs.f_type == TMPFS_MAGIC;
}

static bool has_size(int fd, uint64_t size)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= 0 &&
	       (uint64_t)st.st_size == size;
}

int fx_foreign_map(const struct fx_foreign *f, const struct fx_layout *layout,
		   uint64_t control_size, struct fx_control **ret_control, void **ret_buffer)
{
	void *control, *buffer;
	int r;

	if (f->control_size != control_size || f->buffer_size != layout->total_size ||
	    !is_steady(f->fd) || !has_size(f->fd, control_size + layout->total_size))
		return -EINVAL;
	control = mmap(NULL, control_size, PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	if (control == MAP_FAILED)
		return -errno;
	buffer = mmap(NULL, layout->total_size, PROT_READ, MAP_SHARED, f->fd, (off_t)control_size);
	if (buffer == MAP_FAILED) {
		r = -errno;
		munmap(control, control_size);
		return r;
	}
	*ret_control = control;
	*ret_buffer = buffer;
	return 0;
}

void fx_foreign_refuse(const struct fx_foreign *f)
{
	struct fx_control *c;

	if (!is_steady(f->fd) || f->control_size > INT64_MAX / 2 ||
	    f->buffer_size > INT64_MAX / 2 || f->control_size < sizeof(*c) ||
	    !has_size(f->fd, f->control_size + f->buffer_size))
		return;
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE, MAP_SHARED, f->fd, 0);
	if (c == MAP_FAILED)
		return;
	fx_store_release(&c->state, 0); /* it records no more */
	munmap(c, sizeof(*c));
	fallocate(f->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)f->control_size,
		  (off_t)f->buffer_size);
}
