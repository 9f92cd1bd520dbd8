/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/provider/category.h"
#include "engine/provider/fragments.h"
#include "engine/provider/string.h"
#include "format/encode.h"
#include "preload/call/call.h"
#include "preload/events/events-internal.h"
#include "preload/host/arena.h"
#include "preload/show/fdobject.h"

/* --- Encoding ----------------------------------------------------------------------------------- */

/* A text of a record: by its index, or in the record itself. */
struct event_text {
	uint16_t ref;
	uint16_t length; /* in the record */
	const char *text;
};

static struct event_text event_text_of(const struct fx_thread *t, const char *literal)
{
	struct event_text ret = {.ref = FXT_STRING_EMPTY, .text = literal};

	if (!literal || !*literal)
		return ret;
	ret.ref = (uint16_t)fx_string_literal(t, literal);
	if (!ret.ref) {
		ret.length = (uint16_t)strnlen(literal, FX_NAME_TEXT);
		ret.ref = fx_ref_inline(ret.length);
	}
	return ret;
}

static unsigned event_text_words(const struct event_text *text)
{
	return (unsigned)fx_bytes_words(text->length);
}

static uint64_t *event_text_write(uint64_t *out, const struct event_text *text)
{
	return text->length ? fx_bytes_write(out, text->text, text->length) : out;
}

/* One that the format has: what a program of a later version may say besides is shown as null. */
static uint32_t event_arg_type(const struct fxtrace_arg *arg)
{
	return arg->value.type <= FXTRACE_BOOL ? arg->value.type : FXTRACE_NULL;
}

/* A record as it will be. */
struct event {
	struct event_text category, name, keys[EVENT_ARGS_MAX];
	uint32_t lengths[EVENT_ARGS_MAX]; /* of texts, cut */
	const struct fxtrace_arg *args;
	unsigned count, words;
};

/* As much of a text as `words` hold, in whole characters. */
static uint32_t event_cut(const struct fxtrace_value *value, unsigned words)
{
	const char *text = (const char *)(uintptr_t)value->bits;
	uint32_t length = value->length;

	if (length <= words * 8)
		return length;
	length = words * 8;
	while (length && fx_utf8_is_continuation((uint8_t)text[length]))
		length--;
	return length;
}

/* `words`: of the record without texts. The room that the rest leaves goes to the texts, the first one first. */
static void event_measure(struct event *e, const struct fx_thread *t, const char *category,
			  const char *name, const struct fxtrace_arg *args, size_t count,
			  unsigned words)
{
	unsigned room;

	e->category = event_text_of(t, category);
	e->name = event_text_of(t, name);
	e->args = args;
	e->count = count < EVENT_ARGS_MAX ? (unsigned)count : EVENT_ARGS_MAX;
	words += event_text_words(&e->category) + event_text_words(&e->name);
	for (unsigned i = 0; i < e->count; i++) {
		e->keys[i] = event_text_of(t, args[i].key);
		words += 1 + event_text_words(&e->keys[i]) +
			 event_arg_has_word(event_arg_type(&args[i]));
	}
	room = FX_CALL_WORDS_MAX - words;
	for (unsigned i = 0; i < e->count; i++) {
		unsigned taken;

		e->lengths[i] = 0;
		if (args[i].value.type != FXTRACE_STRING)
			continue;
		e->lengths[i] = event_cut(&args[i].value, room);
		taken = (unsigned)fx_bytes_words(e->lengths[i]);
		room -= taken;
		words += taken;
	}
	e->words = words;
}
/* Inline category, name and keys, and 15 numbers, fit, also where thread and id stand in the record. */
_Static_assert(5 + 2 * FX_NAME_TEXT / 8 + EVENT_ARGS_MAX * (2 + FX_NAME_TEXT / 8) <=
		   FX_CALL_WORDS_MAX,
	       "the largest record without texts");

