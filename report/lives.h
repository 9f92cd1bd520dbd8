/* SPDX-License-Identifier: MIT */
/*
 * The processes of an archive: how long each lived, what it ran, how it ended, what its threads waited for; whose child
 * it is; and the longest chain of processes that ran one after another.
 */
#ifndef FX_REPORT_LIVES_H
#define FX_REPORT_LIVES_H

#include "lists/vector.h"
#include "report/section.h"
#include "report/waiting.h"

struct fx_life {
	uint64_t begin,
	    end; /* its first and last moment in the archive; begin UINT64_MAX: not seen */
	uint64_t threads, calls;
	uint64_t waited[FX_WAIT_KIND_COUNT]; /* ns, of all its threads */
	char *command;			     /* NULL: not known */
	uint64_t parent;		     /* pid; 0: not known */
	size_t first, next; /* child, sibling: numbers + 1, in order of beginning; 0: none */
	size_t last_done, done_before; /* the same, the one that ended last first */
	int64_t exited;		       /* status, if has_exited */
	char signal[16];	       /* the signal that ended it; "": none */
	bool has_exited;
	bool has_execed;
	uint64_t execed; /* when it became that program */
};

struct fx_lives {
	struct fx_report *report;
	FX_VECTOR(struct fx_life) items; /* by number of the process */
	const struct fx_thread *thread;	 /* of the last call */
	uint32_t waits;			 /* open calls that wait */
};

void fx_lives_free(struct fx_lives *lives);

void fx_lives_enter_slow_(struct fx_lives *lives, const struct fx_open_call *call,
			  const struct fx_event *event, enum fx_wait_kind wait);

/* The walk, as sections have it; `wait' is what the call waits for. */
static inline void fx_lives_enter(struct fx_lives *lives, const struct fx_open_call *call,
				  const struct fx_event *event, enum fx_wait_kind wait)
{
	struct fx_life *life;

	/* As nearly all calls are. A thread's are shown in order of time. */
	if (call->thread == lives->thread && call->kind != FX_CALL_PROCESS && !lives->waits &&
	    wait == FX_WAIT_NONE) {
		life = &lives->items.items[call->thread->process->number];
		life->calls++;
		if (call->end > life->end)
			life->end = call->end;
		return;
	}
	fx_lives_enter_slow_(lives, call, event, wait);
}

static inline void fx_lives_leave(struct fx_lives *lives)
{
	if (lives->waits > 0)
		lives->waits--;
}

void fx_lives_instant(struct fx_lives *lives, const struct fx_event *event);

/* Ties each to its parent; those without one are the children of `roots', which is empty. Once, after the walk. Returns
 * 0 or -ENOMEM. */
int fx_lives_tie(struct fx_lives *lives, struct fx_life *roots);

const struct fx_process *fx_lives_process(const struct fx_lives *lives, size_t number);

/* Its title, else its command, else its name; "": none is known. */
const char *fx_lives_command(const struct fx_lives *lives, size_t number);

/* From when to when a process of the chain was at it itself. */
struct fx_stretch {
	size_t number;
	uint64_t from, to;
};

struct fx_chain {
	FX_VECTOR(struct fx_stretch) stretches; /* the last one first */
	uint64_t total;				/* ns */
};

/*
 * The longest chain, of lives that are tied; of one process alone there is none. To be freed. Returns 0 or -ENOMEM.
 *
 * It is found from its end. The process that ended last was not done before its last child, that one not before its own,
 * and so on; what came before such a child had begun is looked for in the same way:
 *
 *     make    |---------------------------------------|
 *       cc1   |------------|     :                       not on the chain: cc2 ran longer, both in parallel
 *       cc2   |---------------|  :                       on the chain, before ld
 *       ld    .               |----------------------|   ended last: on the chain
 */
int fx_chain_find(struct fx_chain *chain, const struct fx_lives *lives,
		  const struct fx_life *roots);

void fx_chain_free(struct fx_chain *chain);

#endif
