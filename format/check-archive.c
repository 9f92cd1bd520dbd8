/* SPDX-License-Identifier: MIT */
#include "format/check-archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(element)                                                               \
	do {                                                                                       \
		(element)->lost = true;                                                            \
	} while (0)
#include <uthash.h>

#include "format/check-ids.h"
#include "format/check-slices.h"
#include "format/lint.h"

/* A viewer was seen to crash at this one. */
#define FIRST_BAD_CPU 4096

/* A number seen, with a word about it: a provider that has had events, a process. */
struct seen {
	uint64_t number;
	uint64_t ticks_per_second; /* of the provider's latest event; 0: no event yet */
	bool lost;		   /* not in the hash for lack of memory */
	UT_hash_handle hh;
};

struct check {
	struct fx_violations *violations;
	struct fx_archive_counts *counts;
	struct fx_slices *slices;
	struct fx_runs_pool pool; /* of all that grows with the archive */
	struct fx_runs async;	  /* struct fx_id_entry */
	struct fx_runs flows;	  /* the same */
	struct seen *providers;
	struct seen *processes;
	const struct fxt_provider *last_provider; /* whose entry is @last_seen */
	struct seen *last_seen;
	uint64_t last_pid;
	bool last_pid_valid;
	bool homeless_reported;
};

static struct seen *seen_get(struct seen **set, uint64_t number)
{
	struct seen *s;

	HASH_FIND(hh, *set, &number, sizeof(number), s);
	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->number = number;
	HASH_ADD(hh, *set, number, sizeof(s->number), s);
	if (s->lost) {
		free(s);
		return NULL;
	}
	return s;
}

static void seen_clear(struct seen **set)
{
	struct seen *s, *next;

	HASH_ITER (hh, *set, s, next) {
		HASH_DEL(*set, s);
		free(s);
	}
}

static void on_fault(void *opaque, const struct fxt_fault *fault)
{
	struct check *c = opaque;
	char text[160];

	fxt_fault_format(fault, text, sizeof(text));
	fx_violations_error(c->violations, fault->offset, "%s", text);
}

/* --- Processes and providers ----------------------------------------------------------------- */

static int note_process(struct check *c, uint64_t pid)
{
	if (c->last_pid_valid && c->last_pid == pid)
		return 0;
	if (!seen_get(&c->processes, pid))
		return -ENOMEM;
	c->last_pid = pid;
	c->last_pid_valid = true;
	return 0;
}

/* The entry of the provider of a record. */
static struct seen *provider_of(struct check *c, const struct fxt_record *r)
{
	if (c->last_seen && c->last_provider == r->provider &&
	    c->last_seen->number == r->provider->id)
		return c->last_seen;
	c->last_seen = seen_get(&c->providers, r->provider->id);
	c->last_provider = r->provider;
	return c->last_seen;
}

/* Metadata belong to the archive; everything else to a provider. */
static void check_home(struct check *c, const struct fxt_record *r)
{
	if (c->homeless_reported || c->counts->providers > 0)
		return;
	fx_violations_warning(c->violations, r->offset, "record before the first provider info");
	c->homeless_reported = true;
}

static int check_initialization(struct check *c, const struct fxt_record *r)
{
	struct seen *provider = provider_of(c, r);

	if (!provider)
		return -ENOMEM;
	if (provider->ticks_per_second != 0 &&
	    provider->ticks_per_second != r->initialization.ticks_per_second)
		fx_violations_error(c->violations, r->offset,
				    "clock rate changes after events of its provider");
	return 0;
}

/* --- Times ----------------------------------------------------------------------------------- */

static uint64_t check_archive_to_ns(struct check *c, const struct fxt_record *r, uint64_t ticks)
{
	uint64_t ns = fxt_ticks_to_ns(ticks, r->provider->ticks_per_second);

	if (ns > INT64_MAX)
		fx_violations_error(c->violations, r->offset,
				    "time beyond 63 bits of nanoseconds: %" PRIu64 " ticks", ticks);
	return ns;
}

/* --- Events ---------------------------------------------------------------------------------- */

static uint64_t hash_bytes(uint64_t hash, const char *data, size_t size)
{
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (uint8_t)data[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
	return hash;
}

static uint64_t hash_name(const struct fxt_event *e)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash = hash_bytes(hash, e->category.data, e->category.length);
	hash = hash_bytes(hash, "", 1);
	return hash_bytes(hash, e->name.data, e->name.length);
}

static bool arg_is_number(const struct fxt_arg *arg)
{
	return arg->type >= FXT_ARG_INT32 && arg->type <= FXT_ARG_DOUBLE;
}

static void check_counter(struct check *c, const struct fxt_record *r)
{
	if (r->nargs == 0)
		fx_violations_warning(c->violations, r->offset,
				      "counter without arguments shows nothing");
	for (uint32_t i = 0; i < r->nargs; i++)
		if (!arg_is_number(&r->args[i]))
			fx_violations_error(c->violations, r->offset,
					    "counter with an argument that is no number");
}

