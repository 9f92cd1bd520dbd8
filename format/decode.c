/* SPDX-License-Identifier: MIT */
/*
 * The decoder. A cursor walks the record's words; each take_…() moves it on by what the header
 * announces, or notes a fault and returns false. Nothing is read behind the cursor's end.
 */
#include <fxtrace/reader.h>

#include "format/plain.h"
#include "format/validate.h"

struct cursor {
	const uint64_t *words; /* of the record */
	uint64_t at;
	uint64_t end;
	enum fxt_fault_kind short_fault; /* when a word is missing */
	struct fxt_fault fault;
};

static bool cursor_fail(struct cursor *c, enum fxt_fault_kind kind, uint64_t word, uint64_t value)
{
	c->fault.kind = kind;
	c->fault.word = word;
	c->fault.value = value;
	return false;
}

static bool take_words(struct cursor *c, uint64_t n, const uint64_t **ret)
{
	if (n > c->end - c->at)
		return cursor_fail(c, c->short_fault, c->at, n);
	*ret = c->words + c->at;
	c->at += n;
	return true;
}

static bool take_word(struct cursor *c, uint64_t *ret)
{
	if (c->at >= c->end)
		return cursor_fail(c, c->short_fault, c->at, 1);
	*ret = c->words[c->at++];
	return true;
}

static bool take_bytes(struct cursor *c, uint64_t size, enum fxt_fault_kind fault,
		       struct fxt_bytes *ret)
{
	uint64_t left = c->end - c->at;
	uint64_t n = size / FXT_WORD_SIZE + (size % FXT_WORD_SIZE != 0);

	if (n > left)
		return cursor_fail(c, fault, c->at, size);
	ret->data = c->words + c->at;
	ret->size = size;
	c->at += n;
	return true;
}

/* A string whose length the header holds as a plain number. */
static bool take_text(struct cursor *c, uint64_t length, struct fxt_string *ret)
{
	struct fxt_bytes bytes;

	if (!take_bytes(c, length, FXT_FAULT_STRING_OVERRUN, &bytes))
		return false;
	*ret = (struct fxt_string){.data = bytes.data, .length = (uint32_t)length};
	return true;
}

static bool take_string(struct cursor *c, uint64_t ref, struct fxt_string *ret)
{
	uint64_t length = ref & ~(uint64_t)FXT_STRING_INLINE;

	if (!(ref & FXT_STRING_INLINE)) {
		*ret = (struct fxt_string){
		    .data = ref == FXT_STRING_EMPTY ? "" : NULL,
		    .ref = (uint16_t)ref,
		};
		return true;
	}
	if (length > FXT_MAX_STRING_LENGTH)
		return cursor_fail(c, FXT_FAULT_STRING_TOO_LONG, c->at, length);
	if (!take_text(c, length, ret))
		return false;
	ret->ref = (uint16_t)ref;
	return true;
}

static bool decode_take_thread(struct cursor *c, uint64_t ref, struct fxt_thread *ret)
{
	*ret = (struct fxt_thread){.ref = (uint8_t)ref};
	if (ref != FXT_THREAD_INLINE)
		return true;
	return take_word(c, &ret->pid) && take_word(c, &ret->tid);
}

/* --- Arguments ------------------------------------------------------------------------------- */

static bool take_arg_value(struct cursor *c, uint64_t header, struct fxt_arg *ret)
{
	switch (ret->type) {
	case FXT_ARG_NULL:
		return true;
	case FXT_ARG_INT32:
		ret->int32 = (int32_t)FXT_GET(header, ARG_VALUE32_VALUE);
		return true;
	case FXT_ARG_UINT32:
		ret->uint32 = (uint32_t)FXT_GET(header, ARG_VALUE32_VALUE);
		return true;
	case FXT_ARG_BOOL:
		ret->boolean = FXT_GET(header, ARG_BOOL_VALUE) != 0;
		return true;
	case FXT_ARG_STRING:
		return take_string(c, FXT_GET(header, ARG_STRING_VALUE), &ret->string);
	case FXT_ARG_BLOB:
		return take_bytes(c, FXT_GET(header, ARG_BLOB_SIZE), FXT_FAULT_BLOB_OVERRUN,
				  &ret->blob);
	default: /* one word, whatever it means: all share the storage of a uint64_t */
		return take_word(c, &ret->uint64);
	}
}

static bool arg_type_is_known(unsigned type)
{
	return type <= FXT_ARG_BLOB;
}

