/* SPDX-License-Identifier: MIT */
/* Descriptors that are waited for, and sockets: wrappers of the generic shape. */
#include "preload/call.h"
#include "preload/fdname.h"
#include "preload/fdtable.h"
#include "preload/real.h"

static int fx_call_socketpair(int domain, int type, int protocol, int *fds)
{
	const int ret = FX_REAL(socketpair)(domain, type, protocol, fds);

	if (ret != 0)
		return ret;
	fx_fd_forget(fds[0]);
	fx_fd_forget(fds[1]);
	if (fx_category_on(FX_CAT_SYSCALL) && !fx_engine.confined)
		fx_fd_pair(fds[0], fds[1]);
	return ret;
}

#include "preload/unit-descriptors.inc"
