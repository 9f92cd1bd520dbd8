/* SPDX-License-Identifier: MIT */
#include "manager/archive/openings.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "engine/layout.h"
#include "engine/share-key.h"
#include "lists/hashes-lenient.h"

/* Where glibc has them. */
#define FOLDER "/dev/shm"

/* Files that are remembered. */
#define FILES_MAX (1u << 16)

struct fx_opened {
	UT_hash_handle hh;
	bool lost; /* not in the hash for lack of memory */
	uint64_t inode;
	uint32_t generation; /* an inode's number may come again */
	uint32_t count;
};

/* How tmpfs calls a file. */
struct tmpfs_handle {
	uint32_t generation, inode_low, inode_high;
};
#define TMPFS_HANDLE_TYPE 1

static struct fx_opened *opened_get(struct fx_openings *o, uint64_t inode, uint32_t generation)
{
	struct fx_opened *file;

	HASH_FIND(hh, o->files, &inode, sizeof(inode), file);
	if (file)
		return file;
	file = HASH_COUNT(o->files) < FILES_MAX ? calloc(1, sizeof(*file)) : NULL;
	if (!file) {
		o->is_lossy = true;
		return NULL;
	}
	file->inode = inode;
	file->generation = generation;
	HASH_ADD(hh, o->files, inode, sizeof(file->inode), file);
	if (!file->lost)
		return file;
	free(file);
	o->is_lossy = true;
	return NULL;
}

static void opened_add(struct fx_openings *o, const struct tmpfs_handle *handle)
{
	struct fx_opened *file = opened_get(
	    o, (uint64_t)handle->inode_high << 32 | handle->inode_low, handle->generation);

	if (!file || file->count == FX_OPENINGS_UNKNOWN)
		return;
	if (file->generation == handle->generation)
		file->count++;
	else
		file->count = FX_OPENINGS_UNKNOWN;
}

/* The files that are there already. */
static int openings_list(struct fx_openings *o)
{
	DIR *folder = opendir(FOLDER);
	struct fx_opened *file;
	struct dirent *entry;

	if (!folder)
		return -1;
	while ((entry = readdir(folder))) {
		file = opened_get(o, entry->d_ino, 0);
		if (file)
			file->count = FX_OPENINGS_UNKNOWN;
	}
	closedir(folder);
	return 0;
}

static int openings_watch(struct fx_openings *o)
{
	struct statfs fs;
	struct stat st;

	if (statfs(FOLDER, &fs) < 0 || fs.f_type != TMPFS_MAGIC || stat(FOLDER, &st) < 0)
		return -1;
	o->device = st.st_dev;
	o->fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK | FAN_REPORT_FID,
			      O_RDONLY | O_CLOEXEC);
	if (o->fd < 0 ||
	    fanotify_mark(o->fd, FAN_MARK_ADD, FAN_OPEN | FAN_EVENT_ON_CHILD, AT_FDCWD, FOLDER) < 0)
		return -1;
	return openings_list(o);
}

void fx_openings_begin(struct fx_openings *o)
{
	*o = (struct fx_openings){.fd = -1};
	if (openings_watch(o) < 0)
		fx_openings_end(o);
}

static void openings_event(struct fx_openings *o, const struct fanotify_event_metadata *event)
{
	const char *at = (const char *)event + event->metadata_len;
	struct fanotify_event_info_fid info;
	struct file_handle handle;
	struct tmpfs_handle name;

	if (event->mask & FAN_Q_OVERFLOW) {
		o->is_lossy = true;
		return;
	}
	if (event->event_len < event->metadata_len + sizeof(info) + sizeof(handle) + sizeof(name)) {
		o->is_lossy = true;
		return;
	}
	memcpy(&info, at, sizeof(info));
	memcpy(&handle, at + sizeof(info), sizeof(handle));
	memcpy(&name, at + sizeof(info) + sizeof(handle), sizeof(name));
	if (info.hdr.info_type == FAN_EVENT_INFO_TYPE_FID &&
	    handle.handle_type == TMPFS_HANDLE_TYPE && handle.handle_bytes == sizeof(name))
		opened_add(o, &name);
	else
		o->is_lossy = true;
}

void fx_openings_take(struct fx_openings *o)
{
	char events[16384] __attribute__((aligned(8)));
	ssize_t length;

	while (o->fd >= 0 && (length = read(o->fd, events, sizeof(events))) > 0) {
		const struct fanotify_event_metadata *event = (const void *)events;

		for (; FAN_EVENT_OK(event, length); event = FAN_EVENT_NEXT(event, length))
			openings_event(o, event);
	}
}

uint32_t fx_openings_count(const struct fx_openings *o, uint64_t key)
{
	const struct fx_opened *file, *next;

	HASH_ITER (hh, o->files, file, next) {
		uint64_t own = fx_share_key(major(o->device), minor(o->device), file->inode, 0);

		if ((own ^ key) & ~FX_SHARE_KEY_BITS)
			continue;
		return o->is_lossy ? FX_OPENINGS_UNKNOWN : file->count;
	}
	return 0;
}

void fx_openings_end(struct fx_openings *o)
{
	struct fx_opened *file, *next;

	HASH_ITER (hh, o->files, file, next) {
		HASH_DEL(o->files, file);
		free(file);
	}
	if (o->fd >= 0)
		close(o->fd);
	o->fd = -1;
}
