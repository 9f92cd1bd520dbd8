/* SPDX-License-Identifier: MIT */
/*
 * The encoder of whole records. A body is written behind a place kept for the header; the header
 * goes in last, when the size is known. Each put_…() does nothing once something has failed, so
 * that callers check once, at the end.
 */
#include "format/encode.h"

#include <errno.h>

struct writer {
	uint64_t *words; /* of the record */
	size_t at;
	size_t end;
	int error;
};

static void writer_fail(struct writer *w, int error)
{
	if (w->error == 0)
		w->error = error;
}

/* Room for @n words, or NULL. */
static uint64_t *writer_reserve(struct writer *w, size_t n)
{
	uint64_t *out = w->words + w->at;

	if (w->error == 0 && n > w->end - w->at)
		writer_fail(w, -ENOSPC);
	if (w->error)
		return NULL;
	w->at += n;
	return out;
}

static void put_word(struct writer *w, uint64_t word)
{
	uint64_t *out = writer_reserve(w, 1);

	if (out)
		*out = word;
}

static void encode_put_bytes(struct writer *w, const void *data, uint64_t size)
{
	uint64_t *out = writer_reserve(w, fx_bytes_words(size));

	if (out)
		fx_bytes_write(out, data, size);
}

/* A value that its field must hold. */
static uint64_t bounded(struct writer *w, uint64_t value, uint64_t max)
{
	if (value > max)
		writer_fail(w, -EINVAL);
	return value;
}

/* The ref of a string; an inline one must be what the ref says. */
static uint64_t string_ref(struct writer *w, const struct fxt_string *s)
{
	if (!(s->ref & FXT_STRING_INLINE))
		return s->ref;
	if (s->length > FXT_MAX_STRING_LENGTH || s->length != (s->ref & ~FXT_STRING_INLINE))
		writer_fail(w, -EINVAL);
	return s->ref;
}

static void encode_put_string(struct writer *w, const struct fxt_string *s)
{
	if (s->ref & FXT_STRING_INLINE)
		encode_put_bytes(w, s->data, s->length);
}

static void encode_put_thread(struct writer *w, const struct fxt_thread *t)
{
	if (t->ref != FXT_THREAD_INLINE)
		return;
	put_word(w, t->pid);
	put_word(w, t->tid);
}

/* --- Arguments ------------------------------------------------------------------------------- */

/* The bits 32 to 63 of an argument's header. */
static uint64_t arg_header_value(struct writer *w, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		return FXT_PUT(ARG_VALUE32_VALUE, (uint32_t)arg->int32);
	case FXT_ARG_UINT32:
		return FXT_PUT(ARG_VALUE32_VALUE, arg->uint32);
	case FXT_ARG_STRING:
		return FXT_PUT(ARG_STRING_VALUE, string_ref(w, &arg->string));
	case FXT_ARG_BOOL:
		return FXT_PUT(ARG_BOOL_VALUE, arg->boolean);
	case FXT_ARG_BLOB:
		return FXT_PUT(ARG_BLOB_SIZE, bounded(w, arg->blob.size, FXT_MAX(ARG_BLOB_SIZE)));
	default:
		return 0;
	}
}

/* What follows an argument's header and name. */
static void encode_put_arg_value(struct writer *w, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_NULL:
	case FXT_ARG_INT32:
	case FXT_ARG_UINT32:
	case FXT_ARG_BOOL:
		return;
	case FXT_ARG_STRING:
		encode_put_string(w, &arg->string);
		return;
	case FXT_ARG_BLOB:
		encode_put_bytes(w, arg->blob.data, arg->blob.size);
		return;
	case FXT_ARG_INT64:
	case FXT_ARG_UINT64:
	case FXT_ARG_DOUBLE:
	case FXT_ARG_POINTER:
	case FXT_ARG_KOID:
		put_word(w, arg->uint64); /* they share its storage */
		return;
	default:
		writer_fail(w, -EINVAL);
	}
}

