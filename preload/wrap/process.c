/* SPDX-License-Identifier: MIT */
/* Processes: fork, exec, spawn, wait. vfork stands in vfork.c. */
#include "preload/types.h"

#include <unistd.h>

#include "base/fault.h"
#include "base/loadable.h"
#include "base/syscall.h"
#include "engine/provider/number.h"
#include "preload/attach/attach.h"
#include "preload/call/call.h"
#include "preload/boot/environ-memory.h"
#include "preload/boot/environ.h"
#include "preload/call/execs.h"
#include "preload/call/file-locks.h"
#include "preload/call/flow.h"
#include "preload/call/handoff.h"
#include "preload/call/heap.h"
#include "preload/call/title.h"
#include "preload/host/peek.h"
#include "preload/host/real.h"

/* --- fork ------------------------------------------------------------------------------------- */

/* When something begins that the manager will be told of. The thread has a state from here on, which is suspended while a
 * child runs on it: else that would take one. */
static uint64_t beginning(void)
{
	return fx_thread_on(UINT32_MAX) ? fx_now() : 0;
}

/* A child's number is that of its thread, which libc has had written anew, or has not: then it is its parent's. 0: not known. */
static int child_number(const struct fx_fork *before)
{
	uint32_t number = before->thread.tid ? fx_number() : 0;

	return number != before->thread.tid ? (int)number : 0;
}

/* The child has no thread but this one, and nothing of its parent's trace. It registers at once, so
 * that it shows up even if it does nothing. */
static void forked(const struct fx_fork *before, const struct fx_heap_sum *heap)
{
	FX_FAULT(fork_child);
	if (before->by_guest) /* what is a thread's own is not there */
		return;
	fx_handoff_reset();
	fx_waits_reset();
	fx_heap_after_fork(heap);
	fx_attach_set_pid(child_number(before));
	fx_engine_after_fork(before);
	fx_attach_set_pid(0);
}

static pid_t fork_with(pid_t (*real)(void), uint64_t header, uint64_t sp)
{
	struct fx_call call = {0};
	bool on = fx_call_try(&call, FX_CAT_PROCESS, header, sp, 0);
	uint64_t time = beginning();
	struct fx_heap_sum heap;
	struct fx_fork before;
	pid_t pid;

	fx_files_spread();
	fx_engine_before_fork(&before, on);
	fx_heap_before_fork(&heap);
	pid = real();
	if (pid == 0) {
		forked(&before, &heap);
		return 0;
	}
	fx_fork_leave(before.guarded);
	if (pid > 0)
		fx_tie_created(pid, !before.by_guest && fx_engine_follows(), time);
	if (on && fx_call_end(&call, FX_CALL_WORDS + FX_RESULT_WORDS, FX_ERROR_sys(pid))) {
		fx_result_sys(&call, pid);
		fx_call_write(&call, header);
	}
	return pid;
}

pid_t fx_wrap_fork(void)
{
	return fork_with(FX_REAL(fork), FX_CALL_HEADER(process, fork), FX_WRAPPER_SP());
}

/* fork() without the handlers of pthread_atfork(). */
pid_t fx_wrap__Fork(void)
{
	return fork_with(FX_REAL(_Fork), FX_CALL_HEADER(process, _Fork), FX_WRAPPER_SP());
}

static int fx_call_forkpty(int *master, char *name, const struct termios *attributes,
			   const struct winsize *size)
{
	bool guarded = fx_fork_guard();
	int pid;

	fx_files_spread();
	pid = FX_REAL(forkpty)(master, name, attributes, size);
	fx_fork_leave(guarded);
	return pid;
}

/* Whether the storage that a child brings is there as far as this library looks at it. A process that may not ask
 * believes so. */
static bool is_storage_there(const char *tls)
{
	return fx_peek_near(tls + fx_own_offset(), sizeof fx_own, NULL) ||
	       !fx_engine_may(FX_ASK_LOOK);
}

/* What decides of a child; one may be given its maker's storage. */
static int guest_kind(int flags, const void *tls)
{
	if (flags & CLONE_SETTLS && (uintptr_t)tls == fx_thread_pointer())
		flags &= ~CLONE_SETTLS;
	return flags & (CLONE_VM | CLONE_VFORK | CLONE_SETTLS);
}

/*
 * A child with memory of its own finds a wiped state, as any other, or is guarded until it does. One that runs on the
 * parent's memory while the parent waits, and on its thread-local storage, would write into the parent's chunks: until it
 * is gone the thread records nothing. With storage of its own, nothing in the process does. One that runs
 * beside the parent on its storage records nothing itself. Nor does one that runs beside it on storage of its own,
 * unless that is as libc makes it; each event looks at it for that, so where it ends before, none may any more.
 */