/* Reads one argument within its own bounds, then moves behind it by its size. */
static bool take_arg(struct cursor *c, struct fxt_arg *ret)
{
	uint64_t start = c->at;
	uint64_t record_end = c->end;
	uint64_t header, size;
	bool ok;

	if (!take_word(c, &header))
		return cursor_fail(c, FXT_FAULT_ARG_OVERRUN, start, 1);
	size = FXT_GET(header, ARG_SIZE);
	if (size == 0)
		return cursor_fail(c, FXT_FAULT_ARG_SIZE_ZERO, start, 0);
	if (size > record_end - start)
		return cursor_fail(c, FXT_FAULT_ARG_OVERRUN, start, size);
	*ret = (struct fxt_arg){
	    .type = (uint8_t)FXT_GET(header, ARG_TYPE),
	    .words = c->words + start,
	};
	if (arg_type_is_known(ret->type)) {
		enum fxt_fault_kind short_fault = c->short_fault;

		c->end = start + size;
		c->short_fault = FXT_FAULT_ARG_TOO_SMALL;
		ok = take_string(c, FXT_GET(header, ARG_NAME), &ret->name) &&
		     take_arg_value(c, header, ret);
		c->end = record_end;
		c->short_fault = short_fault;
		if (!ok)
			return false;
	}
	c->at = start + size;
	return true;
}

static bool take_args(struct cursor *c, uint64_t n, struct fxt_record *ret)
{
	ret->nargs = (uint32_t)n;
	for (uint64_t i = 0; i < n; i++)
		if (!take_arg(c, &ret->args[i]))
			return false;
	return true;
}

/* --- Records --------------------------------------------------------------------------------- */

static bool decode_trace_info(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	if (FXT_GET(header, TRACE_INFO_TYPE) != FXT_TRACE_INFO_MAGIC)
		return true;
	if (header != FXT_MAGIC_RECORD)
		return cursor_fail(c, FXT_FAULT_BAD_MAGIC, 0, header);
	ret->kind = FXT_KIND_MAGIC;
	return true;
}

static bool decode_metadata(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	struct fxt_provider_record *p = &ret->provider_record;

	switch (FXT_GET(header, METADATA_TYPE)) {
	case FXT_METADATA_PROVIDER_INFO:
		ret->kind = FXT_KIND_PROVIDER_INFO;
		*p =
		    (struct fxt_provider_record){.id = (uint32_t)FXT_GET(header, PROVIDER_INFO_ID)};
		return take_text(c, FXT_GET(header, PROVIDER_INFO_NAME_LENGTH), &p->name);
	case FXT_METADATA_PROVIDER_SECTION:
		ret->kind = FXT_KIND_PROVIDER_SECTION;
		*p = (struct fxt_provider_record){
		    .id = (uint32_t)FXT_GET(header, PROVIDER_SECTION_ID)};
		return true;
	case FXT_METADATA_PROVIDER_EVENT:
		ret->kind = FXT_KIND_PROVIDER_EVENT;
		*p = (struct fxt_provider_record){
		    .id = (uint32_t)FXT_GET(header, PROVIDER_EVENT_ID),
		    .event = (uint8_t)FXT_GET(header, PROVIDER_EVENT_EVENT),
		};
		return true;
	case FXT_METADATA_TRACE_INFO:
		return decode_trace_info(c, header, ret);
	default:
		return true;
	}
}

static bool decode_initialization(struct cursor *c, struct fxt_record *ret)
{
	ret->kind = FXT_KIND_INITIALIZATION;
	if (!take_word(c, &ret->initialization.ticks_per_second))
		return false;
	if (ret->initialization.ticks_per_second == 0)
		return cursor_fail(c, FXT_FAULT_BAD_TICKS, 1, 0);
	return true;
}

static bool decode_string(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	uint64_t length = FXT_GET(header, STRING_LENGTH);

	ret->kind = FXT_KIND_STRING;
	ret->string.index = (uint16_t)FXT_GET(header, STRING_INDEX);
	if (length > FXT_MAX_STRING_LENGTH)
		return cursor_fail(c, FXT_FAULT_STRING_TOO_LONG, 0, length);
	return take_text(c, length, &ret->string.text);
}

static bool decode_thread(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	ret->kind = FXT_KIND_THREAD;
	ret->thread.index = (uint8_t)FXT_GET(header, THREAD_INDEX);
	return take_word(c, &ret->thread.pid) && take_word(c, &ret->thread.tid);
}