static void encode_put_arg(struct writer *w, const struct fxt_arg *arg)
{
	size_t start = w->at;
	uint64_t *header = writer_reserve(w, 1);
	uint64_t value = arg_header_value(w, arg);
	uint64_t name = string_ref(w, &arg->name);

	encode_put_string(w, &arg->name);
	encode_put_arg_value(w, arg);
	bounded(w, w->at - start, FXT_MAX(ARG_SIZE));
	if (w->error == 0)
		*header = fx_arg_header(arg->type, w->at - start, (unsigned)name) | value;
}

static void encode_put_args(struct writer *w, const struct fxt_record *r)
{
	bounded(w, r->nargs, FXT_MAX_ARGS);
	for (uint32_t i = 0; i < r->nargs && w->error == 0; i++)
		encode_put_arg(w, &r->args[i]);
}

/* --- Records: each put_…() writes a body and returns the header, but for the size ------------ */

static uint64_t put_provider_info(struct writer *w, const struct fxt_provider_record *p)
{
	bounded(w, p->name.length, FXT_MAX_NAME_LENGTH);
	encode_put_bytes(w, p->name.data, p->name.length);
	return fx_header_provider_info(0, p->id, p->name.length);
}

static uint64_t put_initialization(struct writer *w, const struct fxt_initialization *i)
{
	if (i->ticks_per_second == 0)
		writer_fail(w, -EINVAL);
	put_word(w, i->ticks_per_second);
	return fx_header(FXT_RECORD_INITIALIZATION, 0);
}

static uint64_t put_string_record(struct writer *w, const struct fxt_string_record *s)
{
	bounded(w, s->index, FXT_MAX_STRING_INDEX);
	bounded(w, s->text.length, FXT_MAX_STRING_LENGTH);
	encode_put_bytes(w, s->text.data, s->text.length);
	return fx_header_string(0, s->index, s->text.length);
}

static uint64_t put_thread_record(struct writer *w, const struct fxt_thread_record *t)
{
	put_word(w, t->pid);
	put_word(w, t->tid);
	return fx_header(FXT_RECORD_THREAD, 0) | FXT_PUT(THREAD_INDEX, t->index);
}

static bool event_has_extra(const struct fxt_event *e)
{
	switch (e->type) {
	case FXT_EVENT_INSTANT:
		return e->has_scope;
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
		return false;
	default:
		return true;
	}
}

static uint64_t encode_put_event(struct writer *w, const struct fxt_record *r)
{
	const struct fxt_event *e = &r->event;

	bounded(w, e->type, FXT_EVENT_FLOW_END);
	put_word(w, e->timestamp);
	encode_put_thread(w, &e->thread);
	encode_put_string(w, &e->category);
	encode_put_string(w, &e->name);
	encode_put_args(w, r);
	if (event_has_extra(e))
		put_word(w, e->extra);
	return fx_header_event(0, (enum fxt_event_type)e->type, r->nargs, e->thread.ref,
			       (unsigned)string_ref(w, &e->category),
			       (unsigned)string_ref(w, &e->name));
}

static uint64_t encode_put_blob(struct writer *w, const struct fxt_blob *b)
{
	bounded(w, b->payload.size, FXT_MAX_BLOB_SIZE);
	encode_put_string(w, &b->name);
	encode_put_bytes(w, b->payload.data, b->payload.size);
	return fx_header_blob(0, (unsigned)string_ref(w, &b->name), b->payload.size, b->type);
}

static uint64_t encode_put_userspace_object(struct writer *w, const struct fxt_record *r)
{
	const struct fxt_userspace_object *o = &r->userspace_object;

	put_word(w, o->pointer);
	if (o->process.ref == FXT_THREAD_INLINE)
		put_word(w, o->process.pid);
	encode_put_string(w, &o->name);
	encode_put_args(w, r);
	return fx_header_userspace_object(0, o->process.ref, (unsigned)string_ref(w, &o->name),
					  r->nargs);
}

static uint64_t encode_put_kernel_object(struct writer *w, const struct fxt_record *r)
{
	const struct fxt_kernel_object *o = &r->kernel_object;

	put_word(w, o->koid);
	encode_put_string(w, &o->name);
	encode_put_args(w, r);
	return fx_header_kernel_object(0, o->type, (unsigned)string_ref(w, &o->name), r->nargs);
}

