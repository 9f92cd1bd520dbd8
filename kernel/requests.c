/* SPDX-License-Identifier: MIT */
#include "kernel/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "kernel/event-record.h"
#include "kernel/open-file.h"
#include "lists/hashes.h"
#include "lists/vector.h"

/* More of them under way are told without their ends. */
#define UNDER_WAY_MAX 4096u

/* What a thread has put into the page cache so long ago is of another request. */
#define CACHE_NS UINT64_C(1000000)

#define SECTOR 512u

/* What was done last is remembered for requests whose records come late. */
#define DONE_KEPT 64u

/* The kernel's numbers of devices, as tracepoints have them. */
#define DEVICE_MAJOR(device) ((device) >> 20)
#define DEVICE_MINOR(device) ((device)&0xfffff)

struct request {
	struct fx_task task;
	uint64_t ns;
	uint32_t device, disk; /* the disk is that of a partition */
	uint64_t sector, sectors, left;
	char flags[12];
	uint64_t inode; /* 0: not known */
	char *file;	/* owned; NULL: not known */
	int64_t error;
};

/* What a thread has put into the page cache. */
struct requests_thread {
	UT_hash_handle hh;
	uint32_t tid;
	uint32_t device;
	uint64_t inode, ns;
};

/* A file by the path that some process had it by. */
struct requests_file {
	UT_hash_handle hh;
	uint64_t inode;
	char path[];
};

/* What a disk has done. */
struct request_done {
	uint64_t ns, sector, sectors;
	int64_t error;
	uint32_t disk;
};

struct fx_requests {
	FX_VECTOR(struct request) under_way;
	struct request_done done[DONE_KEPT]; /* the newest, round and round */
	unsigned done_count;
	struct requests_thread *threads; /* by tid */
	struct requests_file *files;	 /* by inode */
};

struct fx_requests *fx_requests_create(void)
{
	return calloc(1, sizeof(struct fx_requests));
}

static void request_tell(const struct request *request, uint64_t done_ns)
{
	static const struct {
		char flag;
		const char *name;
	} names[] = {{'R', "read"}, {'W', "write"}, {'D', "discard"}, {'F', "flush"}};
	const char *name = "request";
	struct fx_kernel_event event = {
	    .task = request->task,
	    .ns = request->ns,
	    .category = "kernel:block",
	};
	char device[24];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (request->flags[0] == names[i].flag)
			name = names[i].name;
	}
	/* A flush that brings data is a write. */
	if (request->flags[0] == 'F' && strchr(request->flags, 'W'))
		name = "write";
	event.name = (struct fx_record_text){name, strlen(name)};
	snprintf(device, sizeof(device), "%u:%u", DEVICE_MAJOR(request->device),
		 DEVICE_MINOR(request->device));
	if (done_ns)
		fx_event_uint(&event, "duration_ns", done_ns - request->ns);
	else
		fx_event_true(&event, "unfinished");
	fx_event_text(&event, "device", device, strlen(device));
	fx_event_uint(&event, "sector", request->sector);
	fx_event_uint(&event, "bytes", request->sectors * SECTOR);
	fx_event_text(&event, "flags", request->flags, strlen(request->flags));
	if (request->file)
		fx_event_text(&event, "file", request->file, strlen(request->file));
	if (request->inode)
		fx_event_uint(&event, "inode", request->inode);
	if (request->error)
		fx_event_int(&event, "error", request->error);
	fx_kernel_record_event(&event);
}

static void request_remove(struct fx_requests *requests, size_t at)
{
	free(requests->under_way.items[at].file);
	requests->under_way.count--;
	memmove(&requests->under_way.items[at], &requests->under_way.items[at + 1],
		(requests->under_way.count - at) * sizeof(struct request));
}

void fx_requests_finish(struct fx_requests *requests)
{
	while (requests->under_way.count) {
		request_tell(&requests->under_way.items[0], 0);
		request_remove(requests, 0);
	}
}

static void request_file_forget(struct fx_requests *requests, struct requests_file *file)
{
	HASH_DEL(requests->files, file);
	free(file);
}

