/* SPDX-License-Identifier: MIT */
#include "preload/call/flow.h"

#include "preload/call/words.h"
#include "preload/show/args-plain.h"

#define INSTANT_WORDS 2
#define FLOW_WORDS    3
#define THREAD_WORDS  2 /* in records of other threads, which name their thread themselves */

/* The header of an event of a thread that the record names itself. */
static uint64_t elsewhere(uint64_t header)
{
	return header & ~FXT_PUT(EVENT_THREAD, ~0ull);
}

static uint64_t *flow_put_thread(uint64_t *words, uint32_t tid)
{
	words[0] = (uint64_t)fx_engine.pid;
	words[1] = tid;
	return words + THREAD_WORDS;
}

static uint64_t *put_instant(uint64_t *words, unsigned category, unsigned name, uint64_t time)
{
	words[0] = FX_EVENT_HEADER(FX_EVENT_INSTANT, INSTANT_WORDS, 0, category, name);
	words[1] = time;
	return words + INSTANT_WORDS;
}

static uint64_t *put_flow(uint64_t *words, enum fx_event_type type, unsigned category,
			  unsigned name, uint64_t time, uint64_t id)
{
	words[0] = FX_EVENT_HEADER(type, FLOW_WORDS, 0, category, name);
	words[1] = time;
	words[2] = id;
	return words + FLOW_WORDS;
}

/* The end that lies on another thread. */
static uint64_t *put_beginning(uint64_t *words, const struct fx_source *from, uint64_t time,
			       const struct fx_flow_end *to, uint64_t id)
{
	unsigned arg_words = to->object ? FX_WORDS_ptr : 0;
	struct fx_call arguments = {.next = words + INSTANT_WORDS + THREAD_WORDS};

	words[0] =
	    elsewhere(FX_EVENT_HEADER(FX_EVENT_INSTANT, INSTANT_WORDS + THREAD_WORDS + arg_words,
				      to->object ? 1 : 0, to->category, from->name));
	words[1] = time;
	flow_put_thread(words + INSTANT_WORDS, from->tid);
	if (to->object)
		fx_arg_ptr(&arguments, to->arg, to->object);
	words = arguments.next;
	words[0] = elsewhere(FX_EVENT_HEADER(FX_EVENT_FLOW_BEGIN, FLOW_WORDS + THREAD_WORDS, 0,
					     to->category, from->name));
	words[1] = time;
	words = flow_put_thread(words + 2, from->tid);
	*words++ = id;
	return words;
}

/* The end that lies on this thread. */
static uint64_t *put_anchor(uint64_t *words, const struct fx_source *from,
			    const struct fx_flow_end *to, unsigned name, uint64_t time)
{
	struct fx_call arguments = {.next = words + INSTANT_WORDS};

	if (to->tells)
		fx_arg_int(&arguments, FX_STR_by, (int)from->tid);
	if (to->tells && from->held)
		fx_arg_two(&arguments, FX_ARG_HEADER(UINT64, 2, FX_STR_held_ns, 0), from->held);
	words[0] = FX_EVENT_HEADER(FX_EVENT_INSTANT, (uint64_t)(arguments.next - words),
				   arguments.nargs, to->category, name);
	words[1] = time;
	return arguments.next;
}

uint64_t *fx_arrow_put(uint64_t *words, struct fx_thread *t, const struct fx_source *from,
		       const struct fx_flow_end *to, unsigned anchor, uint64_t to_time)
{
	uint64_t latest = to_time - fx_engine.tick_step;
	uint64_t id = fx_flow_id_new(t);

	words = put_beginning(words, from, from->time < latest ? from->time : latest, to, id);
	words = put_anchor(words, from, to, anchor, to_time);
	return put_flow(words, FX_EVENT_FLOW_END, to->category, to->name, to_time, id);
}

struct fx_source fx_source_now(struct fx_thread *t, unsigned name)
{
	return (struct fx_source){.tid = t->tid, .name = name, .time = fx_thread_now(t)};
}

void fx_flow_in(struct fx_thread *t, unsigned category, unsigned name, const struct fx_source *from)
{
	const struct fx_flow_end to = {.category = category, .name = name};
	uint64_t words[FX_ARROW_WORDS], *end, now = fx_thread_now(t);

	if (from->tid)
		end = fx_arrow_put(words, t, from, &to, name, now);
	else
		end = put_instant(words, category, name, now);
	fx_words_write(t, words, (unsigned)(end - words), words[0]);
}

/* A Kernel Object Record of type process, with three arguments: see enum fx_tie_kind. */
static void put_tie(struct fx_thread *t, enum fx_tie_kind kind, pid_t pid, int value, uint64_t time)
{
	const uint64_t words[FX_TIE_WORDS] = {
	    FXT_PUT(RECORD_TYPE, FXT_RECORD_KERNEL_OBJECT) | FXT_PUT(RECORD_SIZE, FX_TIE_WORDS) |
		FXT_PUT(KERNEL_OBJECT_TYPE, FXT_OBJECT_PROCESS) | FXT_PUT(KERNEL_OBJECT_NARGS, 3),
	    (uint64_t)pid,
	    FX_ARG_HEADER(UINT64, 2, 0, 0),
	    time,
	    FX_ARG_HEADER(INT32, 1, 0, (uint32_t)kind),
	    FX_ARG_HEADER(INT32, 1, 0, (uint32_t)value)};

	fx_words_write(t, words, FX_TIE_WORDS, words[0]);
}

int fx_tie_value(bool registers)
{
	/* relaxed: the thread's own look at it came before */
	uint64_t state = fx_load_relaxed(&fx_control()->state);

	return (registers ? FX_TIE_VALUE_REGISTERS : 0) |
	       (state & FX_CAT_PROCESS ? 0 : FX_TIE_VALUE_SILENT);
}

void fx_tie_created(pid_t pid, bool registers, uint64_t time)
{
	struct fx_thread *t = fx_thread_on(registers ? UINT32_MAX : FX_CAT_PROCESS);

	if (t && time)
		put_tie(t, FX_TIE_CREATES, pid, fx_tie_value(registers), time);
}

void fx_tie_execs(bool execs)
{
	struct fx_thread *t = fx_thread_on(UINT32_MAX);

	if (t)
		put_tie(t, execs ? FX_TIE_EXECS : FX_TIE_STAYS, fx_engine.pid, fx_tie_value(execs),
			fx_thread_now(t));
}

void fx_tie_now(enum fx_tie_kind kind, pid_t pid, int value)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_PROCESS);

	if (t)
		put_tie(t, kind, pid, value, fx_thread_now(t));
}