static uint64_t *event_put_arg(uint64_t *out, const struct event *e, unsigned i)
{
	const struct fxtrace_value *v = &e->args[i].value;
	uint32_t type = event_arg_type(&e->args[i]);
	unsigned words = 1 + event_text_words(&e->keys[i]) + event_arg_has_word(type) +
			 (unsigned)fx_bytes_words(e->lengths[i]);
	uint64_t upper = 0;

	if (type == FXTRACE_STRING)
		upper = fx_ref_inline(e->lengths[i]);
	else if (type == FXTRACE_INT32 || type == FXTRACE_UINT32 || type == FXTRACE_BOOL)
		upper = (uint32_t)v->bits;
	*out = FXT_PUT(ARG_TYPE, type) | FXT_PUT(ARG_SIZE, words) |
	       FXT_PUT(ARG_NAME, e->keys[i].ref) | FXT_PUT(ARG_VALUE32_VALUE, upper);
	out = event_text_write(out + 1, &e->keys[i]);
	if (e->lengths[i])
		out = fx_bytes_write(out, (const char *)(uintptr_t)v->bits, e->lengths[i]);
	else if (event_arg_has_word(type))
		*out++ = v->bits;
	return out;
}

/* What stands behind the time stamp. */
static uint64_t *event_put(uint64_t *out, const struct event *e)
{
	out = event_text_write(out, &e->category);
	out = event_text_write(out, &e->name);
	for (unsigned i = 0; i < e->count; i++)
		out = event_put_arg(out, e, i);
	return out;
}

/* Only a place all of whose strings have an index. Threads that learn at the same time store the same. */
static fx_cold void place_learn(struct fxtrace_place *place, const struct fx_thread *t,
				const char *category, const char *name,
				const struct fxtrace_arg *args, size_t count)
{
	uint32_t attached = fx_engine.attachments, refs[2];
	const char *none = NULL;

	/* relaxed: the release below covers it */
	if (!__atomic_compare_exchange_n(&place->name, &none, name, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED) &&
	    none != name)
		return;
	refs[0] = fx_string_literal(t, category);
	refs[1] = fx_string_literal(t, name);
	if (!refs[0] || !refs[1] || count > EVENT_ARGS_MAX)
		return;
	for (size_t i = 0; i < count; i++) {
		uint32_t key = fx_string_literal(t, args[i].key);

		if (!key)
			return;
		fx_store_relaxed(&place_keys(place)[i], (uint16_t)key);
	}
	/* A handler that forked meanwhile has left us in a child whose indices are others. */
	if (attached == fx_engine.attachments)
		fx_store_release(&place->names, /* pairs with place_knows() */
				 PLACE_NAMES(attached, refs[0], refs[1]));
}

/* --- Events that are written at once ------------------------------------------------------------- */

/* From then up to now, but not longer than the call that is open. Where it crosses what has ended, the manager
 * cuts it or leaves it out (manager/archive/nesting.h). No place knows it, so the usual half never has one. */
static void event_write_complete(struct fx_thread *t, uint64_t start, struct event *e)
{
	uint64_t open = fx_load_relaxed(&t->top[-1].start); /* relaxed: this thread's */
	struct fx_reservation r;
	uint64_t now = fx_thread_now(t), *p = fx_record_reserve(t, e->words, &r);

	if (!p)
		return;
	p[1] = start < open + fx_engine.tick_step ? open + fx_engine.tick_step : start;
	if (p[1] > now)
		p[1] = now;
	*event_put(p + 2, e) = now;
	fx_record_commit(
	    t, p,
	    FX_EVENT_HEADER(FX_EVENT_COMPLETE, e->words, e->count, e->category.ref, e->name.ref),
	    &r);
}

