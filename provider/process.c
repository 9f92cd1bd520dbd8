/* SPDX-License-Identifier: MIT */
#include "provider/process.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/clock.h"
#include "base/syscall.h"
#include "engine/provider/engine.h"
#include "preload/attach/attach.h"
#include "preload/attach/bring.h"
#include "preload/attach/manager-user.h"
#include "preload/events/engines.h"
#include "preload/host/found.h"
#include "preload/host/gates.h"
#include "preload/host/modules.h"
#include "preload/host/unwind.h"
#include "preload/host/variables.h"
#include "protocol/place.h"
#include "provider/scope.h"
#include "provider/thread-end.h"

/* As the client reads the variables of options that take no argument. */
static bool process_variable_is_on(const char *name)
{
	const char *value = fx_environ_value(name);

	return value && value[0] && strcmp(value, "0") != 0;
}

/* The process that alone is to be traced (fxtrace run --no-follow); 0: there is none. */
static long process_alone(void)
{
	const char *value = fx_environ_value("FXTRACE_PID");

	return value ? strtol(value, NULL, 10) : 0;
}

int fx_process_may_register(void)
{
	long alone;

	if (getauxval(AT_SECURE))
		return -EPERM;
	alone = process_alone();
	return process_variable_is_on("FXTRACE_DISABLE") || (alone && alone != fx_getpid())
		   ? -ECANCELED
		   : 0;
}

static int process_reattach(void)
{
	int r = fx_bring();

	return r == -ENOSYS ? fx_attach(FX_REGISTER_FORK) : r;
}

/* Once in a process, whether or not it becomes a provider then. */
static void engine_prepare(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	fx_clock_init((const void *)getauxval(AT_SYSINFO_EHDR));
	fx_thread_ends_prepare();
	fx_found_init();
	fx_unwind_init();
}

static int process_attach_as(const char *name, const struct fx_msg_wish *wish)
{
	char path[FX_SOCKET_PATH_SIZE];
	int r = fx_place_find(path);

	if (r < 0)
		return r;
	engine_prepare();
	fx_engine.reattach = process_variable_is_on("FXTRACE_NO_FOLLOW") || process_alone()
				 ? NULL
				 : process_reattach;
	fx_attach_set_name(name);
	fx_attach_set_wish(wish);
	fx_attach_set_socket(path);
	fx_manager_user_init(NULL);
	return fx_attach(FX_REGISTER_START);
}

/* Another manager may listen elsewhere, and may be another user's. */
static int process_attach_anew(const char *name, const struct fx_msg_wish *wish)
{
	char path[FX_SOCKET_PATH_SIZE];
	int r = fx_place_find(path);

	if (r < 0)
		return r;
	fx_attach_set_name(name);
	fx_attach_set_wish(wish);
	fx_attach_set_socket(path);
	fx_modules_forget();
	return fx_attach_anew();
}

int fx_process_register(const char *name, const struct fx_msg_wish *wish)
{
	bool was_ours = fx_engines_is_ours();
	int r = 0;

	if (was_ours) {
		r = fx_attach_again();
		if (r == -EOWNERDEAD)
			r = process_attach_anew(name, wish);
	} else if (fx_engines_claim(fx_getpid())) {
		r = process_attach_as(name, wish);
		if (r == 0)
			fx_engines_settle();
		else
			fx_engines_waive();
	}
	if (r < 0)
		return r;
	if (fx_engines_is_ours() && !was_ours)
		fx_scope_widen();
	fx_gates_open(&(struct fx_gates){.events = &fx_events_table});
	return 0;
}

void fx_process_leave(void)
{
	if (fx_engines_is_ours())
		fx_engine_detach();
}
