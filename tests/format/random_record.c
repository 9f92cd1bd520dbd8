/* SPDX-License-Identifier: MIT */
#include "tests/format/random_record.h"

#include <stdbool.h>

#include "format/encode.h"

/* What strings and blobs are cut from; filled once. */
static char pool[FXT_MAX_STRING_LENGTH];
static uint64_t frame_pool[FXT_MAX_FRAMES];
static const struct fxt_provider provider = {.id = 1, .name = "p", .ticks_per_second = 1};

uint64_t random_next(struct random_source *r)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state;
}

uint64_t random_below(struct random_source *r, uint64_t n)
{
	return random_next(r) % n;
}

/* Lengths near the word boundaries mostly, long ones at times. */
static size_t random_length(struct random_source *r, size_t max)
{
	size_t n = random_below(r, 20) ? random_below(r, 26) : random_below(r, 2000);

	return n < max ? n : max;
}

static void pool_fill(struct random_source *r)
{
	if (pool[0])
		return;
	for (size_t i = 0; i < sizeof(pool); i++)
		pool[i] = (char)(1 + random_below(r, 255));
	for (size_t i = 0; i < FXT_MAX_FRAMES; i++)
		frame_pool[i] = random_next(r);
}

static struct fxt_string random_text(struct random_source *r, size_t max)
{
	size_t length = random_length(r, max);

	return (struct fxt_string){
	    .data = pool + random_below(r, sizeof(pool) - length),
	    .length = (uint32_t)length,
	};
}

static struct fxt_string random_string(struct random_source *r)
{
	struct fxt_string s;

	if (random_below(r, 2))
		return fx_string_indexed((unsigned)random_below(r, FXT_MAX_STRING_INDEX + 1));
	s = random_text(r, FXT_MAX_STRING_LENGTH);
	return fx_string_inline(s.data, s.length);
}

static struct fxt_bytes random_bytes(struct random_source *r, size_t max)
{
	struct fxt_string s = random_text(r, max);

	return (struct fxt_bytes){.data = s.data, .size = s.length};
}

static struct fxt_thread random_thread(struct random_source *r)
{
	if (random_below(r, 2))
		return (struct fxt_thread){.ref = (uint8_t)(1 + random_below(r, 255))};
	return (struct fxt_thread){.pid = random_next(r), .tid = random_next(r)};
}

static struct fxt_arg random_arg(struct random_source *r)
{
	struct fxt_arg arg = {
	    .type = (uint8_t)random_below(r, FXT_ARG_BLOB + 1),
	    .name = random_string(r),
	};

	switch (arg.type) {
	case FXT_ARG_NULL:
		break;
	case FXT_ARG_STRING:
		arg.string = random_string(r);
		break;
	case FXT_ARG_BLOB:
		arg.blob = random_bytes(r, 2000);
		break;
	case FXT_ARG_BOOL:
		arg.boolean = random_below(r, 2);
		break;
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
		arg.uint32 = (uint32_t)random_next(r);
		break;
	default:
		arg.uint64 = random_next(r);
		break;
	}
	return arg;
}

static void random_args(struct random_source *r, struct fxt_record *record)
{
	record->nargs = (uint32_t)random_below(r, FXT_MAX_ARGS + 1);
	for (uint32_t i = 0; i < record->nargs; i++)
		record->args[i] = random_arg(r);
}

static void random_event(struct random_source *r, struct fxt_event *e)
{
	e->type = (uint8_t)random_below(r, FXT_EVENT_FLOW_END + 1);
	e->thread = random_thread(r);
	e->timestamp = random_next(r);
	e->category = random_string(r);
	e->name = random_string(r);
	e->has_scope = e->type == FXT_EVENT_INSTANT && random_below(r, 2);
	if (e->has_scope)
		e->scope = random_below(r, 3);
	else if (e->type == FXT_EVENT_COUNTER || e->type >= FXT_EVENT_DURATION_COMPLETE)
		e->extra = random_next(r);
}

static void random_scheduling(struct random_source *r, enum fxt_kind kind, struct fxt_scheduling *s)
{
	s->timestamp = random_next(r);
	s->cpu = (uint16_t)random_next(r);
	if (kind == FXT_KIND_THREAD_WAKEUP) {
		s->incoming.tid = random_next(r);
		return;
	}
	s->outgoing_state = (uint8_t)random_below(r, 16);
	if (kind == FXT_KIND_CONTEXT_SWITCH) {
		s->outgoing.tid = random_next(r);
		s->incoming.tid = random_next(r);
		return;
	}
	s->cpu &= 0xff;
	s->outgoing = random_thread(r);
	s->incoming = random_thread(r);
	s->outgoing_priority = (uint8_t)random_next(r);
	s->incoming_priority = (uint8_t)random_next(r);
}