static bool guest_comes(int kind, const void *tls)
{
	if (!(kind & CLONE_VM))
		return fx_fork_guard();
	switch (kind) {
	case CLONE_VM:
		return fx_thread_share();
	case CLONE_VM | CLONE_VFORK:
		if (!fx_engine_is_stranger())
			fx_engine_lend();
		fx_thread_suspend();
		break;
	case CLONE_VM | CLONE_VFORK | CLONE_SETTLS:
		fx_engine_guest_comes();
		break;
	case CLONE_VM | CLONE_SETTLS:
		if (!is_storage_there(tls))
			fx_engine_go_blind();
		break;
	}
	return false;
}

static void guest_gone(int kind, bool shares, int child)
{
	if (!(kind & CLONE_VM))
		fx_fork_leave(shares);
	else if (shares)
		fx_thread_shared_with(child);
	switch (kind) {
	case CLONE_VM | CLONE_VFORK:
		fx_thread_resume();
		if (!fx_engine_is_stranger())
			fx_engine_lent_back();
		break;
	case CLONE_VM | CLONE_VFORK | CLONE_SETTLS:
		fx_engine_guest_gone();
		break;
	}
	if (kind & CLONE_VFORK)
		fx_environ_memory_left(child);
}

int fx_wrap_clone(fx_clone_main start, void *stack, int flags, void *arg, ...)
{
	enum { WORDS = FX_CALL_WORDS + FX_RESULT_WORDS + FX_WORDS_clone + FX_WORDS_EXECUTED };
	struct fx_call call;
	void *rest[3];
	va_list ap;
	uint64_t time = beginning();
	bool on, shares;
	int ret, kind;

	va_start(ap, arg);
	for (size_t i = 0; i < FX_ARRAY_LEN(rest); i++)
		rest[i] = va_arg(ap, void *);
	va_end(ap);
	on = fx_call_try(&call, FX_CAT_PROCESS, FX_CALL_HEADER(process, clone), FX_WRAPPER_SP(), 0);
	fx_files_spread();
	kind = guest_kind(flags, rest[1]);
	shares = guest_comes(kind, rest[1]);
	ret = FX_REAL(clone)(start, stack, flags, arg, rest[0], rest[1], rest[2]);
	guest_gone(kind, shares, ret);
	if (ret > 0 && !(flags & CLONE_THREAD))
		fx_tie_created(ret, fx_exec_will_register(), time);
	if (on && fx_call_end(&call, WORDS, FX_ERROR_sys(ret))) {
		fx_arg_clone(&call, FX_STR_flags, flags);
		fx_result_sys(&call, ret);
		fx_exec_show(&call);
		fx_call_write(&call, FX_CALL_HEADER(process, clone));
	}
	return ret;
}

/* --- exec and posix_spawn: with what a traced program needs in its environment ---------------- */

static int failed(const struct fx_environ *e, int ret)
{
	fx_exec_failed(e->traced);
	fx_environ_release(e);
	return ret;
}

static int exec_file(uint64_t header, const char *path, fx_strings argv, fx_strings envp)
{
	struct fx_environ e = {0};

	fx_environ_for_file(&e, path);
	fx_environ_make(&e, envp);
	FX_FAULT(exec);
	fx_exec_tell(header, path, argv, e.traced);
	return failed(&e, FX_REAL(execve)(path, argv, e.envp));
}

static int fx_call_execve(const char *path, fx_strings argv, fx_strings envp)
{
	return exec_file(FX_CALL_HEADER(process, execve), path, argv, envp);
}

static int fx_call_execv(const char *path, fx_strings argv)
{
	return exec_file(FX_CALL_HEADER(process, execv), path, argv, environ);
}

static int exec_command(uint64_t header, const char *file, fx_strings argv, fx_strings envp)
{
	struct fx_environ e = {0};

	fx_environ_for_command(&e, file);
	fx_environ_make(&e, envp);
	fx_exec_tell(header, file, argv, e.traced);
	return failed(&e, FX_REAL(execvpe)(file, argv, e.envp));
}

static int fx_call_execvpe(const char *file, fx_strings argv, fx_strings envp)
{
	return exec_command(FX_CALL_HEADER(process, execvpe), file, argv, envp);
}

static int fx_call_execvp(const char *file, fx_strings argv)
{
	return exec_command(FX_CALL_HEADER(process, execvp), file, argv, environ);
}

