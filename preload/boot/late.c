/* SPDX-License-Identifier: MIT */
/* This library has come into a process that ran already: base/late.h. */
#include "base/late.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"
#include "base/syscall.h"
#include "engine/provider/engine.h"
#include "preload/attach/attach.h"
#include "preload/attach/manager-user.h"
#include "preload/boot/equip.h"
#include "preload/boot/words.h"
#include "preload/call/streams.h"
#include "preload/call/tables.h"
#include "preload/events/engines.h"
#include "preload/host/found.h"
#include "preload/host/modules.h"
#include "preload/host/self.h"
#include "preload/host/unwind.h"
#include "preload/show/fdtable.h"

fx_export int fxtrace_late_begin(struct fx_late *late);
fx_export int fxtrace_late_end(struct fx_late *late);

/* The program's name as the kernel has it, which is that of its first thread. */
static void late_name(void)
{
	char name[17] = "";
	long fd = fx_syscall4(SYS_openat, AT_FDCWD, "/proc/self/comm", O_RDONLY | O_CLOEXEC, 0), n;

	n = fx_syscall_failed(fd) ? 0 : fx_syscall3(SYS_read, fd, name, sizeof name - 1);
	if (!fx_syscall_failed(fd))
		fx_syscall1(SYS_close, fd);
	name[n > 0 ? n - 1 : 0] = 0; /* the line's end */
	fx_attach_set_name(name);
}

static bool is_traced(void)
{
	/* owner: written by the kernel */
	return (uint32_t)fx_load_relaxed(&fx_control()->state) &&
	       !(fx_load_relaxed(&fx_common()->owner) & FX_OWNER_DIED);
}

static int attach_first(void)
{
	static bool is_equipped;
	int r;

	if (!fx_engines_claim(fx_getpid()))
		return -EBUSY; /* the program has an engine of its own */
	if (!is_equipped) {
		fx_equip();
		fx_engine.reattach = NULL;
		fx_manager_user_init(NULL);
		fx_found_init();
		fx_unwind_init();
	}
	is_equipped = true;
	r = fx_attach(FX_REGISTER_START);
	if (r == 0)
		fx_engines_settle();
	else
		fx_engines_waive();
	return r;
}

static int late_begin(struct fx_late *late)
{
	struct fx_words_count count;
	int r;

	if (late->size < sizeof *late || !fx_self_is_late())
		return -EINVAL;
	if (is_traced())
		return -EALREADY;
	fx_engine_detach();
	late->socket[FX_LATE_SOCKET - 1] = 0;
	fx_attach_set_socket(late->socket);
	late_name();
	/* A fork's child has what its parent had, and a number of its own. */
	fx_modules_forget();
	r = fx_engine.wiped ? fx_attach_anew() : attach_first();
	if (r != 0)
		return r;
	fx_fd_table_init();
	fx_tables_make();
	fx_streams_begin();
	r = fx_words_change(&count);
	late->words = count.changed;
	late->left = count.left;
	return r;
}

int fxtrace_late_begin(struct fx_late *late)
{
	int saved = errno;

	/* Pairs with the caller's look, which is a system call. */
	fx_store_release(&late->result, late_begin(late));
	errno = saved;
	return 0;
}

int fxtrace_late_end(struct fx_late *late)
{
	struct fx_words_count count;
	int saved = errno;

	fx_words_restore(&count);
	fx_streams_restore();
	fx_engine_detach();
	late->words = count.changed;
	late->left = count.left;
	fx_store_release(&late->result, 0); /* as above */
	errno = saved;
	return 0;
}
