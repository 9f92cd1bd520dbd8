/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/valid.h"

#include <stdlib.h>

#include "engine/layout.h"
#include "format/encode.h"

/* Bytes of a large payload; what they are does not matter. */
static const uint8_t payload[VALID_WORDS_MAX * 8 - 1024];

/* Indices 1 to 4 are known mostly: of the whole process, or of the chunk. */
static struct fxt_string take_string(struct input *in)
{
	static char text[8];
	uint8_t how = input_u8(in);

	switch (how % 4) {
	case 0:
		input_take(in, text, sizeof(text));
		return fx_string_inline(text, how / 4u % 9);
	case 1:
		return fx_string_indexed(FX_STRING_LOCAL + how / 4u % 4);
	default:
		return fx_string_indexed(how / 4u % 5);
	}
}

static struct fxt_thread take_thread(const struct valid *v, struct input *in)
{
	uint8_t how = input_u8(in);

	if (how < 128)
		return (struct fxt_thread){.ref = FX_CHUNK_THREAD_INDEX};
	if (how < 192)
		return (struct fxt_thread){.pid = v->pids[0], .tid = v->tid + how % 4u};
	return (struct fxt_thread){.pid = v->pids[0] | (uint64_t)(how / 4u % 8)
							   << FX_VTHREAD_NAME_SHIFT,
				   .tid = FX_VTHREAD | how % 4u};
}

static void take_args(struct input *in, struct fxt_record *record)
{
	record->nargs = input_below(in, 4);
	for (uint32_t i = 0; i < record->nargs; i++) {
		struct fxt_arg *arg = &record->args[i];

		arg->type = (uint8_t)input_below(in, FXT_ARG_BLOB + 1);
		arg->name = take_string(in);
		if (arg->type == FXT_ARG_STRING)
			arg->string = take_string(in);
		else if (arg->type == FXT_ARG_BLOB)
			arg->blob = (struct fxt_bytes){.data = payload, .size = input_u8(in)};
		else if (arg->type == FXT_ARG_BOOL)
			arg->boolean = input_u8(in) & 1;
		else
			arg->uint64 = input_u8(in);
	}
}

static void take_event(const struct valid *v, struct input *in, struct fxt_record *record)
{
	struct fxt_event *e = &record->event;

	e->type = (uint8_t)input_below(in, FXT_EVENT_FLOW_END + 1);
	e->thread = take_thread(v, in);
	e->timestamp = v->now + input_u8(in);
	e->category = take_string(in);
	e->name = take_string(in);
	e->has_scope = e->type == FXT_EVENT_INSTANT && input_u8(in) & 1;
	if (e->has_scope)
		e->scope = input_below(in, 3);
	else if (e->type == FXT_EVENT_DURATION_COMPLETE)
		e->extra = e->timestamp + input_u8(in);
	else if (e->type == FXT_EVENT_COUNTER || e->type > FXT_EVENT_DURATION_COMPLETE)
		e->extra = input_u8(in);
	take_args(in, record);
}

/* The name of the thread, or what it has done to another process. */
static void take_object(const struct valid *v, struct input *in, struct fxt_record *record)
{
	struct fxt_kernel_object *o = &record->kernel_object;
	uint8_t how = input_u8(in);

	if (how % 4 == 0) {
		o->type = FXT_OBJECT_THREAD;
		o->koid = v->tid;
		o->name = take_string(in);
		return;
	}
	o->type = FXT_OBJECT_PROCESS;
	o->koid = v->pids[how / 4u % VALID_PIDS];
	record->nargs = 3;
	record->args[0] = (struct fxt_arg){.type = FXT_ARG_UINT64, .uint64 = v->now};
	record->args[1] =
	    (struct fxt_arg){.type = FXT_ARG_INT32, .int32 = (int32_t)input_below(in, 6)};
	record->args[2] = (struct fxt_arg){.type = FXT_ARG_INT32, .int32 = input_u16(in)};
}

