/* SPDX-License-Identifier: MIT */
/*
 * Who came to have a mutex, and when: by the ends of waits for it, and for conditions, in which it is taken again. A thread that
 * has been signalled goes on when it has the mutex, too, and who has it until then is perhaps the last one that took it before:
 *
 *	beast0  [ pthread_cond_wait ]--has it---unlock
 *	beast1  [ pthread_cond_wait            until here ]---
 *	herder  ----------- broadcast
 */
#ifndef FX_WHY_TAKES_H
#define FX_WHY_TAKES_H

#include "convert/export.h"
#include "lists/vector.h"

struct fx_why_take {
	uint64_t mutex; /* address */
	uint64_t end;
	uint32_t process, thread; /* numbers */
};

/* All zeros is none. */
struct fx_why_takes {
	FX_VECTOR(struct fx_why_take) items;
	bool is_full; /* there were more: then none is known */
};

/* A wait, of any kind, that ended then. Returns 0 or -ENOMEM. */
int fx_why_takes_see(struct fx_why_takes *takes, const struct fx_event *event, uint64_t end);

/* Puts them in order, after the last one. */
void fx_why_takes_arrange(struct fx_why_takes *takes);

/*
 * The last that another thread made, behind `from' and before `to', of the mutex that the thread's event is about; NULL: none, or
 * it is about none.
 */
const struct fx_why_take *fx_why_takes_last(const struct fx_why_takes *takes,
					    const struct fx_event *event,
					    const struct fx_thread *thread, uint64_t from,
					    uint64_t to);

void fx_why_takes_free(struct fx_why_takes *takes);

#endif
