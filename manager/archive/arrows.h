/* SPDX-License-Identifier: MIT */
/* Arrows between processes: flows with an instant at each end, on threads that need not be in any table. */
#ifndef FX_MANAGER_ARROWS_H
#define FX_MANAGER_ARROWS_H

#include <stdint.h>

#include <fxtrace/reader.h>

struct fx_archive;

struct fx_arrows {
	struct fx_archive *archive; /* borrowed */
	uint64_t flows;		    /* ids given */
	const char *category;	    /* NULL: process */
};

/* A moment of a thread. */
struct fx_point {
	uint32_t provider;
	uint32_t pid, tid;
	uint64_t ns; /* 0: none */
};

/* Another provider may be selected in the archive after each of these. */

void fx_arrow_instant(struct fx_arrows *arrows, const struct fx_point *at, const char *name,
		      const struct fxt_arg *args, unsigned count);

/* An arrow from an instant that has just been written to a new one. `to_arg' may be NULL. */
void fx_arrow_lead(struct fx_arrows *arrows, const struct fx_point *from, const char *from_name,
		   const struct fx_point *to, const char *to_name, const struct fxt_arg *to_arg);

/* An instant at both ends, of which the first is not later than the second. The arguments may be NULL. */
void fx_arrow_draw(struct fx_arrows *arrows, const struct fx_point *from, const char *from_name,
		   const struct fxt_arg *from_arg, const struct fx_point *to, const char *to_name,
		   const struct fxt_arg *to_arg);

/* The same, of another category than `process'. */
void fx_arrow_draw_in(struct fx_arrows *arrows, const char *category, const struct fx_point *from,
		      const char *from_name, const struct fxt_arg *from_arg,
		      const struct fx_point *to, const char *to_name, const struct fxt_arg *to_arg);

#endif