static void random_profiler(struct random_source *r, enum fxt_kind kind, struct fxt_profiler *p)
{
	p->thread = random_thread(r);
	p->timestamp = random_next(r);
	if (kind == FXT_KIND_BACKTRACE) {
		p->frames = frame_pool;
		p->frame_count = (uint32_t)random_below(r, FXT_MAX_FRAMES + 1);
		return;
	}
	p->module = (uint16_t)random_next(r);
	if (kind == FXT_KIND_MODULE) {
		p->name = random_text(r, FXT_MAX_NAME_LENGTH);
		p->build_id = random_bytes(r, FXT_MAX_NAME_LENGTH);
		return;
	}
	p->flags = (uint8_t)random_below(r, 8);
	p->start = random_next(r);
	p->range = random_next(r);
	p->vaddr = random_next(r);
}

static void random_large_blob(struct random_source *r, enum fxt_kind kind, struct fxt_large_blob *b)
{
	b->category = random_string(r);
	b->name = random_string(r);
	b->payload = random_bytes(r, sizeof(pool));
	if (kind == FXT_KIND_LARGE_ATTACHMENT)
		return;
	b->thread = random_thread(r);
	b->timestamp = random_next(r);
}

static void random_provider_record(struct random_source *r, enum fxt_kind kind,
				   struct fxt_provider_record *p)
{
	p->id = (uint32_t)random_next(r);
	if (kind == FXT_KIND_PROVIDER_INFO)
		p->name = random_text(r, FXT_MAX_NAME_LENGTH);
	if (kind == FXT_KIND_PROVIDER_EVENT)
		p->event = (uint8_t)random_below(r, 16);
}

static void random_object(struct random_source *r, struct fxt_record *record)
{
	if (record->kind == FXT_KIND_KERNEL_OBJECT) {
		record->kernel_object.type = (uint8_t)random_next(r);
		record->kernel_object.koid = random_next(r);
		record->kernel_object.name = random_string(r);
		return;
	}
	record->userspace_object.process = random_thread(r);
	record->userspace_object.process.tid = 0;
	record->userspace_object.pointer = random_next(r);
	record->userspace_object.name = random_string(r);
}

static void random_body(struct random_source *r, struct fxt_record *record)
{
	switch (record->kind) {
	case FXT_KIND_PROVIDER_INFO:
	case FXT_KIND_PROVIDER_SECTION:
	case FXT_KIND_PROVIDER_EVENT:
		random_provider_record(r, record->kind, &record->provider_record);
		break;
	case FXT_KIND_INITIALIZATION:
		record->initialization.ticks_per_second = 1 + random_below(r, UINT64_MAX);
		break;
	case FXT_KIND_STRING:
		record->string.index = (uint16_t)random_below(r, FXT_MAX_STRING_INDEX + 1);
		record->string.text = random_text(r, FXT_MAX_STRING_LENGTH);
		break;
	case FXT_KIND_THREAD:
		record->thread.index = (uint8_t)random_next(r);
		record->thread.pid = random_next(r);
		record->thread.tid = random_next(r);
		break;
	case FXT_KIND_EVENT:
		random_event(r, &record->event);
		break;
	case FXT_KIND_BLOB:
		record->blob.type = (uint8_t)random_next(r);
		record->blob.name = random_string(r);
		record->blob.payload = random_bytes(r, FXT_MAX_STRING_LENGTH / 2);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
	case FXT_KIND_KERNEL_OBJECT:
		random_object(r, record);
		break;
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		random_scheduling(r, record->kind, &record->scheduling);
		break;
	case FXT_KIND_LOG:
		record->log.thread = random_thread(r);
		record->log.timestamp = random_next(r);
		record->log.message = random_text(r, FXT_MAX_STRING_LENGTH);
		break;
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
	case FXT_KIND_BACKTRACE:
		random_profiler(r, record->kind, &record->profiler);
		break;
	case FXT_KIND_LARGE_EVENT:
	case FXT_KIND_LARGE_ATTACHMENT:
		random_large_blob(r, record->kind, &record->large_blob);
		break;
	default:
		break;
	}
}

static bool kind_has_args(enum fxt_kind kind)
{
	switch (kind) {
	case FXT_KIND_EVENT:
	case FXT_KIND_USERSPACE_OBJECT:
	case FXT_KIND_KERNEL_OBJECT:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
	case FXT_KIND_LARGE_EVENT:
		return true;
	default:
		return false;
	}
}

void random_record(struct random_source *r, enum fxt_kind kind, struct fxt_record *ret)
{
	pool_fill(r);
	*ret = (struct fxt_record){.kind = kind, .provider = &provider};
	random_body(r, ret);
	if (kind_has_args(kind))
		random_args(r, ret);
}