void fx_events_write_slowly(struct fxtrace_place *place, unsigned type, const char *category,
			    const char *name, uint64_t number, const struct fxtrace_arg *args,
			    size_t count)
{
	struct fx_thread *t = fx_thread_on(EVENT_ANY_CATEGORY);
	bool has_number = event_has_number(type, number);
	struct fx_reservation r;
	uint64_t now, *p, *end;
	struct event e;

	if (!t || type > FX_EVENT_FLOW_END)
		return;
	if (type == FX_EVENT_COMPLETE) {
		event_measure(&e, t, category, name, args, count, FX_CALL_WORDS);
		event_write_complete(t, number, &e);
		return;
	}
	now = fx_thread_now(t);
	place_learn(place, t, category, name, args, count);
	event_measure(&e, t, category, name, args, count, 2 + has_number);
	p = fx_record_reserve(t, e.words, &r);
	if (!p)
		return;
	p[1] = now;
	end = event_put(p + 2, &e);
	if (has_number)
		*end = number;
	fx_record_commit(t, p, FX_EVENT_HEADER(type, e.words, e.count, e.category.ref, e.name.ref),
			 &r);
}

/* An event of the thread that `process` and `thread` tell, as words of the record: neither the calling thread's time nor what it has
 * open is touched. */
static void event_write_elsewhere(struct fx_thread *t, uint64_t process, uint64_t thread,
				  uint64_t ticks, unsigned type, const char *category,
				  const char *name, uint64_t number, const struct fxtrace_arg *args,
				  size_t count)
{
	bool has_number = event_has_number(type, number);
	struct fx_reservation r;
	uint64_t *p, *end;
	struct event e;

	event_measure(&e, t, category, name, args, count, 4 + has_number);
	p = fx_record_reserve(t, e.words, &r);
	if (!p)
		return;
	p[1] = ticks;
	p[2] = process;
	p[3] = thread;
	end = event_put(p + 4, &e);
	if (has_number)
		*end = number;
	fx_record_commit(
	    t, p, FX_EVENT_HEADER_AT(type, e.words, e.count, e.category.ref, e.name.ref), &r);
}

/* The event is none of the calling thread's. */
void fx_events_write_at_slowly(const struct fxtrace_at *at, unsigned type, const char *category,
			       const char *name, uint64_t number, const struct fxtrace_arg *args,
			       size_t count)
{
	struct fx_thread *t = fx_thread_on(EVENT_ANY_CATEGORY);
	uint64_t called;

	if (!t || type > FX_EVENT_FLOW_END || type == FX_EVENT_COMPLETE || at->ticks == 0 ||
	    at->ticks > INT64_MAX)
		return;
	/* 0: it will be called by its id. */
	called = at->vthread && *at->vthread ? fx_string_literal(t, at->vthread) : 0;
	event_write_elsewhere(t, (uint32_t)fx_engine.pid | called << FX_VTHREAD_NAME_SHIFT,
			      at->id | FX_VTHREAD, at->ticks, type, category, name, number, args,
			      count);
}

void fx_events_write_past(const struct fxtrace_past *past, unsigned type, const char *category,
			  const char *name, uint64_t number, const struct fxtrace_arg *args,
			  size_t count)
{
	struct fx_thread *t = fx_thread_on(EVENT_ANY_CATEGORY);

	if (!t || type > FX_EVENT_FLOW_END || past->ticks == 0 || past->ticks > INT64_MAX)
		return;
	event_write_elsewhere(t, (uint32_t)fx_engine.pid,
			      past->tid ? (uint32_t)past->tid : (uint32_t)t->tid, past->ticks, type,
			      category, name, number, args, count);
}

/* --- Payloads ------------------------------------------------------------------------------------- */

/* Bytes of a log's text that fit a record. */
#define EVENT_LOG_MAX ((FXT_MAX_RECORD_WORDS - 2) * FXT_WORD_SIZE)
_Static_assert(EVENT_LOG_MAX <= FXT_MAX_LOG_LENGTH, "the field of its length");

