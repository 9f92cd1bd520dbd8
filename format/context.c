/* SPDX-License-Identifier: MIT */
#include "format/context.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "lists/hashes-lenient.h"

/* A module of a process. Those whose number was given again stay, for what is mapped of them. */
struct context_module {
	struct context_module *older;
	uint16_t id;
	bool lost;
	struct fxt_string name;
	struct fxt_bytes build_id;
	UT_hash_handle hh;
	char bytes[]; /* of both */
};

struct context_process {
	uint64_t pid;
	bool lost;
	struct fxt_string name;
	uint32_t provider;		/* of its modules */
	struct context_module *modules; /* hash by id */
	struct context_module *newest;
	void *mappings; /* tree, of what does not overlap */
	UT_hash_handle hh;
};

struct context_thread_key {
	uint64_t pid, tid;
};

struct context_thread {
	struct context_thread_key key;
	bool lost;
	struct fxt_string name;
	UT_hash_handle hh;
};

/* What the tree and the hash take for each. */
#define CONTEXT_NODE_BYTES 64

/* --- Memory ------------------------------------------------------------------------------------ */

struct context_room {
	struct fx_context *context;
	uint64_t limit;
	int error;
};

static void *context_alloc(struct context_room *room, size_t size)
{
	void *ret = NULL;

	if (room->context->bytes + size > room->limit) {
		room->error = -ENOSPC;
	} else {
		ret = calloc(1, size);
		room->error = ret ? 0 : -ENOMEM;
	}
	if (ret)
		room->context->bytes += size;
	return ret;
}

static void context_free(struct fx_context *context, void *memory, size_t size)
{
	if (!memory)
		return;
	context->bytes -= size;
	free(memory);
}

static void context_name_clear(struct fx_context *context, struct fxt_string *name)
{
	context_free(context, (char *)(uintptr_t)name->data, (size_t)name->length + 1);
	*name = (struct fxt_string){0};
}

/* Without room there is none: better unknown than the former. */
static void context_name_set(struct context_room *room, struct fxt_string *name,
			     const struct fxt_string *told)
{
	char *data;

	if (name->data && name->length == told->length &&
	    memcmp(name->data, told->data, told->length) == 0)
		return;
	room->context->changes++;
	context_name_clear(room->context, name);
	data = context_alloc(room, (size_t)told->length + 1);
	if (!data)
		return;
	memcpy(data, told->data, told->length);
	*name = fxt_text_of(data, told->length);
}

/* --- Processes and threads ---------------------------------------------------------------------- */

static struct context_process *context_find_process(const struct fx_context *context, uint64_t pid)
{
	struct context_process *process;

	HASH_FIND(hh, context->processes, &pid, sizeof(pid), process);
	return process;
}

static struct context_process *context_add_process(struct context_room *room, uint64_t pid)
{
	struct context_process *process = context_find_process(room->context, pid);

