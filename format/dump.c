/* SPDX-License-Identifier: MIT */
/*
 * A record is described once, as a list of fields; the two styles differ in how a field is
 * written.
 */
#include "format/dump.h"

#include <inttypes.h>
#include <math.h>

#include "base/utf8.h"

/* Bytes of a payload that the text style shows. */
#define TEXT_BYTES_SHOWN 32

struct dump {
	FILE *out;
	bool json;
	bool in_list; /* JSON: a comma must come before the next field */
};

/* --- Numbers: most of what a dump is, so not left to printf() --------------------------------- */

static void put_unsigned(struct dump *d, uint64_t value)
{
	char digits[20]; /* of the largest number */
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	fwrite_unlocked(digits + at, 1, sizeof(digits) - at, d->out);
}

static void put_signed(struct dump *d, int64_t value)
{
	if (value < 0)
		putc_unlocked('-', d->out);
	put_unsigned(d, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* --- Values ---------------------------------------------------------------------------------- */

static void put_quoted(struct dump *d, const char *text, size_t length)
{
	putc_unlocked('"', d->out);
	while (length > 0) {
		size_t n = fx_utf8_sequence(text, length);

		if (n == 0) {
			fputs_unlocked("\xef\xbf\xbd", d->out); /* the replacement character */
			n = 1;
		} else if (*text == '"' || *text == '\\') {
			putc_unlocked('\\', d->out);
			putc_unlocked(*text, d->out);
		} else if ((unsigned char)*text < 0x20 || *text == 0x7f) {
			fprintf(d->out, "\\u%04x", (unsigned)*text);
		} else if ((unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0) {
			fprintf(d->out, "\\u%04x",
				(unsigned char)text[1]); /* C1: terminals obey it */
		} else {
			fwrite_unlocked(text, 1, n, d->out);
		}
		text += n;
		length -= n;
	}
	putc_unlocked('"', d->out);
}

static void put_hex_bytes(struct dump *d, const struct fxt_bytes *bytes)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *data = bytes->data;
	uint64_t shown = bytes->size;

	if (!d->json && shown > TEXT_BYTES_SHOWN)
		shown = TEXT_BYTES_SHOWN;
	putc_unlocked('"', d->out);
	for (uint64_t i = 0; i < shown; i++) {
		putc_unlocked(digits[data[i] >> 4], d->out);
		putc_unlocked(digits[data[i] & 15], d->out);
	}
	fputs_unlocked(shown < bytes->size ? "...\"" : "\"", d->out);
}

static void put_double(struct dump *d, double value)
{
	if (d->json && !isfinite(value))
		fputs_unlocked("null", d->out);
	else
		fprintf(d->out, "%.17g", value);
}

/* A pointer or address; JSON has no hexadecimal numbers. */
static void put_address(struct dump *d, uint64_t value)
{
	fprintf(d->out, d->json ? "\"0x%" PRIx64 "\"" : "0x%" PRIx64, value);
}

/* --- Fields ---------------------------------------------------------------------------------- */

static void put_key(struct dump *d, const char *key)
{
	if (!d->json) {
		putc_unlocked(' ', d->out);
		fputs_unlocked(key, d->out);
		putc_unlocked('=', d->out);
		return;
	}
	fputs_unlocked(d->in_list ? ",\"" : "\"", d->out);
	d->in_list = true;
	fputs_unlocked(key, d->out);
	fputs_unlocked("\":", d->out);
}

static void dump_put_number(struct dump *d, const char *key, uint64_t value)
{
	put_key(d, key);
	put_unsigned(d, value);
}

static void put_address_field(struct dump *d, const char *key, uint64_t value)
{
	put_key(d, key);
	put_address(d, value);
}

static void dump_put_string(struct dump *d, const char *key, const struct fxt_string *s)
{
	put_key(d, key);
	put_quoted(d, s->data, s->length);
	if (!d->json && s->ref != 0 && !(s->ref & FXT_STRING_INLINE)) {
		putc_unlocked('#', d->out);
		put_unsigned(d, s->ref);
	}
}

/* A number that has a name, or may have none. */
static void put_named(struct dump *d, const char *key, const char *name, uint64_t number)
{
	put_key(d, key);
	if (!name) {
		put_unsigned(d, number);
		return;
	}
	if (d->json)
		putc_unlocked('"', d->out);
	fputs_unlocked(name, d->out);
	if (d->json)
		putc_unlocked('"', d->out);
}

static void dump_put_thread(struct dump *d, const struct fxt_thread *t)
{
	dump_put_number(d, "pid", t->pid);
	dump_put_number(d, "tid", t->tid);
}

static void dump_put_bytes(struct dump *d, const char *size_key, const char *key,
			   const struct fxt_bytes *bytes)
{
	dump_put_number(d, size_key, bytes->size);
	put_key(d, key);
	put_hex_bytes(d, bytes);
}

/* --- Arguments ------------------------------------------------------------------------------- */

static void dump_put_arg_value(struct dump *d, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_INT32:
		put_signed(d, arg->int32);
		break;
	case FXT_ARG_UINT32:
		put_unsigned(d, arg->uint32);
		break;
	case FXT_ARG_INT64:
		put_signed(d, arg->int64);
		break;
	case FXT_ARG_UINT64:
	case FXT_ARG_KOID:
		put_unsigned(d, arg->uint64);
		break;
	case FXT_ARG_DOUBLE:
		put_double(d, arg->real);
		break;
	case FXT_ARG_STRING:
		put_quoted(d, arg->string.data, arg->string.length);
		break;
	case FXT_ARG_POINTER:
		put_address(d, arg->pointer);
		break;
	case FXT_ARG_BOOL:
		fputs_unlocked(arg->boolean ? "true" : "false", d->out);
		break;
	case FXT_ARG_BLOB:
		put_hex_bytes(d, &arg->blob);
		break;
	default: /* null, or of a type that is not known */
		fputs_unlocked("null", d->out);
		break;
	}
}

static void dump_put_arg(struct dump *d, const struct fxt_arg *arg)
{
	const char *type = fxt_arg_type_name(arg->type);

	if (d->json) {
		fputs_unlocked("{\"name\":", d->out);
		put_quoted(d, arg->name.data, arg->name.length);
		fprintf(d->out, ",\"type\":\"%s\",\"value\":", type ? type : "unknown");
		dump_put_arg_value(d, arg);
		putc_unlocked('}', d->out);
		return;
	}
	put_quoted(d, arg->name.data, arg->name.length);
	fprintf(d->out, ":%s=", type ? type : "unknown");
	dump_put_arg_value(d, arg);
}

static void dump_put_args(struct dump *d, const struct fxt_record *r)
{
	if (r->nargs == 0)
		return;
	put_key(d, "args");
	putc_unlocked(d->json ? '[' : '{', d->out);
	for (uint32_t i = 0; i < r->nargs; i++) {
		if (i > 0)
			fputs_unlocked(d->json ? "," : ", ", d->out);
		dump_put_arg(d, &r->args[i]);
	}
	putc_unlocked(d->json ? ']' : '}', d->out);
}

/* --- Records --------------------------------------------------------------------------------- */

static const char *event_extra_key(const struct fxt_event *e)
{
	switch (e->type) {
	case FXT_EVENT_COUNTER:
		return "counter_id";
	case FXT_EVENT_DURATION_COMPLETE:
		return "end";
	case FXT_EVENT_INSTANT:
	case FXT_EVENT_DURATION_BEGIN:
	case FXT_EVENT_DURATION_END:
		return NULL;
	default:
		return "id";
	}
}

static void dump_put_event(struct dump *d, const struct fxt_event *e)
{
	const char *extra = event_extra_key(e);

	put_named(d, "type", fxt_event_type_name(e->type), e->type);
	dump_put_thread(d, &e->thread);
	dump_put_number(d, "ts", e->timestamp);
	if (extra)
		dump_put_number(d, extra, e->extra);
	if (e->has_scope)
		put_named(d, "scope", fxt_scope_name(e->scope), e->scope);
	dump_put_string(d, "category", &e->category);
	dump_put_string(d, "name", &e->name);
}

static void put_scheduling(struct dump *d, const struct fxt_record *r)
{
	const struct fxt_scheduling *s = &r->scheduling;

	dump_put_number(d, "cpu", s->cpu);
	dump_put_number(d, "ts", s->timestamp);
	if (r->kind != FXT_KIND_THREAD_WAKEUP) {
		if (r->kind == FXT_KIND_LEGACY_SWITCH)
			dump_put_number(d, "outgoing_pid", s->outgoing.pid);
		dump_put_number(d, "outgoing_tid", s->outgoing.tid);
		put_named(d, "outgoing_state", fxt_thread_state_name(s->outgoing_state),
			  s->outgoing_state);
	}
	if (r->kind == FXT_KIND_LEGACY_SWITCH)
		dump_put_number(d, "incoming_pid", s->incoming.pid);
	dump_put_number(d, "incoming_tid", s->incoming.tid);
	if (r->kind == FXT_KIND_LEGACY_SWITCH) {
		dump_put_number(d, "outgoing_priority", s->outgoing_priority);
		dump_put_number(d, "incoming_priority", s->incoming_priority);
	}
}

static void put_frames(struct dump *d, const struct fxt_profiler *p)
{
	put_key(d, "frames");
	putc_unlocked('[', d->out);
	for (uint32_t i = 0; i < p->frame_count; i++) {
		if (i > 0)
			putc_unlocked(',', d->out);
		put_address(d, p->frames[i]);
	}
	putc_unlocked(']', d->out);
}

static void put_profiler(struct dump *d, const struct fxt_record *r)
{
	const struct fxt_profiler *p = &r->profiler;

	dump_put_thread(d, &p->thread);
	dump_put_number(d, "ts", p->timestamp);
	switch (r->kind) {
	case FXT_KIND_MODULE:
		dump_put_number(d, "module", p->module);
		dump_put_string(d, "name", &p->name);
		put_key(d, "build_id");
		put_hex_bytes(d, &p->build_id);
		break;
	case FXT_KIND_MMAP:
		dump_put_number(d, "module", p->module);
		dump_put_number(d, "flags", p->flags);
		put_address_field(d, "start", p->start);
		put_address_field(d, "range", p->range);
		put_address_field(d, "vaddr", p->vaddr);
		break;
	default:
		put_frames(d, p);
		break;
	}
}

static void put_large_blob(struct dump *d, const struct fxt_record *r)
{
	const struct fxt_large_blob *b = &r->large_blob;

	if (r->kind == FXT_KIND_LARGE_EVENT) {
		dump_put_thread(d, &b->thread);
		dump_put_number(d, "ts", b->timestamp);
	}
	dump_put_string(d, "category", &b->category);
	dump_put_string(d, "name", &b->name);
	dump_put_bytes(d, "size", "payload", &b->payload);
}

static void dump_put_userspace_object(struct dump *d, const struct fxt_userspace_object *o)
{
	dump_put_number(d, "pid", o->process.pid);
	put_address_field(d, "pointer", o->pointer);
	dump_put_string(d, "name", &o->name);
}

static void dump_put_kernel_object(struct dump *d, const struct fxt_kernel_object *o)
{
	put_named(d, "type", fxt_object_type_name(o->type), o->type);
	dump_put_number(d, "koid", o->koid);
	dump_put_string(d, "name", &o->name);
}

static void dump_put_blob(struct dump *d, const struct fxt_blob *b)
{
	put_named(d, "type", fxt_blob_type_name(b->type), b->type);
	dump_put_string(d, "name", &b->name);
	dump_put_bytes(d, "size", "payload", &b->payload);
}

static void put_unknown(struct dump *d, const struct fxt_record *r)
{
	dump_put_number(d, "type", FXT_GET(r->words[0], RECORD_TYPE));
	dump_put_number(d, "words", r->size);
	put_address_field(d, "header", r->words[0]);
}

static void put_body(struct dump *d, const struct fxt_record *r)
{
	switch (r->kind) {
	case FXT_KIND_PROVIDER_INFO:
		dump_put_number(d, "id", r->provider_record.id);
		dump_put_string(d, "name", &r->provider_record.name);
		break;
	case FXT_KIND_PROVIDER_SECTION:
		dump_put_number(d, "id", r->provider_record.id);
		break;
	case FXT_KIND_PROVIDER_EVENT:
		dump_put_number(d, "id", r->provider_record.id);
		put_named(d, "event", fxt_provider_event_name(r->provider_record.event),
			  r->provider_record.event);
		break;
	case FXT_KIND_INITIALIZATION:
		dump_put_number(d, "ticks_per_second", r->initialization.ticks_per_second);
		break;
	case FXT_KIND_STRING:
		dump_put_number(d, "index", r->string.index);
		dump_put_string(d, "text", &r->string.text);
		break;
	case FXT_KIND_THREAD:
		dump_put_number(d, "index", r->thread.index);
		dump_put_number(d, "pid", r->thread.pid);
		dump_put_number(d, "tid", r->thread.tid);
		break;
	case FXT_KIND_EVENT:
		dump_put_event(d, &r->event);
		break;
	case FXT_KIND_BLOB:
		dump_put_blob(d, &r->blob);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
		dump_put_userspace_object(d, &r->userspace_object);
		break;
	case FXT_KIND_KERNEL_OBJECT:
		dump_put_kernel_object(d, &r->kernel_object);
		break;
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		put_scheduling(d, r);
		break;
	case FXT_KIND_LOG:
		dump_put_thread(d, &r->log.thread);
		dump_put_number(d, "ts", r->log.timestamp);
		dump_put_string(d, "message", &r->log.message);
		break;
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
	case FXT_KIND_BACKTRACE:
		put_profiler(d, r);
		break;
	case FXT_KIND_LARGE_EVENT:
	case FXT_KIND_LARGE_ATTACHMENT:
		put_large_blob(d, r);
		break;
	case FXT_KIND_UNKNOWN:
		put_unknown(d, r);
		break;
	default: /* magic: says it all by its kind */
		break;
	}
}

void fx_record_dump(FILE *out, const struct fxt_record *record, enum fx_dump_style style)
{
	struct dump d = {.out = out, .json = style == FX_DUMP_JSON};

	if (d.json) {
		putc_unlocked('{', out);
		dump_put_number(&d, "offset", record->offset);
		put_named(&d, "kind", fxt_kind_name(record->kind), record->kind);
		dump_put_number(&d, "provider", record->provider->id);
	} else {
		fprintf(out, "0x%08" PRIx64 " %u %s", record->offset, record->provider->id,
			fxt_kind_name(record->kind));
	}
	put_body(&d, record);
	dump_put_args(&d, record);
	fputs_unlocked(d.json ? "}\n" : "\n", out);
}
