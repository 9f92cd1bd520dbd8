/* SPDX-License-Identifier: MIT */
/*
 * Memory that a forked child has made itself (FX_MSG_BRING). It is believed to be nothing but memory of the size that it
 * should have, and that only after a look: the child may have kept a way to write all of it, the control page too.
 */
#ifndef FX_MANAGER_FOREIGN_H
#define FX_MANAGER_FOREIGN_H

#include <stdint.h>

#include "engine/layout.h"

struct fx_foreign {
	int fd; /* one memory: the control page's, and behind it the buffer's; -1: it could not be sent; -EMFILE: not be received */
	uint64_t control_size; /* as its maker says */
	uint64_t buffer_size;
	uint64_t born_ns; /* CLOCK_BOOTTIME: when its maker was made, as that says */
};

/*
 * Maps memory whose sizes are those of `layout`: the control page to write, the buffer to read. 0; -EINVAL if it is of
 * another size, of a kind that can fail where it is touched, or can change its size; or another -errno.
 */
int fx_foreign_map(const struct fx_foreign *f, const struct fx_layout *layout,
		   uint64_t control_size, struct fx_control **ret_control, void **ret_buffer);

/* Its maker is not traced: it is told, and what it has recorded takes no memory any more. */
void fx_foreign_refuse(const struct fx_foreign *f);

#endif