static int fx_call_fexecve(int fd, fx_strings argv, fx_strings envp)
{
	struct fx_environ e = {0};

	fx_environ_for_fd(&e, fd);
	fx_environ_make(&e, envp);
	fx_exec_tell_fd(FX_CALL_HEADER(process, fexecve), fd, argv, e.traced);
	return failed(&e, FX_REAL(fexecve)(fd, argv, e.envp));
}

static void environ_for_file_at(struct fx_environ *e, int dirfd, const char *path)
{
	int fd;

	if (fx_environ_is_confined(e, path))
		return;
	fd = fx_loadable_open(dirfd, path);
	fx_environ_for_fd(e, fd);
	if (fd >= 0)
		fx_syscall1(SYS_close, fd);
}

static int fx_call_execveat(int dirfd, const char *path, fx_strings argv, fx_strings envp,
			    int flags)
{
	const uint64_t header = FX_CALL_HEADER(process, execveat);
	const bool empty = flags & AT_EMPTY_PATH && fx_peek(path, 1) && !path[0];
	struct fx_environ e = {0};

	if (empty)
		fx_environ_for_fd(&e, dirfd);
	else
		environ_for_file_at(&e, dirfd, path);
	fx_environ_make(&e, envp);
	if (empty)
		fx_exec_tell_fd(header, dirfd, argv, e.traced);
	else
		fx_exec_tell(header, path, argv, e.traced);
	return failed(&e, FX_REAL(execveat)(dirfd, path, argv, e.envp, flags));
}

/* The pid is asked for even if the program does not. */
static void spawned(int error, pid_t child, pid_t *ret_pid, bool traced, uint64_t time)
{
	if (error)
		return;
	if (ret_pid)
		*ret_pid = child;
	fx_tie_created(child, traced && fx_engine_has_children(), time);
}

/* posix_spawn() or posix_spawnp(); `e` knows the program. */
static int spawn(__typeof__(posix_spawn) *real, struct fx_environ *e, pid_t *pid, const char *path,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attr,
		 fx_strings argv, fx_strings envp)
{
	uint64_t time = beginning();
	pid_t child = 0;
	int ret;

	fx_files_spread();
	fx_environ_make(e, envp);
	ret = real(&child, path, actions, attr, argv, e->envp);
	spawned(ret, child, pid, e->traced, time);
	fx_environ_release(e);
	return ret;
}

static int fx_call_posix_spawn(pid_t *pid, const char *path,
			       const posix_spawn_file_actions_t *actions,
			       const posix_spawnattr_t *attr, fx_strings argv, fx_strings envp)
{
	struct fx_environ e = {.is_childs = true};

	fx_environ_for_file(&e, path);
	return spawn(FX_REAL(posix_spawn), &e, pid, path, actions, attr, argv, envp);
}

static int fx_call_posix_spawnp(pid_t *pid, const char *file,
				const posix_spawn_file_actions_t *actions,
				const posix_spawnattr_t *attr, fx_strings argv, fx_strings envp)
{
	struct fx_environ e = {.is_childs = true};

	fx_environ_for_command(&e, file);
	return spawn(FX_REAL(posix_spawnp), &e, pid, file, actions, attr, argv, envp);
}

/* pidfd_spawn() or pidfd_spawnp(); the same. The child has no pid to be told of. */
static int spawn_pidfd(__typeof__(fx_real.fn.pidfd_spawn) real, struct fx_environ *e, int *pidfd,
		       const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attr, fx_strings argv, fx_strings envp)
{
	int ret;

	fx_files_spread();
	fx_environ_make(e, envp);
	ret = real(pidfd, path, actions, attr, argv, e->envp);
	fx_environ_release(e);
	return ret;
}

static int fx_call_pidfd_spawn(int *pidfd, const char *path,
			       const posix_spawn_file_actions_t *actions,
			       const posix_spawnattr_t *attr, fx_strings argv, fx_strings envp)
{
	struct fx_environ e = {.is_childs = true};

	fx_environ_for_file(&e, path);
	return spawn_pidfd(FX_REAL(pidfd_spawn), &e, pidfd, path, actions, attr, argv, envp);
}

static int fx_call_pidfd_spawnp(int *pidfd, const char *file,
				const posix_spawn_file_actions_t *actions,
				const posix_spawnattr_t *attr, fx_strings argv, fx_strings envp)
{
	struct fx_environ e = {.is_childs = true};

	fx_environ_for_command(&e, file);
	return spawn_pidfd(FX_REAL(pidfd_spawnp), &e, pidfd, file, actions, attr, argv, envp);
}

