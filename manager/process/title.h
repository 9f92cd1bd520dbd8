/* SPDX-License-Identifier: MIT */
/*
 * What a process has put in the place of its arguments since it registered, as servers do to say what each of theirs is.
 * The control thread looks from time to time, less and less often while there is nothing new of the process, and at a stop;
 * what stood there at the process's end, that says itself. Writers ask whether there is another one.
 */
#ifndef FX_MANAGER_TITLE_H
#define FX_MANAGER_TITLE_H

#include "manager/process/origin.h"

enum fx_title_cause {
	FX_TITLE_TIME, /* it may be time for a look */
	FX_TITLE_NEWS, /* the same; and there is something new of the process */
	FX_TITLE_NOW,  /* whenever the last look was */
};

/* What the process itself has told of it, FX_TITLE_BYTES at most: a writer's thread has it. */
void fx_title_told(struct fx_origin *origin, const char *text, size_t length);

/* `pidfd`: of the process, whose number is another's once it has ended; -1: not known. */
void fx_title_look(struct fx_origin *origin, int pidfd, enum fx_title_cause cause);

/* True: there is one that differs from the one that was `seen`, which is noted. `ret` gets it, 0-terminated. */
bool fx_title_take(struct fx_origin *origin, uint32_t *seen, char ret[FX_ABOUT_MAX + 1]);

#endif
