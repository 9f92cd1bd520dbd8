/* SPDX-License-Identifier: MIT */
/*
 * What records refer to, and what they say of those that follow: the tables of the provider whose
 * section it is, names and modules, all within the memory limit.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/reader-state.h"

static const char unknown_string[] = "(unknown)";

/* --- References ------------------------------------------------------------------------------ */

static void resolve_string(struct fxt_reader *reader, struct fxt_string *s)
{
	const struct fx_string_entry *entry;

	if (s->data)
		return;
	entry = fx_tables_string(&reader->current->tables, s->ref);
	if (entry) {
		s->data = entry->data;
		s->length = entry->length;
		s->serial = entry->serial;
		return;
	}
	fx_reader_report(reader, FXT_FAULT_UNKNOWN_STRING, 0, s->ref);
	s->data = unknown_string;
	s->length = sizeof(unknown_string) - 1;
}

static void resolve_thread(struct fxt_reader *reader, struct fxt_thread *t)
{
	const struct fx_thread_entry *entry;

	if (t->ref == FXT_THREAD_INLINE)
		return;
	entry = fx_tables_thread(&reader->current->tables, t->ref);
	if (entry) {
		t->pid = entry->pid;
		t->tid = entry->tid;
		return;
	}
	fx_reader_report(reader, FXT_FAULT_UNKNOWN_THREAD, 0, t->ref);
}

static bool arg_is_string(const struct fxt_arg *arg)
{
	return arg->type == FXT_ARG_STRING;
}

static void reader_resolve_args(struct fxt_reader *reader, struct fxt_record *r)
{
	for (uint32_t i = 0; i < r->nargs; i++) {
		if (!fxt_arg_type_name(r->args[i].type))
			continue;
		resolve_string(reader, &r->args[i].name);
		if (arg_is_string(&r->args[i]))
			resolve_string(reader, &r->args[i].string);
	}
}

/* Resolves what a record other than metadata and tables refers to. */
static void reader_resolve(struct fxt_reader *reader, struct fxt_record *r)
{
	switch (r->kind) {
	case FXT_KIND_EVENT:
		resolve_thread(reader, &r->event.thread);
		resolve_string(reader, &r->event.category);
		resolve_string(reader, &r->event.name);
		break;
	case FXT_KIND_BLOB:
		resolve_string(reader, &r->blob.name);
		break;
	case FXT_KIND_USERSPACE_OBJECT:
		resolve_thread(reader, &r->userspace_object.process);
		resolve_string(reader, &r->userspace_object.name);
		break;
	case FXT_KIND_KERNEL_OBJECT:
		resolve_string(reader, &r->kernel_object.name);
		break;
	case FXT_KIND_LEGACY_SWITCH:
		resolve_thread(reader, &r->scheduling.outgoing);
		resolve_thread(reader, &r->scheduling.incoming);
		break;
	case FXT_KIND_LOG:
		resolve_thread(reader, &r->log.thread);
		break;
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
	case FXT_KIND_BACKTRACE:
		resolve_thread(reader, &r->profiler.thread);
		break;
	case FXT_KIND_LARGE_EVENT:
		resolve_thread(reader, &r->large_blob.thread);
		resolve_string(reader, &r->large_blob.category);
		resolve_string(reader, &r->large_blob.name);
		break;
	case FXT_KIND_LARGE_ATTACHMENT:
		resolve_string(reader, &r->large_blob.category);
		resolve_string(reader, &r->large_blob.name);
		break;
	default:
		break;
	}
	reader_resolve_args(reader, r);
}

/* --- Providers and tables -------------------------------------------------------------------- */

void fx_provider_init(struct provider *p, uint32_t id)
{
	p->public.id = id;
	p->public.name = p->name;
	p->public.ticks_per_second = FXT_DEFAULT_TICKS_PER_SECOND;
}

static struct provider *provider_find(struct fxt_reader *reader, uint32_t id)
{
	struct provider *p;

	HASH_FIND(hh, reader->providers, &id, sizeof(id), p);
	return p;
}

static struct provider *provider_add(struct fxt_reader *reader, uint32_t id)
{
	struct provider *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	fx_provider_init(p, id);
	HASH_ADD(hh, reader->providers, public.id, sizeof(p->public.id), p);
	if (p->lost) {
		free(p);
		return NULL;
	}
	return p;
}

static bool reader_has_room(const struct fxt_reader *reader, uint64_t bytes)
{
	return reader->table_bytes + reader->context.bytes + bytes <= reader->memory_limit;
}

static void provider_forget(struct fxt_reader *reader, struct provider *p, uint32_t id)
{
	reader->table_bytes -= p->tables.bytes;
	fx_tables_clear(&p->tables);
	fx_provider_init(p, id);
}

/* A provider that there is no place for: the next one has the same. */
static struct provider *stranger_of(struct fxt_reader *reader, uint32_t id,
				    enum fxt_fault_kind fault)
{
	fx_reader_report(reader, fault, 0, id);
	provider_forget(reader, &reader->stranger, id);
	return &reader->stranger;
}

