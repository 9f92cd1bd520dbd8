/* SPDX-License-Identifier: MIT */
#include "format/lint.h"

#include <inttypes.h>
#include <string.h>

#include "base/utf8.h"

#define MASK(layout)	FXT_LAYOUT_MASK(layout)
#define METADATA_MASK	(MASK(RECORD) | MASK(METADATA))
#define SCHED_MASK	(MASK(RECORD) | MASK(SCHED))
#define PROFILER_MASK	(MASK(RECORD) | MASK(PROFILER))
#define LARGE_BLOB_MASK (MASK(LARGE) | MASK(LARGE_BLOB))

/* The bits of the header word that each kind uses. */
static const uint64_t header_masks[FXT_KIND_COUNT] = {
    [FXT_KIND_UNKNOWN] = UINT64_MAX,
    [FXT_KIND_PROVIDER_INFO] = METADATA_MASK | MASK(PROVIDER_INFO),
    [FXT_KIND_PROVIDER_SECTION] = METADATA_MASK | MASK(PROVIDER_SECTION),
    [FXT_KIND_PROVIDER_EVENT] = METADATA_MASK | MASK(PROVIDER_EVENT),
    [FXT_KIND_MAGIC] = METADATA_MASK | MASK(TRACE_INFO),
    [FXT_KIND_INITIALIZATION] = MASK(RECORD),
    [FXT_KIND_STRING] = MASK(RECORD) | MASK(STRING),
    [FXT_KIND_THREAD] = MASK(RECORD) | MASK(THREAD),
    [FXT_KIND_EVENT] = MASK(RECORD) | MASK(EVENT),
    [FXT_KIND_BLOB] = MASK(RECORD) | MASK(BLOB),
    [FXT_KIND_USERSPACE_OBJECT] = MASK(RECORD) | MASK(USERSPACE_OBJECT),
    [FXT_KIND_KERNEL_OBJECT] = MASK(RECORD) | MASK(KERNEL_OBJECT),
    [FXT_KIND_LEGACY_SWITCH] = SCHED_MASK | MASK(LEGACY_SWITCH),
    [FXT_KIND_CONTEXT_SWITCH] = SCHED_MASK | MASK(CONTEXT_SWITCH),
    [FXT_KIND_THREAD_WAKEUP] = SCHED_MASK | MASK(THREAD_WAKEUP),
    [FXT_KIND_LOG] = MASK(RECORD) | MASK(LOG),
    [FXT_KIND_MODULE] = PROFILER_MASK | MASK(MODULE),
    [FXT_KIND_MMAP] = PROFILER_MASK | MASK(MMAP),
    [FXT_KIND_BACKTRACE] = PROFILER_MASK | MASK(BACKTRACE),
    [FXT_KIND_LARGE_EVENT] = LARGE_BLOB_MASK,
    [FXT_KIND_LARGE_ATTACHMENT] = LARGE_BLOB_MASK,
};

/* The bits of the header word that each type of argument uses. */
static const uint64_t arg_masks[] = {
    [FXT_ARG_NULL] = MASK(ARG),
    [FXT_ARG_INT32] = MASK(ARG) | MASK(ARG_VALUE32),
    [FXT_ARG_UINT32] = MASK(ARG) | MASK(ARG_VALUE32),
    [FXT_ARG_INT64] = MASK(ARG),
    [FXT_ARG_UINT64] = MASK(ARG),
    [FXT_ARG_DOUBLE] = MASK(ARG),
    [FXT_ARG_STRING] = MASK(ARG) | MASK(ARG_STRING),
    [FXT_ARG_POINTER] = MASK(ARG),
    [FXT_ARG_KOID] = MASK(ARG),
    [FXT_ARG_BOOL] = MASK(ARG) | MASK(ARG_BOOL),
    [FXT_ARG_BLOB] = MASK(ARG) | MASK(ARG_BLOB),
};

struct lint {
	const struct fxt_record *record;
	struct fx_violations *violations;
};

static void lint_word(struct lint *l, uint64_t word, uint64_t mask, const char *what)
{
	if (word & ~mask)
		fx_violations_warning(l->violations, l->record->offset,
				      "reserved bits set in the %s: 0x%" PRIx64, what,
				      word & ~mask);
}