	if (process)
		return process;
	process = context_alloc(room, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	HASH_ADD(hh, room->context->processes, pid, sizeof(process->pid), process);
	if (!process->lost)
		return process;
	context_free(room->context, process, sizeof(*process));
	room->error = -ENOMEM;
	return NULL;
}

static struct context_thread *context_find_thread(const struct fx_context *context, uint64_t pid,
						  uint64_t tid)
{
	const struct context_thread_key key = {pid, tid};
	struct context_thread *thread;

	HASH_FIND(hh, context->threads, &key, sizeof(key), thread);
	return thread;
}

static struct context_thread *context_add_thread(struct context_room *room, uint64_t pid,
						 uint64_t tid)
{
	struct context_thread *thread = context_find_thread(room->context, pid, tid);

	if (thread)
		return thread;
	thread = context_alloc(room, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->key = (struct context_thread_key){pid, tid};
	HASH_ADD(hh, room->context->threads, key, sizeof(thread->key), thread);
	if (!thread->lost)
		return thread;
	context_free(room->context, thread, sizeof(*thread));
	room->error = -ENOMEM;
	return NULL;
}

static void context_note_object(struct context_room *room, const struct fxt_record *record)
{
	const struct fxt_kernel_object *object = &record->kernel_object;
	const struct fxt_arg *owner = fxt_record_find_arg(record, "process");
	uint64_t pid = owner && owner->type == FXT_ARG_KOID ? owner->koid : 0;

	if (object->type == FXT_OBJECT_PROCESS) {
		struct context_process *process = context_add_process(room, object->koid);

		if (process)
			context_name_set(room, &process->name, &object->name);
	} else if (object->type == FXT_OBJECT_THREAD) {
		struct context_thread *thread = context_add_thread(room, pid, object->koid);

		if (thread)
			context_name_set(room, &thread->name, &object->name);
	}
}

/* --- Modules ----------------------------------------------------------------------------------- */

/* Those that overlap are equal, to the tree. */
static int context_compare(const void *a, const void *b)
{
	const struct fxt_mapping *one = a, *other = b;

	if (one->start + (one->size - 1) < other->start)
		return -1;
	return one->start > other->start + (other->size - 1);
}

static size_t context_module_size(const struct context_module *module)
{
	return sizeof(*module) + module->name.length + 1 + module->build_id.size;
}

static void context_forget_modules(struct fx_context *context, struct context_process *process)
{
	struct context_module *module, *older;

	while (process->mappings) {
		struct fxt_mapping *mapping = *(struct fxt_mapping **)process->mappings;

		tdelete(mapping, &process->mappings, context_compare);
		context_free(context, mapping, sizeof(*mapping) + CONTEXT_NODE_BYTES);
	}
	HASH_CLEAR(hh, process->modules);
	for (module = process->newest; module; module = older) {
		older = module->older;
		context_free(context, module, context_module_size(module));
	}
	process->newest = NULL;
}

/* What another provider says of a pid is of another image of the process, or of another process. */
static struct context_process *context_image(struct context_room *room,
					     const struct fxt_record *record)
{
	struct context_process *process = context_add_process(room, record->profiler.thread.pid);

	if (process && process->provider != record->provider->id) {
		context_forget_modules(room->context, process);
		process->provider = record->provider->id;
	}
	return process;
}

static void context_note_module(struct context_room *room, const struct fxt_record *record)
{
	const struct fxt_profiler *p = &record->profiler;
	struct context_process *process = context_image(room, record);
	struct context_module *module, *former;
	char *build_id;

	if (!process)
		return;
	module = context_alloc(room, sizeof(*module) + p->name.length + 1 + p->build_id.size);
	if (!module)
		return;
	module->id = p->module;
	memcpy(module->bytes, p->name.data, p->name.length);
	module->name = fxt_text_of(module->bytes, p->name.length);
	build_id = module->bytes + p->name.length + 1;
	if (p->build_id.size)
		memcpy(build_id, p->build_id.data, p->build_id.size);
	module->build_id = (struct fxt_bytes){build_id, p->build_id.size};
	module->older = process->newest;
	process->newest = module;
	HASH_FIND(hh, process->modules, &module->id, sizeof(module->id), former);
	if (former)
		HASH_DEL(process->modules, former);
	HASH_ADD(hh, process->modules, id, sizeof(module->id), module);
	if (module->lost)
		room->error = -ENOMEM;
}

static void context_note_mmap(struct context_room *room, const struct fxt_record *record)
{
	const struct fxt_profiler *p = &record->profiler;
	struct context_process *process = context_image(room, record);
	const struct context_module *module;
	struct fxt_mapping *mapping;
	void *place;

	if (!process || p->range == 0 || p->start + (p->range - 1) < p->start)
		return;
	HASH_FIND(hh, process->modules, &p->module, sizeof(p->module), module);
	if (!module)
		return;
	mapping = context_alloc(room, sizeof(*mapping) + CONTEXT_NODE_BYTES);
	if (!mapping)
		return;
	*mapping = (struct fxt_mapping){
	    .start = p->start,
	    .size = p->range,
	    .vaddr = p->vaddr,
	    .module = p->module,
	    .flags = p->flags,
	    .name = module->name,
	    .build_id = module->build_id,
	};
	while ((place = tfind(mapping, &process->mappings, context_compare)) != NULL) {
		struct fxt_mapping *former = *(struct fxt_mapping **)place;

		tdelete(former, &process->mappings, context_compare);
		context_free(room->context, former, sizeof(*former) + CONTEXT_NODE_BYTES);
	}
	if (!tsearch(mapping, &process->mappings, context_compare)) {
		context_free(room->context, mapping, sizeof(*mapping) + CONTEXT_NODE_BYTES);
		room->error = -ENOMEM;
	}
}

/* --- Interface ---------------------------------------------------------------------------------- */

void fx_context_clear(struct fx_context *context)
{
	struct context_process *process, *next_process;
	struct context_thread *thread, *next_thread;

	HASH_ITER (hh, context->processes, process, next_process) {
		HASH_DEL(context->processes, process);
		context_forget_modules(context, process);
		context_name_clear(context, &process->name);
		free(process);
	}
	HASH_ITER (hh, context->threads, thread, next_thread) {
		HASH_DEL(context->threads, thread);
		context_name_clear(context, &thread->name);
		free(thread);
	}
	*context = (struct fx_context){0};
}

int fx_context_note(struct fx_context *context, const struct fxt_record *record, uint64_t limit,
		    uint64_t *ret_id)
{
	struct context_room room = {.context = context, .limit = limit};

	*ret_id = 0;
	switch (record->kind) {
	case FXT_KIND_KERNEL_OBJECT:
		*ret_id = record->kernel_object.koid;
		context_note_object(&room, record);
		break;
	case FXT_KIND_MODULE:
		*ret_id = record->profiler.module;
		context_note_module(&room, record);
		break;
	case FXT_KIND_MMAP:
		*ret_id = record->profiler.module;
		context_note_mmap(&room, record);
		break;
	default:
		break;
	}
	return room.error;
}

const struct fxt_string *fx_context_process(const struct fx_context *context, uint64_t pid)
{
	const struct context_process *process = context_find_process(context, pid);

	return process && process->name.data ? &process->name : NULL;
}

const struct fxt_string *fx_context_thread(const struct fx_context *context, uint64_t pid,
					   uint64_t tid)
{
	const struct context_thread *thread = context_find_thread(context, pid, tid);

	/* The process of the thread need not be told. */
	if (!thread || !thread->name.data)
		thread = context_find_thread(context, 0, tid);
	return thread && thread->name.data ? &thread->name : NULL;
}

const struct fxt_mapping *fx_context_mapping(const struct fx_context *context, uint64_t pid,
					     uint64_t address)
{
	const struct context_process *process = context_find_process(context, pid);
	const struct fxt_mapping key = {.start = address, .size = 1};
	void *place = NULL;

	if (process)
		place = tfind(&key, &process->mappings, context_compare);
	return place ? *(const struct fxt_mapping **)place : NULL;
}