static void event_put_blob_event(struct fx_thread *t, struct event *e, const void *data,
				 size_t size)
{
	uint64_t head[FX_CALL_WORDS_MAX], *out = head;

	*out++ = fx_header_large_blob(0, FXT_LARGE_BLOB_EVENT);
	*out++ = FXT_PUT(LARGE_EVENT_CATEGORY, e->category.ref) |
		 FXT_PUT(LARGE_EVENT_NAME, e->name.ref) | FXT_PUT(LARGE_EVENT_NARGS, e->count) |
		 FXT_PUT(LARGE_EVENT_THREAD, FX_CHUNK_THREAD_INDEX);
	out = event_text_write(out, &e->category);
	out = event_text_write(out, &e->name);
	*out++ = fx_thread_now(t);
	for (unsigned i = 0; i < e->count; i++)
		out = event_put_arg(out, e, i);
	*out++ = size;
	fx_record_write(t, head, (unsigned)(out - head), data, size);
}

static void event_put_attachment(struct fx_thread *t, const struct event *e, const void *data,
				 size_t size)
{
	uint64_t head[FX_CALL_WORDS_MAX], *out = head;

	*out++ = fx_header_large_blob(0, FXT_LARGE_BLOB_ATTACHMENT);
	*out++ = FXT_PUT(LARGE_ATTACHMENT_CATEGORY, e->category.ref) |
		 FXT_PUT(LARGE_ATTACHMENT_NAME, e->name.ref);
	out = event_text_write(out, &e->category);
	out = event_text_write(out, &e->name);
	*out++ = size;
	fx_record_write(t, head, (unsigned)(out - head), data, size);
}

static void event_put_blob(struct fx_thread *t, const struct event *e, const char *name,
			   unsigned type, const void *data, size_t size)
{
	uint64_t head[FX_CALL_WORDS_MAX], *out = head;

	/* The manager's own, and what speaks for the whole trace, it would refuse. */
	if (type > UINT8_MAX || type == FXT_BLOB_PERFETTO ||
	    (name && strncmp(name, "fxtrace:", strlen("fxtrace:")) == 0))
		return;
	/* What the field of the size cannot say does not fit a record. */
	*out++ = fx_header_blob(0, e->name.ref, size & FXT_MAX_BLOB_SIZE, type);
	out = event_text_write(out, &e->name);
	fx_record_write(t, head, (unsigned)(out - head), data, size);
}

static void event_put_object(struct fx_thread *t, const struct event *e, const void *object)
{
	uint64_t head[FX_CALL_WORDS_MAX], *out = head;

	*out++ = fx_header_userspace_object(0, FXT_THREAD_INLINE, e->name.ref, e->count);
	*out++ = (uint64_t)(uintptr_t)object;
	*out++ = (uint64_t)(uint32_t)fx_engine.pid;
	out = event_text_write(out, &e->name);
	for (unsigned i = 0; i < e->count; i++)
		out = event_put_arg(out, e, i);
	fx_record_write(t, head, (unsigned)(out - head), NULL, 0);
}

static void event_put_kernel_object(struct fx_thread *t, int fd, const struct fxtrace_arg *args,
				    size_t count)
{
	uint64_t head[FX_CALL_WORDS_MAX], *out = head;
	struct fx_fd_object object;
	struct event e;

	if (!fx_engine_may(FX_ASK_LOOK) || fx_fd_object_get(fd, &object) < 0)
		return;
	event_measure(&e, t, NULL, NULL, args, count, 2 + (unsigned)fx_bytes_words(object.length));
	*out++ = fx_header_kernel_object(0, object.type, fx_ref_inline((uint16_t)object.length),
					 e.count);
	*out++ = object.koid;
	out = fx_bytes_write(out, object.name, object.length);
	for (unsigned i = 0; i < e.count; i++)
		out = event_put_arg(out, &e, i);
	fx_record_write(t, head, (unsigned)(out - head), NULL, 0);
}

uint64_t fx_events_koid(int fd)
{
	struct fx_fd_object object;

	if (!fx_thread_on(EVENT_ANY_CATEGORY) || !fx_engine_may(FX_ASK_LOOK) ||
	    fx_fd_object_get(fd, &object) < 0)
		return 0;
	return object.koid;
}