static void lint_padding(struct lint *l, const void *data, uint64_t size)
{
	static const uint8_t zeros[FXT_WORD_SIZE];
	size_t used = size % FXT_WORD_SIZE;

	if (used && memcmp((const uint8_t *)data + size, zeros, FXT_WORD_SIZE - used) != 0)
		fx_violations_warning(l->violations, l->record->offset,
				      "padding of a stream is not zero");
}

static void lint_bytes(struct lint *l, const struct fxt_bytes *bytes)
{
	lint_padding(l, bytes->data, bytes->size);
}

static void lint_text(struct lint *l, const struct fxt_string *s)
{
	lint_padding(l, s->data, s->length);
	if (!fx_utf8_is_valid(s->data, s->length))
		fx_violations_warning(l->violations, l->record->offset, "text is not valid UTF-8");
	if (s->length && memchr(s->data, 0, s->length))
		fx_violations_warning(l->violations, l->record->offset,
				      "text holds a NUL, where viewers cut it");
}

/* A string by reference: only an inline one stands in the record. */
static void lint_string(struct lint *l, const struct fxt_string *s)
{
	if (s->ref & FXT_STRING_INLINE)
		lint_text(l, s);
}

static void lint_arg(struct lint *l, const struct fxt_arg *arg)
{
	if (arg->type >= sizeof(arg_masks) / sizeof(arg_masks[0]))
		return;
	lint_word(l, arg->words[0], arg_masks[arg->type], "header of an argument");
	lint_string(l, &arg->name);
	if (arg->type == FXT_ARG_STRING)
		lint_string(l, &arg->string);
	if (arg->type == FXT_ARG_BLOB)
		lint_bytes(l, &arg->blob);
}

static void lint_index(struct lint *l, unsigned index, const char *what)
{
	if (index == 0)
		fx_violations_warning(l->violations, l->record->offset,
				      "%s index 0 cannot be defined", what);
}

static void lint_large_blob(struct lint *l, const struct fxt_record *r)
{
	uint64_t mask =
	    r->kind == FXT_KIND_LARGE_EVENT ? MASK(LARGE_EVENT) : MASK(LARGE_ATTACHMENT);

	lint_word(l, r->words[1], mask, "format word");
	lint_string(l, &r->large_blob.category);
	lint_string(l, &r->large_blob.name);
	lint_bytes(l, &r->large_blob.payload);
	if (r->size > FXT_MAX_RECORD_WORDS)
		fx_violations_warning(l->violations, r->offset,
				      "large record of %" PRIu64
				      " words: a viewer that reads 12 bits of size loses its way",
				      r->size);
}

static void lint_body(struct lint *l, const struct fxt_record *r)
{
	switch (r->kind) {
	case FXT_KIND_PROVIDER_INFO:
		lint_text(l, &r->provider_record.name);
		break;
	case FXT_KIND_STRING:
		lint_index(l, r->string.index, "string");
		lint_text(l, &r->string.text);
		break;
	case FXT_KIND_THREAD:
		lint_index(l, r->thread.index, "thread");
		break;
	case FXT_KIND_EVENT:
		lint_string(l, &r->event.category);
		lint_string(l, &r->event.name);
		break;
	case FXT_KIND_BLOB:
		lint_string(l, &r->blob.name);
		lint_bytes(l, &r->blob.payload);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
		lint_string(l, &r->userspace_object.name);
		break;
	case FXT_KIND_KERNEL_OBJECT: /* any bytes may be its name */
		if (r->kernel_object.name.ref & FXT_STRING_INLINE)
			lint_padding(l, r->kernel_object.name.data, r->kernel_object.name.length);
		break;
	case FXT_KIND_LOG:
		lint_text(l, &r->log.message);
		break;
	case FXT_KIND_MODULE:
		lint_text(l, &r->profiler.name);
		lint_bytes(l, &r->profiler.build_id);
		break;
	case FXT_KIND_LARGE_EVENT:
	case FXT_KIND_LARGE_ATTACHMENT:
		lint_large_blob(l, r);
		break;
	default:
		break;
	}
}

void fx_record_lint(const struct fxt_record *record, struct fx_violations *violations)
{
	struct lint l = {.record = record, .violations = violations};

	lint_word(&l, record->words[0], header_masks[record->kind], "header");
	lint_body(&l, record);
	for (uint32_t i = 0; i < record->nargs; i++)
		lint_arg(&l, &record->args[i]);
}
