/* SPDX-License-Identifier: MIT */
#include "kernel/tasks.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lists/hashes.h"

struct tasks_entry {
	UT_hash_handle hh;
	struct fx_task task;
};

struct fx_tasks {
	struct tasks_entry *entries; /* by tid */
};

struct fx_tasks *fx_tasks_create(void)
{
	return calloc(1, sizeof(struct fx_tasks));
}

static struct tasks_entry *tasks_find(const struct fx_tasks *tasks, uint32_t tid)
{
	struct tasks_entry *entry;

	HASH_FIND(hh, tasks->entries, &tid, sizeof(tid), entry);
	return entry;
}

void fx_tasks_destroy(struct fx_tasks *tasks)
{
	struct tasks_entry *entry, *next;

	if (!tasks)
		return;
	HASH_ITER (hh, tasks->entries, entry, next)
		fx_tasks_forget(tasks, entry->task.tid);
	free(tasks);
}

void fx_tasks_know(struct fx_tasks *tasks, struct fx_task task)
{
	struct tasks_entry *entry = tasks_find(tasks, task.tid);

	if (!entry) {
		entry = calloc(1, sizeof(*entry));
		if (!entry)
			return;
		entry->task.tid = task.tid;
		HASH_ADD(hh, tasks->entries, task.tid, sizeof(entry->task.tid), entry);
	}
	entry->task.pid = task.pid;
}

void fx_tasks_forget(struct fx_tasks *tasks, uint32_t tid)
{
	struct tasks_entry *entry = tasks_find(tasks, tid);

	if (!entry)
		return;
	HASH_DEL(tasks->entries, entry);
	free(entry);
}

uint32_t fx_tasks_process(const struct fx_tasks *tasks, uint32_t tid)
{
	const struct tasks_entry *entry = tasks_find(tasks, tid);

	return entry ? entry->task.pid : 0;
}

/* --- /proc -------------------------------------------------------------------------------------- */

/* A look at all threads. */
struct tasks_look {
	uint32_t pid; /* whose they are */
	void (*see)(void *opaque, struct fx_task task, const char *name);
	void *opaque;
};

static void thread_see(void *opaque, uint32_t tid)
{
	const struct tasks_look *look = opaque;
	char path[64], name[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", look->pid, tid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(name, sizeof(name), file))
		name[0] = 0;
	fclose(file);
	name[strcspn(name, "\n")] = 0;
	look->see(look->opaque, (struct fx_task){look->pid, tid}, name);
}

/* Entries of a folder that are called by a number. */
static void numbers_see(const char *path, void (*see)(void *opaque, uint32_t number), void *opaque)
{
	const struct dirent *entry;
	DIR *folder = opendir(path);

	while (folder && (entry = readdir(folder))) {
		if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
			see(opaque, (uint32_t)strtoul(entry->d_name, NULL, 10));
	}
	if (folder)
		closedir(folder);
}

void fx_tasks_each_of(uint32_t pid, void (*see)(void *opaque, uint32_t tid), void *opaque)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	numbers_see(path, see, opaque);
}

static void process_see(void *opaque, uint32_t pid)
{
	struct tasks_look *look = opaque;

	look->pid = pid;
	fx_tasks_each_of(pid, thread_see, look);
}

void fx_tasks_each_running(void (*see)(void *opaque, struct fx_task task, const char *name),
			   void *opaque)
{
	struct tasks_look look = {.see = see, .opaque = opaque};

	numbers_see("/proc", process_see, &look);
}