static int check_complete(struct check *c, const struct fxt_record *r, uint64_t start)
{
	const struct fxt_event *e = &r->event;

	if (e->end_time < e->timestamp) {
		fx_violations_error(c->violations, r->offset,
				    "complete event ends before it starts: %" PRIu64 " < %" PRIu64,
				    e->end_time, e->timestamp);
		return 0;
	}
	return fx_slices_complete(c->slices, e->thread.pid, e->thread.tid, start,
				  check_archive_to_ns(c, r, e->end_time), r->offset);
}

static int add_id(struct fx_runs *ids, const struct fxt_record *r, uint64_t time,
		  enum fx_id_event event)
{
	struct fx_id_entry *entry = fx_runs_add(ids);

	if (!entry)
		return -ENOMEM;
	*entry = (struct fx_id_entry){
	    .id = r->event.id,
	    .time = time,
	    .pid = r->event.thread.pid,
	    .tid = r->event.thread.tid,
	    .name = hash_name(&r->event),
	    .offset = r->offset,
	    .event = event,
	};
	return 0;
}

static int check_event(struct check *c, const struct fxt_record *r)
{
	const struct fxt_event *e = &r->event;
	const struct fxt_thread *t = &e->thread;
	uint64_t time = check_archive_to_ns(c, r, e->timestamp);

	switch (e->type) {
	case FXT_EVENT_INSTANT:
		return fx_slices_complete(c->slices, t->pid, t->tid, time, time, r->offset);
	case FXT_EVENT_COUNTER:
		check_counter(c, r);
		return fx_slices_thread(c->slices, t->pid, t->tid);
	case FXT_EVENT_DURATION_BEGIN:
		return fx_slices_begin(c->slices, t->pid, t->tid, time, r->offset);
	case FXT_EVENT_DURATION_END:
		return fx_slices_end(c->slices, t->pid, t->tid, time, r->offset);
	case FXT_EVENT_DURATION_COMPLETE:
		return check_complete(c, r, time);
	case FXT_EVENT_ASYNC_BEGIN:
		return add_id(&c->async, r, time, FX_ID_BEGIN);
	case FXT_EVENT_ASYNC_INSTANT:
		return add_id(&c->async, r, time, FX_ID_STEP);
	case FXT_EVENT_ASYNC_END:
		return add_id(&c->async, r, time, FX_ID_END);
	case FXT_EVENT_FLOW_BEGIN:
		return add_id(&c->flows, r, time, FX_ID_BEGIN);
	case FXT_EVENT_FLOW_STEP:
		return add_id(&c->flows, r, time, FX_ID_STEP);
	case FXT_EVENT_FLOW_END:
		return add_id(&c->flows, r, time, FX_ID_END);
	default:
		return 0;
	}
}

static int check_archive_note_event(struct check *c, const struct fxt_record *r,
				    const struct fxt_thread *t)
{
	struct seen *provider = provider_of(c, r);
	int error;

	if (!provider)
		return -ENOMEM;
	provider->ticks_per_second = r->provider->ticks_per_second;
	c->counts->events++;
	error = note_process(c, t->pid);
	return error ? error : fx_slices_thread(c->slices, t->pid, t->tid);
}

/* --- Other records --------------------------------------------------------------------------- */

static bool is_virtual(const struct fxt_record *r)
{
	const struct fxt_arg *arg = fxt_record_find_arg(r, "virtual");

	return arg && arg->type == FXT_ARG_BOOL && arg->boolean;
}

static int check_kernel_object(struct check *c, const struct fxt_record *r)
{
	const struct fxt_kernel_object *o = &r->kernel_object;
	const struct fxt_arg *process;
	int error;

	if (o->type == FXT_OBJECT_PROCESS)
		return note_process(c, o->koid);
	if (o->type != FXT_OBJECT_THREAD)
		return 0;
	process = fxt_record_find_arg(r, "process");
	if (!process || process->type != FXT_ARG_KOID) {
		fx_violations_error(c->violations, r->offset,
				    "kernel object of thread %" PRIu64
				    " lacks the argument \"process\" of type koid",
				    o->koid);
		return 0;
	}
	error = note_process(c, process->koid);
	if (error)
		return error;
	return is_virtual(r) ? fx_slices_virtual(c->slices, process->koid, o->koid)
			     : fx_slices_thread(c->slices, process->koid, o->koid);
}

static void check_arg_type(struct check *c, const struct fxt_record *r, const char *name,
			   enum fxt_arg_type type)
{
	const struct fxt_arg *arg = fxt_record_find_arg(r, name);

	if (arg && arg->type != type)
		fx_violations_error(c->violations, r->offset, "argument \"%s\" is not of type %s",
				    name, fxt_arg_type_name(type));
}

