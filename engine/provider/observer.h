/* SPDX-License-Identifier: MIT */
/*
 * Observers: parts of the program that want to know when tracing starts and stops.
 *
 * This process has no thread of ours that could tell them. So the manager says the phase in a word of
 * the control page, which is a futex, and a thread of the program's waits for it: fx_observer_wait().
 * An observer with a function also hears of a change when a site (site.h) is the first to find it: on the
 * thread, and in the signal handler, that the site is in. Never from inside a hook or a wrapper, where the
 * program cannot expect its own code to run.
 *
 * Each observer hears of each phase in its turn: started, stopping, stopped. Several quick sessions may
 * look like one.
 */
#ifndef FX_ENGINE_OBSERVER_H
#define FX_ENGINE_OBSERVER_H

#include "engine/provider/engine.h"

struct fx_observer {
	/* May be NULL. Called by one thread at a time; may trace, may not add or remove observers. */
	void (*changed)(struct fx_observer *o, enum fx_phase phase);
	struct fx_observer *next; /* the list's */
	uint32_t seen;		  /* word of the phase that it has heard of */
};

/*
 * Adds an observer, the caller's until it is removed. If tracing runs, FX_PHASE_STARTED is the first
 * that it hears. 0; -EEXIST: it is there; -EDEADLK: called by an observer.
 */
int fx_observer_add(struct fx_observer *o);

/* Afterwards `changed` is not being called, and will not be. 0, -ENOENT or -EDEADLK. */
int fx_observer_remove(struct fx_observer *o);

/* Hands all observers over to whoever tells them from now on. */
void fx_observers_move(int (*add)(struct fx_observer *o));

/* Tells observers what is new. True: there may be more soon, though the state does not change any more: tracing is being stopped, or
 * another thread is at it. */
bool fx_observers_notify(void);

/*
 * Waits for the next phase, on behalf of an observer without function that need not be on the list. 0
 * and the phase; -ETIMEDOUT; -EOWNERDEAD: the manager is gone; -ENOTCONN: this process is not traced, or no longer; the last two
 * only when all phases have been heard.
 */
int fx_observer_wait(struct fx_observer *o, uint64_t timeout_ns, enum fx_phase *ret);

#endif
