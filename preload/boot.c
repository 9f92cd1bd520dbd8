/* SPDX-License-Identifier: MIT */
/* The constructor: from here on the process is a provider, or runs as if we were not there. */
#include <errno.h>
#include <string.h>

#include "base/syscall.h"
#include "engine/engine.h"
#include "engine/function.h"
#include "preload/attach.h"
#include "preload/environ.h"
#include "preload/fdtable.h"
#include "preload/modules.h"
#include "preload/private.h"
#include "preload/real.h"
#include "preload/strings.h"
#include "preload/unwind.h"

static int reattach(void)
{
	return fx_attach(FX_CAUSE_FORK);
}

static int attach_somewhere(void)
{
	const char *socket = fx_environ_value("FXTRACE_SOCKET");
	int fd;

	if (socket && socket[0]) {
		fx_attach_set_socket(socket);
		return fx_attach(FX_CAUSE_START);
	}
	fd = fx_private_manager_start(program_invocation_short_name);
	return fd < 0 ? fd : fx_attach_over(fd, FX_CAUSE_START);
}

__attribute__((constructor(101))) static void boot(void)
{
	const char *disable = fx_environ_value("FXTRACE_DISABLE");
	int saved = errno;

	fx_real_init();
	if (!(disable && disable[0] && strcmp(disable, "0") != 0)) {
		fx_function_set_category(FX_STR_function);
		fx_function_seen = fx_modules_see;
		fx_engine.reattach = reattach;
		fx_attach_set_name(program_invocation_short_name);
		fx_unwind_init();
		fx_modules_collect();
		if (attach_somewhere() == 0)
			fx_fd_table_init();
		fx_environ_init(); /* last: it hands on what the above has set */
		if (!fx_environ_follows())
			fx_engine.reattach = NULL;
	}
	errno = saved;
}