static bool decode_event(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	struct fxt_event *e = &ret->event;

	e->type = (uint8_t)FXT_GET(header, EVENT_TYPE);
	if (e->type > FXT_EVENT_FLOW_END)
		return true;
	ret->kind = FXT_KIND_EVENT;
	e->has_scope = false;
	e->extra = 0;
	if (!take_word(c, &e->timestamp) ||
	    !decode_take_thread(c, FXT_GET(header, EVENT_THREAD), &e->thread) ||
	    !take_string(c, FXT_GET(header, EVENT_CATEGORY), &e->category) ||
	    !take_string(c, FXT_GET(header, EVENT_NAME), &e->name) ||
	    !take_args(c, FXT_GET(header, EVENT_NARGS), ret))
		return false;
	switch (e->type) {
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
		return true;
	case FXT_EVENT_INSTANT:
		e->has_scope = c->at < c->end;
		return !e->has_scope || take_word(c, &e->extra);
	default:
		return take_word(c, &e->extra);
	}
}

static bool decode_blob(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	ret->kind = FXT_KIND_BLOB;
	ret->blob.type = (uint8_t)FXT_GET(header, BLOB_TYPE);
	return take_string(c, FXT_GET(header, BLOB_NAME), &ret->blob.name) &&
	       take_bytes(c, FXT_GET(header, BLOB_SIZE), FXT_FAULT_BLOB_OVERRUN,
			  &ret->blob.payload);
}

static bool decode_userspace_object(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	struct fxt_userspace_object *o = &ret->userspace_object;
	uint64_t process = FXT_GET(header, USERSPACE_OBJECT_PROCESS);

	ret->kind = FXT_KIND_USERSPACE_OBJECT;
	o->process = (struct fxt_thread){.ref = (uint8_t)process};
	return take_word(c, &o->pointer) &&
	       (process != FXT_THREAD_INLINE || take_word(c, &o->process.pid)) &&
	       take_string(c, FXT_GET(header, USERSPACE_OBJECT_NAME), &o->name) &&
	       take_args(c, FXT_GET(header, USERSPACE_OBJECT_NARGS), ret);
}

static bool decode_kernel_object(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	struct fxt_kernel_object *o = &ret->kernel_object;

	ret->kind = FXT_KIND_KERNEL_OBJECT;
	o->type = (uint8_t)FXT_GET(header, KERNEL_OBJECT_TYPE);
	return take_word(c, &o->koid) &&
	       take_string(c, FXT_GET(header, KERNEL_OBJECT_NAME), &o->name) &&
	       take_args(c, FXT_GET(header, KERNEL_OBJECT_NARGS), ret);
}

static bool decode_legacy_switch(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	struct fxt_scheduling *s = &ret->scheduling;

	ret->kind = FXT_KIND_LEGACY_SWITCH;
	s->cpu = (uint16_t)FXT_GET(header, LEGACY_SWITCH_CPU);
	s->outgoing_state = (uint8_t)FXT_GET(header, LEGACY_SWITCH_OUTGOING_STATE);
	s->outgoing_priority = (uint8_t)FXT_GET(header, LEGACY_SWITCH_OUTGOING_PRIORITY);
	s->incoming_priority = (uint8_t)FXT_GET(header, LEGACY_SWITCH_INCOMING_PRIORITY);
	return take_word(c, &s->timestamp) &&
	       decode_take_thread(c, FXT_GET(header, LEGACY_SWITCH_OUTGOING_THREAD),
				  &s->outgoing) &&
	       decode_take_thread(c, FXT_GET(header, LEGACY_SWITCH_INCOMING_THREAD), &s->incoming);
}

static bool decode_context_switch(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	struct fxt_scheduling *s = &ret->scheduling;

	ret->kind = FXT_KIND_CONTEXT_SWITCH;
	*s = (struct fxt_scheduling){
	    .cpu = (uint16_t)FXT_GET(header, CONTEXT_SWITCH_CPU),
	    .outgoing_state = (uint8_t)FXT_GET(header, CONTEXT_SWITCH_OUTGOING_STATE),
	};
	return take_word(c, &s->timestamp) && take_word(c, &s->outgoing.tid) &&
	       take_word(c, &s->incoming.tid) &&
	       take_args(c, FXT_GET(header, CONTEXT_SWITCH_NARGS), ret);
}

