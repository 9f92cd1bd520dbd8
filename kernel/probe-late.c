/* SPDX-License-Identifier: MIT */
#include "kernel/probe-late.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/clock.h"
#include "kernel/event-record.h"
#include "kernel/probe-find.h"
#include "kernel/probe-place.h"
#include "kernel/probe-record.h"
#include "kernel/provider.h"
#include "lists/hashes.h"

/* Each has a descriptor on each processor, as those have that were there from the begin. */
#define LATE_MOST 256u

/* Numbers of files that are gone are used again. */
struct file_key {
	uint64_t device, inode, size, changed_s, changed_ns;
};

/* A file that was seen, so that it is looked into once. */
struct late_file {
	UT_hash_handle hh;
	struct file_key key;
	struct late_file *next; /* of those that wait to be looked into */
	int fd;			/* -1: it has been */
	char path[];
};

/* The probes of a file. */
struct late_batch {
	struct late_batch *next; /* placed before */
	struct fx_probe_list list;
	int *events; /* what records them: so many for each as there are rings */
	size_t event_count;
};

struct fx_late_probes {
	const char *words;
	struct fx_rings *rings;
	struct late_file *files; /* the seeing thread's */
	pthread_t thread;	 /* it places */
	pthread_mutex_t lock;	 /* of these three: */
	pthread_cond_t news;
	struct late_file *first, *last;
	bool ends;
	struct late_batch
	    *batches;	/* atomic: published by the placing thread, read by the recording one */
	unsigned count; /* of all probes: the placing thread's */
	bool has_complained;
	char *
	    failed; /* atomic: the path of a file whose probes are not recorded, and why; NULL: none yet, or it has been told */
	char failed_why[64];
};

/* --- Placing ------------------------------------------------------------------------------------ */

/* strerror() is of one thread at a time. */
static void late_why(int error, char *ret, size_t size)
{
	char room[64];

	snprintf(ret, size, "%s",
		 error == -E2BIG ? "there are too many at once"
				 : strerror_r(-error, room, sizeof(room)));
}

/* Who has started the session may be gone: it stands in the trace as well. */
static void late_complain(struct fx_late_probes *late, const char *path, int error)
{
	if (late->has_complained)
		return;
	late->has_complained = true;
	late_why(error, late->failed_why, sizeof(late->failed_why));
	fprintf(stderr, "fxtrace: probes (sdt:) of %s are not recorded: %s\n", path,
		late->failed_why);
	/* release: with why; pairs with fx_late_probes_tell() */
	fx_store_release(&late->failed, strdup(path));
}

void fx_late_probes_tell(struct fx_late_probes *late)
{
	static const char name[] = "probes not recorded";
	struct fx_kernel_event event = {
	    .task = {(uint32_t)getpid(), (uint32_t)getpid()},
	    .category = "sdt",
	    .name = {name, sizeof(name) - 1},
	};
	/* acquire: with why; pairs with late_complain() */
	char *path = late ? fx_load_acquire(&late->failed) : NULL;

	if (!path || !fx_kernel_event_has_room())
		return; /* it is tried again */
	event.ns = fx_boottime_ns();
	fx_event_text(&event, "file", path, strlen(path));
	fx_event_text(&event, "why", late->failed_why, strlen(late->failed_why));
	fx_kernel_record_event(&event);
	/* relaxed: the other thread complains once */
	fx_store_relaxed(&late->failed, NULL);
	free(path);
}

static void late_batch_free(struct late_batch *batch)
{
	for (size_t i = 0; i < batch->event_count; i++)
		close(batch->events[i]);
	if (batch->list.probes.count)
		fx_probe_remove_all(&batch->list);
	fx_probe_list_clear(&batch->list);
	free(batch->events);
	free(batch);
}

static int late_batch_watch(struct fx_late_probes *late, struct late_batch *batch)
{
	unsigned rings = fx_rings_late(late->rings);
	int r = 0;

	batch->events = calloc(batch->list.probes.count * rings + 1, sizeof(*batch->events));
	if (!batch->events)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < batch->list.probes.count; i++) {
		for (unsigned ring = 0; r == 0 && ring < rings; ring++) {
			int fd = fx_rings_add_late(late->rings, ring,
						   batch->list.probes.items[i].number);

			if (fd >= 0)
				batch->events[batch->event_count++] = fd;
			else
				r = fd;
		}
	}
	return r;
}

static int late_batch_place(struct fx_late_probes *late, struct late_batch *batch)
{
	int r = late->count + batch->list.probes.count > LATE_MOST ? -E2BIG : 0;

	batch->list.first = late->count + FX_PROBE_LATE_FIRST;
	if (r == 0)
		r = fx_probe_place_all(&batch->list);
	return r == 0 ? late_batch_watch(late, batch) : r;
}