void fx_requests_destroy(struct fx_requests *requests)
{
	struct requests_thread *thread, *next;
	struct requests_file *file, *next_file;

	if (!requests)
		return;
	while (requests->under_way.count)
		request_remove(requests, requests->under_way.count - 1);
	HASH_ITER (hh, requests->threads, thread, next) {
		HASH_DEL(requests->threads, thread);
		free(thread);
	}
	HASH_ITER (hh, requests->files, file, next_file)
		request_file_forget(requests, file);
	fx_vector_free(&requests->under_way);
	free(requests);
}

/* --- Files -------------------------------------------------------------------------------------- */

static void requests_cached(struct fx_requests *requests, const struct fx_tracepoint_event *event,
			    const struct fx_ring_record *record)
{
	struct requests_thread *thread;

	HASH_FIND(hh, requests->threads, &record->tid, sizeof(record->tid), thread);
	if (!thread) {
		thread = calloc(1, sizeof(*thread));
		if (!thread)
			return;
		thread->tid = record->tid;
		HASH_ADD(hh, requests->threads, tid, sizeof(thread->tid), thread);
	}
	thread->device = (uint32_t)fx_tracepoint_value(event, FX_FIELD_CACHE_DEVICE, 0);
	thread->inode = (uint64_t)fx_tracepoint_value(event, FX_FIELD_CACHE_INODE, 0);
	thread->ns = record->ns;
}

static void request_file_remember(struct fx_requests *requests, uint64_t inode, const char *path)
{
	size_t size = strlen(path) + 1;
	struct requests_file *file = malloc(sizeof(*file) + size);

	if (!file)
		return;
	file->inode = inode;
	memcpy(file->path, path, size);
	HASH_ADD(hh, requests->files, inode, sizeof(file->inode), file);
}

/* What is at a path that was found before may have become another file. */
static bool request_file_recall(struct fx_requests *requests, dev_t device, uint64_t inode,
				char path[FX_OPEN_FILE_MAX])
{
	struct requests_file *file;
	struct stat st;

	HASH_FIND(hh, requests->files, &inode, sizeof(inode), file);
	if (!file)
		return false;
	if (stat(file->path, &st) < 0 || st.st_dev != device || st.st_ino != inode) {
		request_file_forget(requests, file);
		return false;
	}
	snprintf(path, FX_OPEN_FILE_MAX, "%s", file->path);
	return true;
}

/* A process that has ended has nothing open any more. */
static bool file_find(struct fx_requests *requests, const struct request *request, dev_t device,
		      char path[FX_OPEN_FILE_MAX])
{
	if (request_file_recall(requests, device, request->inode, path))
		return true;
	if (!fx_open_file_find(request->task.pid, device, request->inode, path))
		return false;
	request_file_remember(requests, request->inode, path);
	return true;
}

/* A read of data fills pages that the thread has put there before: no others, and what the file system reads for itself, none. */
static void request_find_file(struct fx_requests *requests, struct request *request)
{
	struct requests_thread *thread;
	char path[FX_OPEN_FILE_MAX];

	HASH_FIND(hh, requests->threads, &request->task.tid, sizeof(request->task.tid), thread);
	if (!thread || request->flags[0] != 'R' || strchr(request->flags, 'M') ||
	    thread->device != request->device || request->ns - thread->ns > CACHE_NS)
		return;
	request->inode = thread->inode;
	if (file_find(requests, request,
		      makedev(DEVICE_MAJOR(thread->device), DEVICE_MINOR(thread->device)), path))
		request->file = strdup(path);
}

/* --- Begin and end ------------------------------------------------------------------------------ */

/* A partition's requests are done as its disk's. */
static uint32_t disk_of(uint32_t device)
{
	unsigned major, minor;
	char path[80];
	FILE *file;
	int count;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", DEVICE_MAJOR(device),
		 DEVICE_MINOR(device));
	if (access(path, F_OK) != 0)
		return device;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", DEVICE_MAJOR(device),
		 DEVICE_MINOR(device));
	file = fopen(path, "re");
	count = file ? fscanf(file, "%u:%u", &major, &minor) : 0;
	if (file)
		fclose(file);
	return count == 2 ? major << 20 | minor : device;
}