static void check_scheduling(struct check *c, const struct fxt_record *r)
{
	check_archive_to_ns(c, r, r->scheduling.timestamp);
	if (r->scheduling.cpu >= FIRST_BAD_CPU)
		fx_violations_error(c->violations, r->offset, "CPU number %d is too large",
				    r->scheduling.cpu);
	if (r->kind == FXT_KIND_CONTEXT_SWITCH) {
		check_arg_type(c, r, "outgoing_weight", FXT_ARG_INT32);
		check_arg_type(c, r, "incoming_weight", FXT_ARG_INT32);
	} else if (r->kind == FXT_KIND_THREAD_WAKEUP) {
		check_arg_type(c, r, "weight", FXT_ARG_INT32);
		check_arg_type(c, r, "waker", FXT_ARG_KOID);
	}
}

static int check_thread_record(struct check *c, const struct fxt_record *r)
{
	int error = note_process(c, r->thread.pid);

	return error ? error : fx_slices_thread(c->slices, r->thread.pid, r->thread.tid);
}

/* Records that belong to a provider. Returns 0 or -ENOMEM. */
static int check_provided(struct check *c, const struct fxt_record *r)
{
	int error;

	check_home(c, r);
	switch (r->kind) {
	case FXT_KIND_INITIALIZATION:
		return check_initialization(c, r);
	case FXT_KIND_THREAD:
		return check_thread_record(c, r);
	case FXT_KIND_EVENT:
		error = check_archive_note_event(c, r, &r->event.thread);
		return error ? error : check_event(c, r);
	case FXT_KIND_LARGE_EVENT:
		check_archive_to_ns(c, r, r->large_blob.timestamp);
		return check_archive_note_event(c, r, &r->large_blob.thread);
	case FXT_KIND_KERNEL_OBJECT:
		return check_kernel_object(c, r);
	case FXT_KIND_LEGACY_SWITCH:
	case FXT_KIND_CONTEXT_SWITCH:
	case FXT_KIND_THREAD_WAKEUP:
		check_scheduling(c, r);
		return 0;
	case FXT_KIND_LOG:
		check_archive_to_ns(c, r, r->log.timestamp);
		return 0;
	default:
		return 0;
	}
}

static int check_record(struct check *c, const struct fxt_record *r)
{
	c->counts->records++;
	c->counts->bytes += r->size * FXT_WORD_SIZE;
	fx_record_lint(r, c->violations);
	switch (r->kind) {
	case FXT_KIND_UNKNOWN:
		c->counts->unknown_records++;
		return 0;
	case FXT_KIND_PROVIDER_INFO:
		c->counts->providers++;
		return 0;
	case FXT_KIND_MAGIC:
	case FXT_KIND_PROVIDER_SECTION:
	case FXT_KIND_PROVIDER_EVENT:
		return 0;
	default:
		return check_provided(c, r);
	}
}

static int check_all(struct check *c, struct fxt_reader *reader)
{
	const struct fxt_record *record;
	uint64_t open_threads = 0, open_async = 0;
	int r;

	while ((r = fxt_reader_next(reader, &record)) > 0) {
		r = check_record(c, record);
		if (r < 0)
			return r;
	}
	if (r < 0)
		return r;
	r = fx_ids_check_async(&c->async, c->violations, &open_async);
	if (r == 0)
		r = fx_ids_check_flows(&c->flows, c->violations, c->slices);
	fx_runs_release(&c->async);
	fx_runs_release(&c->flows);
	if (r == 0)
		r = fx_slices_check(c->slices, c->violations, &open_threads);
	if (r < 0)
		return r;
	c->counts->open_slices = open_threads + open_async;
	c->counts->threads = fx_slices_thread_count(c->slices);
	c->counts->processes = HASH_COUNT(c->processes);
	return 0;
}

int fx_archive_check(struct fxt_reader *reader, struct fx_violations *violations,
		     struct fx_archive_counts *ret)
{
	struct check c = {.violations = violations, .counts = ret};
	int r;

	*ret = (struct fx_archive_counts){0};
	fx_runs_pool_init(&c.pool);
	c.slices = fx_slices_new(&c.pool);
	if (!c.slices)
		return -ENOMEM;
	fx_runs_init(&c.async, &c.pool, &fx_ids_kind);
	fx_runs_init(&c.flows, &c.pool, &fx_ids_kind);
	fxt_reader_set_fault_handler(reader, on_fault, &c);
	r = check_all(&c, reader);
	fxt_reader_set_fault_handler(reader, NULL, NULL);
	fx_slices_free(c.slices);
	fx_runs_release(&c.async);
	fx_runs_release(&c.flows);
	fx_runs_pool_release(&c.pool);
	seen_clear(&c.providers);
	seen_clear(&c.processes);
	return r;
}
