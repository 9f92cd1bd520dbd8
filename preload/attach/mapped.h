/* SPDX-License-Identifier: MIT */
/*
 * What of the manager's is mapped: the buffer, the control page, and the page that all processes share. A process that is
 * attached first has them side by side, with the memory behind the buffer that children find wiped, so that one call keeps all of it
 * out of core dumps.
 */
#ifndef FX_PRELOAD_MAPPED_H
#define FX_PRELOAD_MAPPED_H

#include <stdint.h>

#include "engine/layout.h"
#include "protocol/messages.h"

struct fx_mapped {
	void *control, *common, *buffer; /* NULL: not there */
	uint64_t control_size, buffer_size;
	void *idle,
	    *again; /* buffers of before: the last one, and the one whose place the next takes, if it fits */
	uint64_t idle_size, again_size;
};

/* Maps what a reply brings; of an earlier one the control page and the common page are replaced in place. 0 or -errno. By raw
 * system calls alone. */
int fx_mapped_make(struct fx_mapped *m, const struct fx_msg_registered *reply,
		   const int fds[FX_FD_COUNT]);

/* The process is to get another buffer. What it has stays mapped, since threads may still look at it, until the next but one; its
 * pages go, but for what threads look at first. `layout` is of what it has. */
void fx_mapped_keep(struct fx_mapped *m, const struct fx_layout *layout);

/* The buffer is of no use. */
void fx_mapped_drop_buffer(struct fx_mapped *m);

#endif