static void event_put_log(struct fx_thread *t, const char *text, size_t size)
{
	struct fxtrace_value value = {.bits = (uint64_t)(uintptr_t)text};
	uint64_t head[2];

	if (!text)
		return;
	if (size == SIZE_MAX)
		size = strlen(text);
	value.length = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
	value.length = event_cut(&value, EVENT_LOG_MAX / FXT_WORD_SIZE);
	head[0] = fx_header_log(0, FX_CHUNK_THREAD_INDEX, value.length);
	head[1] = fx_thread_now(t);
	fx_record_write(t, head, 2, text, value.length);
}

void fx_events_put(struct fxtrace_place *place, unsigned payload, const char *category,
		   const char *name, const void *data, size_t size, const struct fxtrace_arg *args,
		   size_t count)
{
	struct fx_thread *t = fx_thread_on(EVENT_ANY_CATEGORY);
	struct event e;

	(void)place;
	if (!t)
		return;
	if (payload == FXTRACE_LOG) {
		event_put_log(t, data, size);
		return;
	}
	if (payload == FXTRACE_KERNEL_OBJECT) {
		event_put_kernel_object(t, (int)size, args, count);
		return;
	}
	event_measure(&e, t, category, name, args, count, 4);
	if (!data && payload != FXTRACE_OBJECT)
		size = 0;
	if (payload == FXTRACE_BLOB_EVENT)
		event_put_blob_event(t, &e, data, size);
	else if (payload == FXTRACE_BLOB_ATTACHMENT)
		event_put_attachment(t, &e, data, size);
	else if (payload == FXTRACE_OBJECT)
		event_put_object(t, &e, data);
	else if (payload >= FXTRACE_BLOB)
		event_put_blob(t, &e, name, payload - FXTRACE_BLOB, data, size);
}

/* --- Durations ------------------------------------------------------------------------------------ */

/*
 * A variable that lies below the stack pointer of its function is not on the stack: a coroutine has its own in the heap. Its stack
 * address is then one that all calls have below it which the function makes: no more above the pointer than what opens the scope
 * itself takes of the stack (without optimisation), and no more than that of the call that it lies in.
 */
#define SCOPE_OPENING_SIZE 1024u

static uint64_t scope_address(const struct fx_thread *t, uint64_t variable, uint64_t below)
{
	uint64_t outer = fx_frame_sp(&t->top[-1]);

	if (variable >= below)
		return variable;
	return outer < below + SCOPE_OPENING_SIZE ? outer : below + SCOPE_OPENING_SIZE;
}

/* Closes what was left: the calls below the function that opens the scope, and another of the same variable. */
static fx_cold void scope_settle(struct fx_thread *t, uint64_t sp, uint64_t below)
{
	if (fx_frame_sp(&t->top[-1]) < below)
		fx_frame_unwind(t, below - 1);
	for (struct fx_frame *f = t->top - 1; sp >= below && f->key == FX_SCOPE_KEY; f--)
		if (fx_frame_sp(f) == sp) {
			fx_frame_unwind_above(t, f - 1, below - 1);
			return;
		}
}

/* `sp`: where the variable is; `below`: the stack address from which the function that opens it calls. NULL: too many are open. */
fx_hot struct fx_frame *scope_push(struct fx_thread *t, uint64_t header, uint64_t sp,
				   uint64_t below)
{
	struct fx_frame *f;

	for (;;) {
		if (fx_frame_sp(&t->top[-1]) < below || t->top[-1].key == FX_SCOPE_KEY)
			scope_settle(t, sp, below);
		f = t->top;
		if (fx_unlikely(f >= t->limit)) {
			fx_frame_too_deep(t);
			return NULL;
		}
		if (fx_likely(
			fx_frame_take(t, f, header, scope_address(t, sp, below), FX_SCOPE_KEY)))
			break;
		fx_frame_take_back(t, f);
	}
	fx_store_release(&f->start,
			 fx_thread_now(t)); /* pairs with the frame walk in reader/slots.c */
	FX_FAULT(frame_pushed);
	return f;
}