/* A second introduction of an id starts that provider afresh, as viewers do. */
static int apply_provider_info(struct fxt_reader *reader, const struct fxt_provider_record *info)
{
	struct provider *p = provider_find(reader, info->id);

	if (p) {
		fx_reader_report(reader, FXT_FAULT_DUPLICATE_PROVIDER, 0, info->id);
		provider_forget(reader, p, info->id);
	} else if (!reader_has_room(reader, sizeof(*p))) {
		p = stranger_of(reader, info->id, FXT_FAULT_MEMORY_LIMIT);
	} else {
		p = provider_add(reader, info->id);
		if (!p)
			return -ENOMEM;
		reader->table_bytes += sizeof(*p);
	}
	memcpy(p->name, info->name.data, info->name.length);
	p->name[info->name.length] = '\0';
	reader->current = p;
	return 0;
}

static void apply_provider_section(struct fxt_reader *reader, uint32_t id)
{
	struct provider *p = provider_find(reader, id);

	reader->current = p ? p : stranger_of(reader, id, FXT_FAULT_UNKNOWN_PROVIDER);
}

/* What a string may take beside its text: the page that it is the first of. */
#define STRING_ROOM                                                                                \
	(sizeof(struct fx_string_table) + FX_STRING_PAGE_SIZE * sizeof(struct fx_string_entry))

static int apply_string(struct fxt_reader *reader, struct fxt_string_record *string)
{
	struct fx_tables *tables = &reader->current->tables;
	size_t before = tables->bytes;
	int r = 0;

	string->text.serial = ++reader->string_serial;
	if (reader_has_room(reader, STRING_ROOM + string->text.length)) {
		r = fx_tables_set_string(tables, string->index, &string->text, string->text.serial);
	} else {
		fx_reader_report(reader, FXT_FAULT_MEMORY_LIMIT, 0, string->index);
		fx_tables_unset_string(tables, string->index);
	}
	reader->table_bytes += tables->bytes - before;
	return r;
}

static int apply_thread(struct fxt_reader *reader, const struct fxt_thread_record *thread)
{
	struct fx_tables *tables = &reader->current->tables;
	size_t before = tables->bytes;
	int r = 0;

	if (tables->threads || reader_has_room(reader, sizeof(*tables->threads)))
		r = fx_tables_set_thread(tables, thread->index, thread->pid, thread->tid);
	else
		fx_reader_report(reader, FXT_FAULT_MEMORY_LIMIT, 0, thread->index);
	reader->table_bytes += tables->bytes - before;
	return r;
}

static int apply_context(struct fxt_reader *reader, const struct fxt_record *record)
{
	uint64_t limit = reader->memory_limit, id;
	int r;

	limit -= reader->table_bytes < limit ? reader->table_bytes : limit;
	r = fx_context_note(&reader->context, record, limit, &id);
	if (r == -ENOSPC) {
		fx_reader_report(reader, FXT_FAULT_MEMORY_LIMIT, 0, id);
		r = 0;
	}
	return r;
}

int fx_reader_apply(struct fxt_reader *reader, struct fxt_record *r)
{
	int error = 0;

	switch (r->kind) {
	case FXT_KIND_PROVIDER_INFO:
		error = apply_provider_info(reader, &r->provider_record);
		break;
	case FXT_KIND_PROVIDER_SECTION:
		apply_provider_section(reader, r->provider_record.id);
		break;
	case FXT_KIND_INITIALIZATION:
		reader->current->public.ticks_per_second = r->initialization.ticks_per_second;
		break;
	case FXT_KIND_STRING:
		error = apply_string(reader, &r->string);
		break;
	case FXT_KIND_THREAD:
		error = apply_thread(reader, &r->thread);
		break;
	case FXT_KIND_KERNEL_OBJECT:
	case FXT_KIND_MODULE:
	case FXT_KIND_MMAP:
		r->provider = &reader->current->public;
		reader_resolve(reader, r);
		error = apply_context(reader, r);
		break;
	default:
		reader_resolve(reader, r);
		break;
	}
	r->provider = &reader->current->public;
	return error;
}

/* --- Context ----------------------------------------------------------------------------------- */

static bool context_answer(const struct fxt_string *name, struct fxt_string *ret)
{
	if (name)
		*ret = *name;
	return name != NULL;
}

bool fxt_reader_process_name(const struct fxt_reader *reader, uint64_t pid, struct fxt_string *ret)
{
	return context_answer(fx_context_process(&reader->context, pid), ret);
}

bool fxt_reader_thread_name(const struct fxt_reader *reader, uint64_t pid, uint64_t tid,
			    struct fxt_string *ret)
{
	return context_answer(fx_context_thread(&reader->context, pid, tid), ret);
}

const struct fxt_mapping *fxt_reader_find_mapping(const struct fxt_reader *reader, uint64_t pid,
						  uint64_t address)
{
	return fx_context_mapping(&reader->context, pid, address);
}
