/* SPDX-License-Identifier: MIT */
/* What /proc says of a process (base/about.h), as far as its own user may know. */
#ifndef FX_MANAGER_ABOUT_H
#define FX_MANAGER_ABOUT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/about.h"

/* Texts of any bytes; NULL: not known. */
struct fx_abouts {
	char *texts[FX_ABOUT_COUNT];
	bool is_over; /* the process ended before all of them were read */
};

/* Of a process that waits for its answer: a handful of system calls. To be freed. `born_ticks`: what fx_kin_born() says. */
void fx_abouts_read(struct fx_abouts *ret, pid_t pid, uid_t uid, unsigned long long born_ticks);

/* What a child that has executed nothing has of its parent: what is missing, if its arguments are not known or it is over. */
void fx_abouts_inherit(struct fx_abouts *ret, const struct fx_abouts *parent);

/* Its arguments as they stand now, and the file that runs; to be freed. NULL: not known. */
char *fx_about_command(pid_t pid);
char *fx_about_executable(pid_t pid);

void fx_abouts_free(struct fx_abouts *abouts);

#endif
