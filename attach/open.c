/* SPDX-License-Identifier: MIT */
#include "attach/open.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach/libc.h"
#include "attach/proc.h"
#include "attach/refusal.h"

int fx_target_open(pid_t pid, struct fx_target *ret, char *why)
{
	char path[64];
	int r;

	*ret = (struct fx_target){.pid = pid};
	why[0] = 0;
#if !defined(__x86_64__)
	return fx_target_refuse(why, "attaching is there for x86-64 alone");
#endif
	if (access(fx_proc_path(pid, "stat", path, sizeof(path)), F_OK) < 0) {
		snprintf(why, FX_TARGET_WHY, "there is no such process");
		return -ESRCH;
	}
	r = fx_target_may_be(pid, why);
	if (r == 0) {
		r = fx_target_look(ret);
		if (r < 0)
			snprintf(why, FX_TARGET_WHY, "what is mapped in it cannot be read: %s",
				 strerror(-r));
	}
	if (r == 0)
		r = fx_target_read_libc(ret, why);
	if (r < 0)
		fx_target_close(ret);
	return r;
}