static void late_file_place(struct fx_late_probes *late, struct late_file *file)
{
	struct late_batch *batch = calloc(1, sizeof(*batch));
	char path[64];
	int r = -ENOMEM;

	/* By its name another file could be meant by now, in which breakpoints would stand anywhere. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	if (batch)
		r = fx_probe_find_in(late->words, path, &batch->list);
	if (r == 0 && batch->list.probes.count)
		r = late_batch_place(late, batch);
	if (r < 0)
		late_complain(late, file->path, r);
	if (r < 0 || !batch->list.probes.count) {
		if (batch)
			late_batch_free(batch);
		return;
	}
	late->count += (unsigned)batch->list.probes.count;
	for (size_t i = 0; i < batch->list.probes.count; i++)
		fx_kernel_knows(batch->list.probes.items[i].category, FX_PROBE_DESCRIPTION);
	batch->next = late->batches;
	fx_store_release(&late->batches, batch); /* pairs with fx_late_probes_record() */
}

/* NULL: it is to end. */
static struct late_file *late_file_await(struct fx_late_probes *late)
{
	struct late_file *file;

	pthread_mutex_lock(&late->lock);
	while (!late->first && !late->ends)
		pthread_cond_wait(&late->news, &late->lock);
	file = late->ends ? NULL : late->first;
	if (file)
		late->first = file->next;
	if (!late->first)
		late->last = NULL;
	pthread_mutex_unlock(&late->lock);
	return file;
}

static void *late_main(void *opaque)
{
	struct fx_late_probes *late = opaque;
	struct late_file *file;

	while ((file = late_file_await(late))) {
		late_file_place(late, file);
		close(file->fd);
		file->fd = -1;
	}
	return NULL;
}

/* --- Files -------------------------------------------------------------------------------------- */

/* NULL: it is not new, or there is no memory. */
static struct late_file *late_file_add(struct fx_late_probes *late, const char *path,
				       const struct stat *st)
{
	const struct file_key key = {st->st_dev, st->st_ino, (uint64_t)st->st_size,
				     (uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec};
	struct late_file *file;

	HASH_FIND(hh, late->files, &key, sizeof(key), file);
	if (file)
		return NULL;
	file = calloc(1, sizeof(*file) + strlen(path) + 1);
	if (!file)
		return NULL;
	file->key = key;
	file->fd = -1;
	strcpy(file->path, path);
	HASH_ADD(hh, late->files, key, sizeof(file->key), file);
	return file;
}

void fx_late_probes_see(struct fx_late_probes *late, const char *path, int fd)
{
	struct late_file *file;
	struct stat st;

	file = fd >= 0 && fstat(fd, &st) == 0 ? late_file_add(late, path, &st) : NULL;
	if (file)
		file->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (file && file->fd < 0) { /* it is tried again when it is seen again */
		HASH_DEL(late->files, file);
		free(file);
		return;
	}
	if (!file)
		return;
	pthread_mutex_lock(&late->lock);
	if (late->last)
		late->last->next = file;
	else
		late->first = file;
	late->last = file;
	pthread_cond_signal(&late->news);
	pthread_mutex_unlock(&late->lock);
}

int fx_late_probes_create(const char *words, const struct fx_probe_list *placed,
			  struct fx_rings *rings, struct fx_late_probes **ret)
{
	struct fx_late_probes *late = calloc(1, sizeof(*late));
	struct stat st;
	int r;

	if (!late)
		return -ENOMEM;
	late->words = words;
	late->rings = rings;
	pthread_mutex_init(&late->lock, NULL);
	pthread_cond_init(&late->news, NULL);
	for (size_t i = 0; i < placed->paths.count; i++) {
		if (stat(placed->paths.items[i], &st) == 0)
			late_file_add(late, placed->paths.items[i], &st);
	}
	r = pthread_create(&late->thread, NULL, late_main, late);
	if (r == 0) {
		*ret = late;
		return 0;
	}
	late->ends = true;
	late->rings = NULL;
	fx_late_probes_destroy(late);
	return -r;
}

/* Without rings it has no thread. */
void fx_late_probes_destroy(struct fx_late_probes *late)
{
	struct late_batch *batch;
	struct late_file *file, *next;

	if (!late)
		return;
	pthread_mutex_lock(&late->lock);
	late->ends = true;
	pthread_cond_signal(&late->news);
	pthread_mutex_unlock(&late->lock);
	if (late->rings)
		pthread_join(late->thread, NULL);
	while ((batch = late->batches)) {
		late->batches = batch->next;
		late_batch_free(batch);
	}
	HASH_ITER (hh, late->files, file, next) {
		HASH_DEL(late->files, file);
		if (file->fd >= 0)
			close(file->fd);
		free(file);
	}
	pthread_cond_destroy(&late->news);
	pthread_mutex_destroy(&late->lock);
	free(late->failed);
	free(late);
}

bool fx_late_probes_record(const struct fx_late_probes *late, const struct fx_ring_record *record)
{
	/* acquire: the batch stands; pairs with late_file_place() */
	const struct late_batch *batch = fx_load_acquire(&late->batches);

	while (batch && !fx_probe_record(&batch->list, record))
		batch = batch->next;
	return batch != NULL;
}
