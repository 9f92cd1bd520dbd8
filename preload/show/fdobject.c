/* SPDX-License-Identifier: MIT */
#include "preload/show/fdobject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include <fxtrace/format.h>

#include "base/compiler.h"
#include "base/syscall.h"
#include "engine/layout.h"
#include "engine/provider/engine.h"

#define DEVICE_SHIFT 48
#define DEVICE_MASK  0xfffu
#define INODE_MASK   ((1ull << DEVICE_SHIFT) - 1)
#define PID_SHIFT    32
#define SHARES_INODE (1ull << 61)

/* What shares one inode with all of its like is told from the name. */
#define ANONYMOUS "anon_inode:"
static const struct {
	const char *name;
	unsigned type;
} anonymous[] = {
    {ANONYMOUS "[eventfd]", FXT_OBJECT_EVENT},
    {ANONYMOUS "[eventpoll]", FXT_OBJECT_PORT},
    {ANONYMOUS "[timerfd]", FXT_OBJECT_TIMER},
};

static unsigned type_of_mode(unsigned mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
	case S_IFBLK:
		return FXT_OBJECT_VMO;
	case S_IFSOCK:
		return FXT_OBJECT_SOCKET;
	case S_IFIFO:
		return FXT_OBJECT_FIFO;
	}
	return 0;
}

static unsigned type_of_anonymous(const char *name, size_t length)
{
	for (size_t i = 0; i < FX_ARRAY_LEN(anonymous); i++) {
		size_t own = strlen(anonymous[i].name);

		if ((length == own || (length > own && name[own] == ' ')) &&
		    memcmp(name, anonymous[i].name, own) == 0)
			return anonymous[i].type;
	}
	return 0;
}

static uint64_t koid_of_inode(const struct statx *file)
{
	uint64_t device = (file->stx_dev_major << 8 ^ file->stx_dev_minor) & DEVICE_MASK;

	return FX_KOID_OBJECT | device << DEVICE_SHIFT | (file->stx_ino & INODE_MASK);
}

int fx_fd_object_get(int fd, struct fx_fd_object *ret)
{
	struct fx_text text = FX_TEXT(ret->name);
	struct statx file = {0};

	if (fx_syscall6(SYS_statx, fd, (long)"", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			STATX_TYPE | STATX_INO, (long)&file, 0) != 0 ||
	    fx_fd_name(&text, fd) == FX_FD_NONE)
		return -EBADF;
	ret->length = (unsigned)fx_text_length(&text);
	if (ret->length >= strlen(ANONYMOUS) &&
	    memcmp(ret->name, ANONYMOUS, strlen(ANONYMOUS)) == 0) {
		ret->type = type_of_anonymous(ret->name, ret->length);
		ret->koid = FX_KOID_OBJECT | SHARES_INODE |
			    (uint64_t)(uint32_t)fx_engine.pid << PID_SHIFT | (uint32_t)fd;
	} else {
		ret->type = type_of_mode(file.stx_mode);
		ret->koid = koid_of_inode(&file);
	}
	return 0;
}