static uint64_t put_legacy_switch(struct writer *w, const struct fxt_scheduling *s)
{
	put_word(w, s->timestamp);
	encode_put_thread(w, &s->outgoing);
	encode_put_thread(w, &s->incoming);
	return fx_header(FXT_RECORD_SCHEDULING, 0) | FXT_PUT(SCHED_TYPE, FXT_SCHED_LEGACY_SWITCH) |
	       FXT_PUT(LEGACY_SWITCH_CPU, bounded(w, s->cpu, FXT_MAX(LEGACY_SWITCH_CPU))) |
	       FXT_PUT(LEGACY_SWITCH_OUTGOING_STATE,
		       bounded(w, s->outgoing_state, FXT_MAX(LEGACY_SWITCH_OUTGOING_STATE))) |
	       FXT_PUT(LEGACY_SWITCH_OUTGOING_THREAD, s->outgoing.ref) |
	       FXT_PUT(LEGACY_SWITCH_INCOMING_THREAD, s->incoming.ref) |
	       FXT_PUT(LEGACY_SWITCH_OUTGOING_PRIORITY, s->outgoing_priority) |
	       FXT_PUT(LEGACY_SWITCH_INCOMING_PRIORITY, s->incoming_priority);
}

static uint64_t put_context_switch(struct writer *w, const struct fxt_record *r)
{
	const struct fxt_scheduling *s = &r->scheduling;

	bounded(w, s->outgoing_state, FXT_MAX(CONTEXT_SWITCH_OUTGOING_STATE));
	put_word(w, s->timestamp);
	put_word(w, s->outgoing.tid);
	put_word(w, s->incoming.tid);
	encode_put_args(w, r);
	return fx_header_context_switch(0, r->nargs, s->cpu, s->outgoing_state);
}

static uint64_t put_thread_wakeup(struct writer *w, const struct fxt_record *r)
{
	put_word(w, r->scheduling.timestamp);
	put_word(w, r->scheduling.incoming.tid);
	encode_put_args(w, r);
	return fx_header_thread_wakeup(0, r->nargs, r->scheduling.cpu);
}

static uint64_t put_log(struct writer *w, const struct fxt_log *l)
{
	bounded(w, l->message.length, FXT_MAX_LOG_LENGTH);
	put_word(w, l->timestamp);
	encode_put_thread(w, &l->thread);
	encode_put_bytes(w, l->message.data, l->message.length);
	return fx_header_log(0, l->thread.ref, l->message.length);
}

static uint64_t put_module(struct writer *w, const struct fxt_profiler *p)
{
	bounded(w, p->name.length, FXT_MAX_NAME_LENGTH);
	bounded(w, p->build_id.size, FXT_MAX_NAME_LENGTH);
	put_word(w, p->timestamp);
	encode_put_thread(w, &p->thread);
	encode_put_bytes(w, p->name.data, p->name.length);
	encode_put_bytes(w, p->build_id.data, p->build_id.size);
	return fx_header_module(0, p->thread.ref, p->module, p->name.length, p->build_id.size);
}

static uint64_t put_mmap(struct writer *w, const struct fxt_profiler *p)
{
	bounded(w, p->flags, FXT_MAX(MMAP_FLAGS));
	put_word(w, p->timestamp);
	encode_put_thread(w, &p->thread);
	put_word(w, p->start);
	put_word(w, p->range);
	put_word(w, p->vaddr);
	return fx_header_mmap(0, p->thread.ref, p->module, p->flags);
}

static uint64_t put_backtrace(struct writer *w, const struct fxt_profiler *p)
{
	bounded(w, p->frame_count, FXT_MAX_FRAMES);
	put_word(w, p->timestamp);
	encode_put_thread(w, &p->thread);
	encode_put_bytes(w, p->frames, (uint64_t)p->frame_count * FXT_WORD_SIZE);
	return fx_header_backtrace(0, p->thread.ref, p->frame_count);
}

static void put_large_payload(struct writer *w, const struct fxt_bytes *payload)
{
	put_word(w, payload->size);
	encode_put_bytes(w, payload->data, payload->size);
}

