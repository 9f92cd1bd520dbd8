/* SPDX-License-Identifier: MIT */
/* Processes: fork, exec, spawn, wait. vfork stands in vfork.c. */
#include "preload/types.h"

#include <unistd.h>

#include "base/fault.h"
#include "preload/call.h"
#include "preload/environ.h"
#include "preload/flow.h"
#include "preload/handoff.h"
#include "preload/real.h"

/* --- fork ------------------------------------------------------------------------------------- */

/* The child has no thread but this one, and nothing of its parent's trace. It registers at once, so
 * that it shows up even if it does nothing. */
static void forked(const struct fx_fork *before, uint64_t flow)
{
	struct fx_thread *t;

	FX_FAULT(fork_child);
	fx_handoff_reset();
	fx_waits_reset();
	fx_engine_after_fork(before);
	t = fx_thread_on(FX_CAT_PROCESS);
	if (t)
		fx_flow_from_outside(t, FX_STR_process, FX_STR_fork_child, flow);
}

pid_t fx_wrap_fork(void)
{
	struct fx_call call = {0};
	bool on =
	    fx_call_begin(&call, FX_CAT_PROCESS, FX_CALL_HEADER(process, fork), FX_WRAPPER_SP(), 0);
	uint64_t flow = on ? fx_flow_out(call.thread, FX_STR_process, FX_STR_fork_begin) : 0;
	struct fx_fork before;
	pid_t pid;

	fx_engine_before_fork(&before);
	pid = FX_REAL(fork)();
	if (pid == 0) {
		forked(&before, flow);
	} else if (on && fx_call_end(&call, FX_CALL_WORDS + FX_RESULT_WORDS, FX_ERROR_sys(pid))) {
		fx_result_sys(&call, pid);
		fx_call_write(&call, FX_CALL_HEADER(process, fork));
	}
	return pid;
}

/* --- exec and posix_spawn: with what a traced program needs in its environment ---------------- */

static int fx_call_execve(const char *path, fx_strings argv, fx_strings envp)
{
	struct fx_environ e;
	int ret;

	fx_environ_for_file(&e, path);
	FX_ENVIRON_MAKE(&e, envp);
	FX_FAULT(exec);
	ret = FX_REAL(execve)(path, argv, e.envp);
	fx_environ_release(&e);
	return ret;
}

static int fx_call_execv(const char *path, fx_strings argv)
{
	return fx_call_execve(path, argv, environ);
}

static int fx_call_execvpe(const char *file, fx_strings argv, fx_strings envp)
{
	struct fx_environ e;
	int ret;

	fx_environ_for_command(&e, file);
	FX_ENVIRON_MAKE(&e, envp);
	ret = FX_REAL(execvpe)(file, argv, e.envp);
	fx_environ_release(&e);
	return ret;
}

static int fx_call_execvp(const char *file, fx_strings argv)
{
	return fx_call_execvpe(file, argv, environ);
}

static int fx_call_fexecve(int fd, fx_strings argv, fx_strings envp)
{
	struct fx_environ e;
	int ret;

	fx_environ_for_fd(&e, fd);
	FX_ENVIRON_MAKE(&e, envp);
	ret = FX_REAL(fexecve)(fd, argv, e.envp);
	fx_environ_release(&e);
	return ret;
}

static int fx_call_posix_spawn(pid_t *pid, const char *path,
			       const posix_spawn_file_actions_t *actions,
			       const posix_spawnattr_t *attr, fx_strings argv, fx_strings envp)
{
	struct fx_environ e;
	int ret;

	fx_environ_for_file(&e, path);
	FX_ENVIRON_MAKE(&e, envp);
	ret = FX_REAL(posix_spawn)(pid, path, actions, attr, argv, e.envp);
	fx_environ_release(&e);
	return ret;
}

static int fx_call_posix_spawnp(pid_t *pid, const char *file,
				const posix_spawn_file_actions_t *actions,
				const posix_spawnattr_t *attr, fx_strings argv, fx_strings envp)
{
	struct fx_environ e;
	int ret;

	fx_environ_for_command(&e, file);
	FX_ENVIRON_MAKE(&e, envp);
	ret = FX_REAL(posix_spawnp)(pid, file, actions, attr, argv, e.envp);
	fx_environ_release(&e);
	return ret;
}

/* --- exec with its arguments one by one: shown as the function with an array ------------------ */

/* Counts them, ending NULL included. */
static size_t arguments_count(const char *first, va_list ap)
{
	size_t n = 1;

	if (!first)
		return n;
	do
		n++;
	while (va_arg(ap, char *));
	return n;
}

static void arguments_copy(char **argv, const char *first, size_t count, va_list ap)
{
	argv[0] = (char *)first;
	for (size_t i = 1; i < count; i++)
		argv[i] = va_arg(ap, char *);
}

/* Collects the arguments behind `first` into `argv`, on the stack; libc does the same. */
#define COLLECT(argv, first)                                                                       \
	do {                                                                                       \
		va_list ap_;                                                                       \
		size_t count_;                                                                     \
                                                                                                   \
		va_start(ap_, first);                                                              \
		count_ = arguments_count((first), ap_);                                            \
		va_end(ap_);                                                                       \
		(argv) = __builtin_alloca(count_ * sizeof *(argv));                                \
		va_start(ap_, first);                                                              \
		arguments_copy((argv), (first), count_, ap_);                                      \
		va_end(ap_);                                                                       \
	} while (0)

int fx_wrap_execl(const char *path, const char *arg, ...)
{
	char **argv;

	COLLECT(argv, arg);
	return fx_wrap_execv(path, argv);
}

int fx_wrap_execlp(const char *path, const char *arg, ...)
{
	char **argv;

	COLLECT(argv, arg);
	return fx_wrap_execvp(path, argv);
}

/* The environment stands behind the NULL that ends the arguments. */
int fx_wrap_execle(const char *path, const char *arg, ...)
{
	fx_strings envp;
	char **argv;
	va_list ap;

	COLLECT(argv, arg);
	va_start(ap, arg);
	arguments_count(arg, ap);
	envp = va_arg(ap, fx_strings);
	va_end(ap);
	return fx_wrap_execve(path, argv, envp);
}

#include "preload/unit-process.inc"