/* --- Ends of others, and one's own ------------------------------------------------------------ */

/* The status is asked for even if the program does not. */
static void reaped(pid_t pid, int status)
{
	if (pid > 0 && (WIFEXITED(status) || WIFSIGNALED(status)))
		fx_tie_now(FX_TIE_REAPS, pid, status);
}

static pid_t fx_call_waitpid(pid_t pid, int *status, int options)
{
	int own = 0, *where = status ? status : &own;
	pid_t ret = FX_REAL(waitpid)(pid, where, options);

	if (ret > 0)
		reaped(ret, *where);
	return ret;
}

static pid_t fx_call_wait(int *status)
{
	int own = 0, *where = status ? status : &own;
	pid_t ret = FX_REAL(wait)(where);

	if (ret > 0)
		reaped(ret, *where);
	return ret;
}

static pid_t fx_call_wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	int own = 0, *where = status ? status : &own;
	pid_t ret = FX_REAL(wait4)(pid, where, options, usage);

	if (ret > 0)
		reaped(ret, *where);
	return ret;
}

static pid_t fx_call_wait3(int *status, int options, struct rusage *usage)
{
	int own = 0, *where = status ? status : &own;
	pid_t ret = FX_REAL(wait3)(where, options, usage);

	if (ret > 0)
		reaped(ret, *where);
	return ret;
}

/* The status that wait() would have given; -1: it has not ended. */
static int process_status_of(const siginfo_t *info)
{
	if (info->si_code == CLD_EXITED)
		return (info->si_status & 0xff) << 8;
	if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
		return info->si_status & 0x7f;
	return -1;
}

static int fx_call_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	siginfo_t own = {0}, *where = info ? info : &own;
	int ret = FX_REAL(waitid)(type, id, where, options);

	if (ret == 0 && !(options & WNOWAIT) && where->si_pid && process_status_of(where) >= 0)
		reaped(where->si_pid, process_status_of(where));
	return ret;
}

/* Told before it is sent: it may be the last that this process does. */
static int fx_call_kill(pid_t pid, int sig)
{
	uint64_t begin = fx_signal_begin();
	int ret;

	if (pid > 0 && sig > 0)
		fx_tie_now(FX_TIE_KILLS, pid, sig);
	ret = FX_REAL(kill)(pid, sig);
	if (ret == 0)
		fx_signal_sent(begin, pid > 0 ? pid : 0, 0, sig, FX_SIGNAL_TO_PROCESS);
	return ret;
}

static int fx_call_sigqueue(pid_t pid, int sig, const union sigval value)
{
	uint64_t begin = fx_signal_begin();
	int ret;

	if (pid > 0 && sig > 0)
		fx_tie_now(FX_TIE_KILLS, pid, sig);
	ret = FX_REAL(sigqueue)(pid, sig, value);
	if (ret == 0)
		fx_signal_sent(begin, pid, 0, sig, FX_SIGNAL_QUEUED);
	return ret;
}

static void exits(int status)
{
	struct fx_thread *t = fx_thread_on(FX_CAT_PROCESS);
	uint64_t words[2 + FX_WORDS_int];
	struct fx_call arguments = {.next = words + 2};

	fx_title_tell();
	if (!t)
		return;
	words[1] = fx_thread_now(t);
	fx_arg_int(&arguments, FX_STR_status, status);
	fx_words_write(t, words, FX_ARRAY_LEN(words),
		       FX_EVENT_HEADER(FX_EVENT_INSTANT, FX_ARRAY_LEN(words), 1, FX_STR_process,
				       FX_STR_exits));
}

void fx_wrap_exit(int status)
{
	exits(status);
	FX_REAL(exit)(status);
	__builtin_unreachable();
}

void fx_wrap__exit(int status)
{
	exits(status);
	FX_REAL(_exit)(status);
	__builtin_unreachable();
}

void fx_wrap__Exit(int status)
{
	exits(status);
	FX_REAL(_Exit)(status);
	__builtin_unreachable();
}

void fx_wrap_quick_exit(int status)
{
	exits(status);
	FX_REAL(quick_exit)(status);
	__builtin_unreachable();
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
	/* Here and not in a function: whether that would move `ap' on depends on the machine. */
	va_start(ap, arg);
	for (const char *a = arg; a; a = va_arg(ap, char *))
		;
	envp = va_arg(ap, fx_strings);
	va_end(ap);
	return fx_wrap_execve(path, argv, envp);
}

#include "preload/unit-process.inc"