static uint64_t put_large_event(struct writer *w, const struct fxt_record *r)
{
	const struct fxt_large_blob *b = &r->large_blob;

	put_word(w, FXT_PUT(LARGE_EVENT_CATEGORY, string_ref(w, &b->category)) |
			FXT_PUT(LARGE_EVENT_NAME, string_ref(w, &b->name)) |
			FXT_PUT(LARGE_EVENT_NARGS, r->nargs) |
			FXT_PUT(LARGE_EVENT_THREAD, b->thread.ref));
	encode_put_string(w, &b->category);
	encode_put_string(w, &b->name);
	put_word(w, b->timestamp);
	encode_put_thread(w, &b->thread);
	encode_put_args(w, r);
	put_large_payload(w, &b->payload);
	return fx_header_large_blob(0, FXT_LARGE_BLOB_EVENT);
}

static uint64_t put_large_attachment(struct writer *w, const struct fxt_large_blob *b)
{
	put_word(w, FXT_PUT(LARGE_ATTACHMENT_CATEGORY, string_ref(w, &b->category)) |
			FXT_PUT(LARGE_ATTACHMENT_NAME, string_ref(w, &b->name)));
	encode_put_string(w, &b->category);
	encode_put_string(w, &b->name);
	put_large_payload(w, &b->payload);
	return fx_header_large_blob(0, FXT_LARGE_BLOB_ATTACHMENT);
}

static uint64_t put_record(struct writer *w, const struct fxt_record *r)
{
	switch (r->kind) {
	case FXT_KIND_PROVIDER_INFO:
		return put_provider_info(w, &r->provider_record);
	case FXT_KIND_PROVIDER_SECTION:
		return fx_header_provider_section(r->provider_record.id);
	case FXT_KIND_PROVIDER_EVENT:
		bounded(w, r->provider_record.event, FXT_MAX(PROVIDER_EVENT_EVENT));
		return fx_header_provider_event(r->provider_record.id, r->provider_record.event);
	case FXT_KIND_MAGIC:
		return FXT_MAGIC_RECORD;
	case FXT_KIND_INITIALIZATION:
		return put_initialization(w, &r->initialization);
	case FXT_KIND_STRING:
		return put_string_record(w, &r->string);
	case FXT_KIND_THREAD:
		return put_thread_record(w, &r->thread);
	case FXT_KIND_EVENT:
		return encode_put_event(w, r);
	case FXT_KIND_BLOB:
		return encode_put_blob(w, &r->blob);
	case FXT_KIND_USERSPACE_OBJECT:
		return encode_put_userspace_object(w, r);
	case FXT_KIND_KERNEL_OBJECT:
		return encode_put_kernel_object(w, r);
	case FXT_KIND_LEGACY_SWITCH:
		return put_legacy_switch(w, &r->scheduling);
	case FXT_KIND_CONTEXT_SWITCH:
		return put_context_switch(w, r);
	case FXT_KIND_THREAD_WAKEUP:
		return put_thread_wakeup(w, r);
	case FXT_KIND_LOG:
		return put_log(w, &r->log);
	case FXT_KIND_MODULE:
		return put_module(w, &r->profiler);
	case FXT_KIND_MMAP:
		return put_mmap(w, &r->profiler);
	case FXT_KIND_BACKTRACE:
		return put_backtrace(w, &r->profiler);
	case FXT_KIND_LARGE_EVENT:
		return put_large_event(w, r);
	case FXT_KIND_LARGE_ATTACHMENT:
		return put_large_attachment(w, &r->large_blob);
	default:
		writer_fail(w, -EINVAL);
		return 0;
	}
}

static uint64_t header_with_size(struct writer *w, uint64_t header)
{
	if (FXT_GET(header, RECORD_TYPE) == FXT_RECORD_LARGE)
		return (header & ~FXT_PUT(LARGE_SIZE, ~UINT64_C(0))) |
		       FXT_PUT(LARGE_SIZE, bounded(w, w->at, FXT_MAX(LARGE_SIZE)));
	return (header & ~FXT_PUT(RECORD_SIZE, ~UINT64_C(0))) |
	       FXT_PUT(RECORD_SIZE, bounded(w, w->at, FXT_MAX_RECORD_WORDS));
}