static bool decode_thread_wakeup(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	struct fxt_scheduling *s = &ret->scheduling;

	ret->kind = FXT_KIND_THREAD_WAKEUP;
	*s = (struct fxt_scheduling){.cpu = (uint16_t)FXT_GET(header, THREAD_WAKEUP_CPU)};
	return take_word(c, &s->timestamp) && take_word(c, &s->incoming.tid) &&
	       take_args(c, FXT_GET(header, THREAD_WAKEUP_NARGS), ret);
}

static bool decode_scheduling(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	switch (FXT_GET(header, SCHED_TYPE)) {
	case FXT_SCHED_LEGACY_SWITCH:
		return decode_legacy_switch(c, header, ret);
	case FXT_SCHED_CONTEXT_SWITCH:
		return decode_context_switch(c, header, ret);
	case FXT_SCHED_THREAD_WAKEUP:
		return decode_thread_wakeup(c, header, ret);
	default:
		return true;
	}
}

static bool decode_log(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	ret->kind = FXT_KIND_LOG;
	return take_word(c, &ret->log.timestamp) &&
	       decode_take_thread(c, FXT_GET(header, LOG_THREAD), &ret->log.thread) &&
	       take_text(c, FXT_GET(header, LOG_LENGTH), &ret->log.message);
}

static bool decode_module(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	struct fxt_profiler *p = &ret->profiler;

	ret->kind = FXT_KIND_MODULE;
	p->module = (uint16_t)FXT_GET(header, MODULE_ID);
	return take_text(c, FXT_GET(header, MODULE_NAME_LENGTH), &p->name) &&
	       take_bytes(c, FXT_GET(header, MODULE_BUILD_ID_LENGTH), FXT_FAULT_BLOB_OVERRUN,
			  &p->build_id);
}

static bool decode_mmap(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	struct fxt_profiler *p = &ret->profiler;

	ret->kind = FXT_KIND_MMAP;
	p->module = (uint16_t)FXT_GET(header, MMAP_MODULE);
	p->flags = (uint8_t)FXT_GET(header, MMAP_FLAGS);
	return take_word(c, &p->start) && take_word(c, &p->range) && take_word(c, &p->vaddr);
}

static bool decode_backtrace(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	struct fxt_profiler *p = &ret->profiler;

	ret->kind = FXT_KIND_BACKTRACE;
	p->frame_count = (uint32_t)FXT_GET(header, BACKTRACE_FRAMES);
	return take_words(c, p->frame_count, &p->frames);
}

static bool decode_profiler(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	struct fxt_profiler *p = &ret->profiler;
	uint64_t type = FXT_GET(header, PROFILER_TYPE);

	if (type > FXT_PROFILER_BACKTRACE)
		return true;
	*p = (struct fxt_profiler){.name.data = ""};
	if (!take_word(c, &p->timestamp) ||
	    !decode_take_thread(c, FXT_GET(header, PROFILER_THREAD), &p->thread))
		return false;
	switch (type) {
	case FXT_PROFILER_MODULE:
		return decode_module(c, header, ret);
	case FXT_PROFILER_MMAP:
		return decode_mmap(c, header, ret);
	default:
		return decode_backtrace(c, header, ret);
	}
}

static bool take_large_payload(struct cursor *c, struct fxt_bytes *ret)
{
	uint64_t size;

	return take_word(c, &size) && take_bytes(c, size, FXT_FAULT_BLOB_OVERRUN, ret);
}

static bool decode_large_event(struct cursor *c, struct fxt_record *ret)
{
	struct fxt_large_blob *b = &ret->large_blob;
	uint64_t format;

	ret->kind = FXT_KIND_LARGE_EVENT;
	return take_word(c, &format) &&
	       take_string(c, FXT_GET(format, LARGE_EVENT_CATEGORY), &b->category) &&
	       take_string(c, FXT_GET(format, LARGE_EVENT_NAME), &b->name) &&
	       take_word(c, &b->timestamp) &&
	       decode_take_thread(c, FXT_GET(format, LARGE_EVENT_THREAD), &b->thread) &&
	       take_args(c, FXT_GET(format, LARGE_EVENT_NARGS), ret) &&
	       take_large_payload(c, &b->payload);
}

static bool decode_large_attachment(struct cursor *c, struct fxt_record *ret)
{
	struct fxt_large_blob *b = &ret->large_blob;
	uint64_t format;

	ret->kind = FXT_KIND_LARGE_ATTACHMENT;
	*b = (struct fxt_large_blob){0};
	return take_word(c, &format) &&
	       take_string(c, FXT_GET(format, LARGE_ATTACHMENT_CATEGORY), &b->category) &&
	       take_string(c, FXT_GET(format, LARGE_ATTACHMENT_NAME), &b->name) &&
	       take_large_payload(c, &b->payload);
}