/* Where a string has no index, a duration that is closed by somebody else has no name. */
static uint64_t scope_header_anew(const struct fx_thread *t, struct fxtrace_scope *scope)
{
	struct event_text category = event_text_of(t, scope->category);
	struct event_text name = event_text_of(t, scope->name);

	place_learn(scope->place, t, scope->category, scope->name, scope->args, scope->count);
	return FX_EVENT_HEADER(FX_EVENT_COMPLETE, FX_CALL_WORDS, 0,
			       category.length ? FXT_STRING_EMPTY : category.ref,
			       name.length ? FXT_STRING_EMPTY : name.ref);
}

static uint64_t scope_header(const struct fx_thread *t, struct fxtrace_scope *scope)
{
	uint64_t names;

	if (place_knows(scope->place, scope->name, &names))
		return PLACE_HEADER(names, FX_EVENT_COMPLETE, FX_CALL_WORDS, 0);
	return scope_header_anew(t, scope);
}

static void scope_write(struct fx_thread *t, struct fxtrace_scope *scope, uint64_t end)
{
	struct fx_frame *f = scope->frame;
	struct fx_reservation r;
	struct event e;
	uint64_t *p;

	event_measure(&e, t, scope->category, scope->name, scope->args, scope->count,
		      FX_CALL_WORDS);
	p = fx_record_reserve_for(t, e.words, scope_claim(scope), &r);
	if (!p) {
		if (f->start == scope->start)
			fx_frame_pop(t, f);
		return;
	}
	*event_put(p + 2, &e) = end;
	fx_record_publish(
	    p, FX_EVENT_HEADER(FX_EVENT_COMPLETE, e.words, e.count, e.category.ref, e.name.ref));
	if (fx_likely(f->start == scope->start))
		fx_frame_done(t, f, r.level);
	else
		fx_record_over(t, r.level);
}

/* Its frame is one of this thread's and still the same: not another process's, nor another session's. */
static bool scope_stands(const struct fx_thread *t, const struct fxtrace_scope *scope)
{
	const struct fx_frame *f = scope->frame;

	return t == scope->thread && t->slot && f > t->slot->frames && f < t->top &&
	       f->start == scope->start;
}

void fx_events_open_slowly(struct fxtrace_scope *scope, uint64_t below)
{
	struct fx_thread *t = fx_thread_on(EVENT_ANY_CATEGORY);
	struct fx_frame *f;

	scope->frame = NULL;
	if (!t)
		return;
	f = scope_push(t, scope_header(t, scope), (uint64_t)(uintptr_t)scope, below);
	scope->thread = t;
	scope->frame = f;
	if (f)
		scope->start = f->start;
}

void fx_events_close_slowly(struct fxtrace_scope *scope, uint64_t below)
{
	struct fx_thread *t = scope->frame ? fx_thread_on(EVENT_ANY_CATEGORY) : NULL;
	struct fx_frame *f = scope->frame;

	if (!t || !scope_stands(t, scope))
		return;
	if (t->top != f + 1) {
		fx_frame_unwind_above(t, f, below - 1);
		if (!scope_stands(t, scope))
			return;
	}
	scope_write(t, scope, fx_thread_now(t));
}

/* A text of a module's, which may be unloaded: a copy that stays. NULL: there is none, or no memory. */
static const char *category_text_keep(const char *text, size_t max)
{
	size_t length = text ? strnlen(text, max) : 0;
	char *copy = length ? fx_arena_alloc(1, length + 1) : NULL;

	if (copy)
		memcpy(copy, text, length);
	return copy;
}

void fx_events_category_known(const char *category, const char *description)
{
	int saved = errno;
	const char *copy;

	if (!category || !fx_category_is_news(category, description))
		return;
	/* One that is known keeps the name that it has. */
	copy = fx_category_is_news(category, NULL)
		   ? category_text_keep(category, FX_CATEGORY_NAME_MAX)
		   : category;
	if (copy)
		fx_category_know(copy, category_text_keep(description, FX_DESCRIPTION_MAX));
	errno = saved;
}