int fx_record_encode(struct fx_encoder *encoder, const struct fxt_record *record)
{
	struct writer w = {
	    .words = encoder->words + encoder->used,
	    .end = encoder->capacity - encoder->used,
	};
	uint64_t *header;

	if (record->kind == FXT_KIND_UNKNOWN) {
		encode_put_bytes(&w, record->words, record->size * FXT_WORD_SIZE);
	} else {
		uint64_t word;

		header = writer_reserve(&w, 1);
		word = put_record(&w, record);
		word = header_with_size(&w, word);
		if (w.error == 0)
			*header = word;
	}
	if (w.error == 0)
		encoder->used += w.at;
	return w.error;
}

/* --- Shorthands ------------------------------------------------------------------------------ */

int fx_encode_magic(struct fx_encoder *encoder)
{
	return fx_record_encode(encoder, &(struct fxt_record){.kind = FXT_KIND_MAGIC});
}

int fx_encode_provider_info(struct fx_encoder *encoder, uint32_t id, const char *name,
			    size_t length)
{
	struct fxt_record record = {.kind = FXT_KIND_PROVIDER_INFO};

	if (length > FXT_MAX_NAME_LENGTH)
		return -EINVAL;
	record.provider_record.id = id;
	record.provider_record.name.data = name;
	record.provider_record.name.length = (uint32_t)length;
	return fx_record_encode(encoder, &record);
}

int fx_encode_provider_section(struct fx_encoder *encoder, uint32_t id)
{
	struct fxt_record record = {.kind = FXT_KIND_PROVIDER_SECTION};

	record.provider_record.id = id;
	return fx_record_encode(encoder, &record);
}

int fx_encode_provider_event(struct fx_encoder *encoder, uint32_t id, unsigned event)
{
	struct fxt_record record = {.kind = FXT_KIND_PROVIDER_EVENT};

	if (event > FXT_MAX(PROVIDER_EVENT_EVENT))
		return -EINVAL;
	record.provider_record.id = id;
	record.provider_record.event = (uint8_t)event;
	return fx_record_encode(encoder, &record);
}

int fx_encode_initialization(struct fx_encoder *encoder, uint64_t ticks_per_second)
{
	struct fxt_record record = {.kind = FXT_KIND_INITIALIZATION};

	record.initialization.ticks_per_second = ticks_per_second;
	return fx_record_encode(encoder, &record);
}

int fx_encode_string(struct fx_encoder *encoder, unsigned index, const char *text, size_t length)
{
	struct fxt_record record = {.kind = FXT_KIND_STRING};

	if (index == 0 || index > FXT_MAX_STRING_INDEX || length > FXT_MAX_STRING_LENGTH)
		return -EINVAL;
	record.string.index = (uint16_t)index;
	record.string.text.data = text;
	record.string.text.length = (uint32_t)length;
	return fx_record_encode(encoder, &record);
}

int fx_encode_thread(struct fx_encoder *encoder, unsigned index, uint64_t pid, uint64_t tid)
{
	struct fxt_record record = {.kind = FXT_KIND_THREAD};

	if (index == 0 || index > FXT_MAX_THREAD_INDEX)
		return -EINVAL;
	record.thread.index = (uint8_t)index;
	record.thread.pid = pid;
	record.thread.tid = tid;
	return fx_record_encode(encoder, &record);
}

int fx_encode_process_name(struct fx_encoder *encoder, uint64_t pid, const char *name,
			   size_t length)
{
	struct fxt_record record = {.kind = FXT_KIND_KERNEL_OBJECT};

	record.kernel_object.type = FXT_OBJECT_PROCESS;
	record.kernel_object.koid = pid;
	record.kernel_object.name = fx_string_inline(name, length);
	return fx_record_encode(encoder, &record);
}

int fx_encode_thread_name(struct fx_encoder *encoder, uint64_t pid, uint64_t tid, const char *name,
			  size_t length)
{
	struct fxt_record record = {.kind = FXT_KIND_KERNEL_OBJECT, .nargs = 1};

	record.kernel_object.type = FXT_OBJECT_THREAD;
	record.kernel_object.koid = tid;
	record.kernel_object.name = fx_string_inline(name, length);
	record.args[0].type = FXT_ARG_KOID;
	record.args[0].name = fx_string_inline("process", strlen("process"));
	record.args[0].koid = pid;
	return fx_record_encode(encoder, &record);
}