static bool decode_large(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	if (FXT_GET(header, LARGE_TYPE) != FXT_LARGE_BLOB)
		return true;
	switch (FXT_GET(header, LARGE_BLOB_FORMAT)) {
	case FXT_LARGE_BLOB_EVENT:
		return decode_large_event(c, ret);
	case FXT_LARGE_BLOB_ATTACHMENT:
		return decode_large_attachment(c, ret);
	default:
		return true;
	}
}

/* Sets the kind and its member of the union; leaves FXT_KIND_UNKNOWN for what it does not know. */
static bool decode_body(struct cursor *c, uint64_t header, struct fxt_record *ret)
{
	switch (FXT_GET(header, RECORD_TYPE)) {
	case FXT_RECORD_METADATA:
		return decode_metadata(c, header, ret);
	case FXT_RECORD_INITIALIZATION:
		return decode_initialization(c, ret);
	case FXT_RECORD_STRING:
		return decode_string(c, header, ret);
	case FXT_RECORD_THREAD:
		return decode_thread(c, header, ret);
	case FXT_RECORD_EVENT:
		return decode_event(c, header, ret);
	case FXT_RECORD_BLOB:
		return decode_blob(c, header, ret);
	case FXT_RECORD_USERSPACE_OBJECT:
		return decode_userspace_object(c, header, ret);
	case FXT_RECORD_KERNEL_OBJECT:
		return decode_kernel_object(c, header, ret);
	case FXT_RECORD_SCHEDULING:
		return decode_scheduling(c, header, ret);
	case FXT_RECORD_LOG:
		return decode_log(c, header, ret);
	case FXT_RECORD_PROFILER:
		return decode_profiler(c, header, ret);
	case FXT_RECORD_LARGE:
		return decode_large(c, header, ret);
	default:
		return true;
	}
}

static void set_table_string(struct fxt_string *string, uint16_t ref)
{
	string->data = ref == FXT_STRING_EMPTY ? "" : NULL;
	string->length = 0;
	string->serial = 0;
	string->ref = ref;
}

static uint64_t record_size(uint64_t header)
{
	if (FXT_GET(header, RECORD_TYPE) == FXT_RECORD_LARGE)
		return FXT_GET(header, LARGE_SIZE);
	return FXT_GET(header, RECORD_SIZE);
}

/* As fxt_record_decode(), of a record that is there; out of the way of those that are plain. */
__attribute__((noinline)) static int64_t decode_any(const uint64_t *words, struct fxt_record *ret,
						    struct fxt_fault *ret_fault)
{
	struct cursor c = {.words = words, .at = 1, .short_fault = FXT_FAULT_RECORD_TOO_SMALL};

	c.end = ret->size;
	if (ret->size == 0)
		cursor_fail(&c, FXT_FAULT_RECORD_SIZE_ZERO, 0, 0);
	else if (decode_body(&c, words[0], ret))
		return (int64_t)ret->size;
	if (ret_fault) {
		ret_fault->kind = c.fault.kind;
		ret_fault->word = c.fault.word;
		ret_fault->value = c.fault.value;
	}
	return -(int64_t)c.fault.kind;
}

int64_t fxt_record_decode(const uint64_t *words, size_t available, struct fxt_record *ret,
			  struct fxt_fault *ret_fault)
{
	size_t plain = available ? fx_plain_size(words[0]) : 0;

	if (plain > 0 && plain <= available) {
		fx_plain_decode(words, plain, ret);
		set_table_string(&ret->event.category, (uint16_t)FXT_GET(words[0], EVENT_CATEGORY));
		set_table_string(&ret->event.name, (uint16_t)FXT_GET(words[0], EVENT_NAME));
		return (int64_t)plain;
	}
	ret->size = available ? record_size(words[0]) : 0;
	if (available == 0 || ret->size > available)
		return 0;
	ret->kind = FXT_KIND_UNKNOWN;
	ret->nargs = 0;
	ret->words = words;
	return decode_any(words, ret, ret_fault);
}

int64_t fx_record_check_slow(const uint64_t *words, size_t available)
{
	struct fxt_record record;

	return fxt_record_decode(words, available, &record, NULL);
}