/* False without memory. */
static bool requests_begin(struct fx_requests *requests, const struct fx_tracepoint_event *event,
			   const struct fx_ring_record *record)
{
	struct request request = {.task = {record->pid, record->tid}, .ns = record->ns};
	const uint8_t *flags;
	size_t size;

	request.device = (uint32_t)fx_tracepoint_value(event, FX_FIELD_BIO_DEVICE, 0);
	request.disk = disk_of(request.device);
	request.sector = (uint64_t)fx_tracepoint_value(event, FX_FIELD_BIO_SECTOR, 0);
	request.sectors = (uint32_t)fx_tracepoint_value(event, FX_FIELD_BIO_SECTORS, 0);
	request.left = request.sectors;
	flags = fx_tracepoint_array(event, FX_FIELD_BIO_FLAGS, &size);
	snprintf(request.flags, sizeof(request.flags), "%.*s",
		 flags ? (int)strnlen((const char *)flags, size) : 0, (const char *)flags);
	request_find_file(requests, &request);
	if (requests->under_way.count == UNDER_WAY_MAX) {
		request_tell(&requests->under_way.items[0], 0);
		request_remove(requests, 0);
	}
	if (fx_vector_reserve(&requests->under_way, 1) < 0) {
		free(request.file);
		return false;
	}
	requests->under_way.items[requests->under_way.count++] = request;
	return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Disks do parts of requests, and several in one. One without sectors, as a flush is, ends by its place alone. */
static bool request_is_done(struct request *request, uint64_t sector, uint64_t sectors)
{
	uint64_t end = sector + sectors, own_end = request->sector + request->sectors;
	uint64_t from = sector > request->sector ? sector : request->sector;
	uint64_t to = least(end, own_end);

	if (request->sectors == 0)
		return sectors == 0;
	if (from >= to)
		return false;
	request->left -= least(request->left, to - from);
	return request->left == 0;
}

static void request_finish(struct fx_requests *requests, size_t at, const struct request_done *done)
{
	requests->under_way.items[at].error = done->error;
	request_tell(&requests->under_way.items[at], done->ns);
	request_remove(requests, at);
}

static bool request_ends(struct request *request, const struct request_done *done)
{
	return request->disk == done->disk && request->ns <= done->ns &&
	       request_is_done(request, done->sector, done->sectors);
}

static void requests_end(struct fx_requests *requests, const struct fx_tracepoint_event *event,
			 const struct fx_ring_record *record)
{
	const struct request_done done = {
	    .ns = record->ns,
	    .disk = (uint32_t)fx_tracepoint_value(event, FX_FIELD_DONE_DEVICE, 0),
	    .sector = (uint64_t)fx_tracepoint_value(event, FX_FIELD_DONE_SECTOR, 0),
	    .sectors = (uint32_t)fx_tracepoint_value(event, FX_FIELD_DONE_SECTORS, 0),
	    .error = fx_tracepoint_value(event, FX_FIELD_DONE_ERROR, 0),
	};

	requests->done[requests->done_count++ % DONE_KEPT] = done;
	for (size_t i = 0; i < requests->under_way.count;) {
		if (request_ends(&requests->under_way.items[i], &done))
			request_finish(requests, i, &done);
		else
			i++;
	}
}

/* The newest request may have been told of later than its end: whoever wrote that record was held up meanwhile. */
static void requests_end_late(struct fx_requests *requests)
{
	size_t at = requests->under_way.count - 1;
	unsigned first = requests->done_count > DONE_KEPT ? requests->done_count - DONE_KEPT : 0;

	for (unsigned i = first; i < requests->done_count; i++) {
		const struct request_done *done = &requests->done[i % DONE_KEPT];

		if (!request_ends(&requests->under_way.items[at], done))
			continue;
		request_finish(requests, at, done);
		return;
	}
}

void fx_requests_take(struct fx_requests *requests, const struct fx_tracepoint_event *event,
		      const struct fx_ring_record *record)
{
	if (event->tracepoint == FX_TRACEPOINT_CACHE_ADD)
		requests_cached(requests, event, record);
	else if (event->tracepoint == FX_TRACEPOINT_BIO_QUEUE &&
		 requests_begin(requests, event, record))
		requests_end_late(requests);
	else if (event->tracepoint == FX_TRACEPOINT_REQUEST_DONE)
		requests_end(requests, event, record);
}