static void take_profiler(const struct valid *v, struct input *in, struct fxt_record *record)
{
	static uint64_t frames[8];
	struct fxt_profiler *p = &record->profiler;

	p->thread = take_thread(v, in);
	p->timestamp = v->now;
	p->module = input_u8(in) % 4;
	if (record->kind == FXT_KIND_BACKTRACE) {
		p->frame_count = input_below(in, 9);
		for (uint32_t i = 0; i < p->frame_count; i++)
			frames[i] = 0x1000u * input_u8(in);
		p->frames = frames;
	} else if (record->kind == FXT_KIND_MODULE) {
		p->name =
		    (struct fxt_string){.data = "/nowhere/module", .length = input_u8(in) % 16};
		p->build_id = (struct fxt_bytes){.data = payload, .size = input_u8(in) % 33};
	} else {
		p->flags = input_u8(in) % 8;
		p->start = 0x1000u * input_u8(in);
		p->range = 0x1000u * input_u8(in);
		p->vaddr = 0x1000u * input_u8(in);
	}
}

static size_t encode(const struct fxt_record *record, uint64_t *words, size_t capacity)
{
	struct fx_encoder encoder;

	fx_encoder_init(&encoder, words, capacity);
	return fx_record_encode(&encoder, record) == 0 ? encoder.used : 0;
}

size_t valid_record(const struct valid *v, struct input *in, uint64_t words[VALID_WORDS])
{
	static const enum fxt_kind kinds[] = {
	    FXT_KIND_EVENT, FXT_KIND_EVENT,  FXT_KIND_KERNEL_OBJECT, FXT_KIND_USERSPACE_OBJECT,
	    FXT_KIND_BLOB,  FXT_KIND_MODULE, FXT_KIND_MMAP,	     FXT_KIND_BACKTRACE,
	    FXT_KIND_LOG,
	};
	struct fxt_record r = {.kind = kinds[input_below(in, sizeof(kinds) / sizeof(kinds[0]))]};
	size_t size;
	uint8_t change;

	switch (r.kind) {
	case FXT_KIND_EVENT:
		take_event(v, in, &r);
		break;
	case FXT_KIND_KERNEL_OBJECT:
		take_object(v, in, &r);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
		r.userspace_object.process = take_thread(v, in);
		r.userspace_object.name = take_string(in);
		take_args(in, &r);
		break;
	case FXT_KIND_BLOB:
		r.blob.type = input_u8(in) % 4;
		r.blob.name = take_string(in);
		r.blob.payload = (struct fxt_bytes){.data = payload, .size = input_u8(in)};
		break;
	case FXT_KIND_LOG:
		r.log.thread = take_thread(v, in);
		r.log.timestamp = v->now;
		r.log.message = (struct fxt_string){.data = "message", .length = input_u8(in) % 8};
		break;
	default:
		take_profiler(v, in, &r);
	}
	size = encode(&r, words, VALID_WORDS);
	change = input_u8(in);
	if (size && change >= 0xe0)
		words[change % size] ^= input_u64(in);
	return size;
}

size_t valid_string(struct input *in, uint16_t index, uint64_t words[VALID_WORDS])
{
	/* A name; a function's address; a category that is known; a stack. */
	static const uint64_t flags[] = {0, 1ull << 48, FX_STRING_CATEGORY, FX_STRING_STACK};
	uint8_t how = input_u8(in), length = how / 4u % 4 ? how / 4u % 4 * 8 : 5;
	uint64_t flag = flags[how % 4];

	if (flag == 1ull << 48)
		length = 8;
	input_take(in, &words[1], length);
	for (unsigned i = length; i % 8; i++)
		((uint8_t *)&words[1])[i] = 0;
	words[0] = fx_header_string(1 + (length + 7u) / 8, index, length) | flag;
	return 1 + (length + 7u) / 8;
}

size_t valid_large(const struct valid *v, struct input *in, uint64_t words[VALID_WORDS_MAX])
{
	uint8_t how = input_u8(in);
	struct fxt_record r = {.kind = how & 1 ? FXT_KIND_LARGE_EVENT : FXT_KIND_LARGE_ATTACHMENT};
	struct fxt_large_blob *b = &r.large_blob;

	b->category = take_string(in);
	b->name = take_string(in);
	b->payload = (struct fxt_bytes){.data = payload, .size = input_u16(in) % sizeof(payload)};
	if (how & 1) {
		b->thread = take_thread(v, in);
		b->timestamp = v->now;
		take_args(in, &r);
	}
	return encode(&r, words, VALID_WORDS_MAX);
}
