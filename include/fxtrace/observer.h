/* SPDX-License-Identifier: MIT */
/*
 * Observers: a program hears when tracing starts and stops.
 *
 *	static void changed(struct fxtrace_observer *observer, enum fxtrace_phase phase)
 *	{
 *		if (phase == FXTRACE_STARTED)
 *			say_what_is_open(TRACE_CATEGORY_ENABLED("server"));
 *	}
 *	static struct fxtrace_observer observer = {.changed = changed};
 *
 *	fxtrace_observer_add(&observer);
 *
 * Nothing is linked. No thread and no signal of the tracer's tells a program, so it hears in one of two ways:
 *
 *	changed()	when a macro of <fxtrace/event.h> is the first to find it, on the thread, and in the signal handler, that
 *			the macro stands in. A program that comes to no macro hears nothing.
 *	a wait		a thread of the program's waits: fxtrace_observer_wait().
 *
 * Each observer hears of each phase in its turn, started, stopping, stopped; several quick sessions may look like one. Which
 * categories are recorded changes with a start alone: TRACE_CATEGORY_ENABLED() says it anew from then on.
 *
 * changed() is called by one thread at a time. It may trace; it may not add or remove observers. A forked child has its parent's
 * observers, and hears what is new from then on. One that lies in a library is to be removed before that is unloaded.
 */
#ifndef FXTRACE_OBSERVER_H
#define FXTRACE_OBSERVER_H

#include <errno.h>

#include <fxtrace/event_base.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC system_header
#elif defined(__clang__)
#pragma clang system_header
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define FXTRACE_STARTED	 FXTRACE_PHASE_STARTED
#define FXTRACE_STOPPING FXTRACE_PHASE_STOPPING
#define FXTRACE_STOPPED	 FXTRACE_PHASE_STOPPED

#ifdef NTRACE
#define FXTRACE_OBSERVERS() ((const struct fxtrace_events *)NULL)
#else
#define FXTRACE_OBSERVERS() fxtrace_observers()
/* What tells observers; NULL: the program is not traced. */
FXTRACE_INLINE const struct fxtrace_events *fxtrace_observers(void)
{
	/* relaxed: settled before the program runs */
	const struct fxtrace_events *events =
	    __atomic_load_n(&__fxtrace_events_gate, __ATOMIC_RELAXED);

	return events && FXTRACE_HAS(events, await) ? events : NULL;
}
#endif

/*
 * Adds an observer, the caller's until it is removed; what is behind `changed' is zeroes. If tracing runs, FXTRACE_STARTED is
 * the first that it hears. 0; -EEXIST: it is there; -EDEADLK: called by an observer, or in a signal handler that has interrupted
 * one of these; -ENOSYS: the program is not traced, and there is nothing to hear.
 */
FXTRACE_INLINE int fxtrace_observer_add(struct fxtrace_observer *observer)
{
	const struct fxtrace_events *events = FXTRACE_OBSERVERS();

	return events ? events->observe(observer) : -ENOSYS;
}

/* Afterwards changed() is not being called, and will not be. 0, -ENOENT, -EDEADLK or -ENOSYS. */
FXTRACE_INLINE int fxtrace_observer_remove(struct fxtrace_observer *observer)
{
	const struct fxtrace_events *events = FXTRACE_OBSERVERS();

	return events ? events->unobserve(observer) : -ENOSYS;
}

/*
 * Waits until there is a phase of which the observer has not heard. It has no changed(), need not be added, and is one thread's
 * alone. 0 and the phase; -ETIMEDOUT; -EOWNERDEAD or -ENOTCONN: who traces has gone, or does not know the process, and all phases
 * were heard; -ENOSYS. No signal ends it.
 */
FXTRACE_INLINE int fxtrace_observer_wait(struct fxtrace_observer *observer, uint64_t timeout_ns,
					 enum fxtrace_phase *ret)
{
	const struct fxtrace_events *events = FXTRACE_OBSERVERS();

	return events ? events->await(observer, timeout_ns, ret) : -ENOSYS;
}

#ifdef __cplusplus
}
#endif

#endif /* FXTRACE_OBSERVER_H */
