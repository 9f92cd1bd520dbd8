/* SPDX-License-Identifier: MIT */
#include "preload/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/syscall.h"
#include "preload/attach.h"
#include "preload/environ.h"
#include "preload/lookup.h"
#include "preload/self.h"
#include "preload/text.h"

#define MANAGER_FD	 3
#define PATH_BYTES	 4096
#define PATIENCE_SECONDS 5

/* Written for the child before it is made: it shares nothing, and must call nothing that locks. */
struct launch {
	char candidates[3][PATH_BYTES];
	unsigned count;
	char *argv[8];
	char **envp; /* mapped */
	size_t envp_bytes;
	int socket;
};

static void candidate_add(struct launch *l, const char *directory, size_t length, const char *rest)
{
	size_t n = strlen(rest) + 1;

	if (length + n > PATH_BYTES || l->count == FX_ARRAY_LEN(l->candidates))
		return;
	memcpy(l->candidates[l->count], directory, length);
	memcpy(l->candidates[l->count] + length, rest, n);
	l->count++;
}

/* Beside an installed library, in a build tree, and where the package was configured to go. */
static void candidates_find(struct launch *l)
{
	const char *self = fx_self_path();
	const char *slash = self ? strrchr(self, '/') : NULL;

	if (slash) {
		size_t length = (size_t)(slash - self);

		candidate_add(l, self, length, "/../bin/fxtrace-manager");
		candidate_add(l, self, length, "/../fxtrace");
	}
	candidate_add(l, "", 0, FX_BINDIR "/fxtrace-manager");
}

/* The program's environment without what would trace the manager itself. */
static int environment_copy(struct launch *l)
{
	size_t n = 0, kept = 0;
	long p;

	while (environ[n])
		n++;
	l->envp_bytes = (n + 1) * sizeof *l->envp;
	p = fx_syscall6(SYS_mmap, 0, (long)l->envp_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p < 0 && p > -4096)
		return (int)p;
	l->envp = (char **)p;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0)
			l->envp[kept++] = environ[i];
	return 0;
}

static __attribute__((noreturn)) void leave(int status)
{
	for (;;)
		fx_syscall1(SYS_exit_group, status);
}

/* In the grandchild: nothing of the program's stays open. */
static __attribute__((noreturn)) void become_manager(struct launch *l)
{
	long null = fx_syscall4(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
	long socket = fx_syscall3(SYS_fcntl, l->socket, F_DUPFD, 100);

	for (int fd = 0; fd < 3; fd++)
		if (!(fd == 2 && fx_environ_value("FXTRACE_VERBOSE")))
			fx_syscall3(SYS_dup3, null, fd, 0);
	fx_syscall3(SYS_dup3, socket, MANAGER_FD, 0);
	fx_syscall3(SYS_close_range, MANAGER_FD + 1, UINT32_MAX, 0);
	for (unsigned i = 0; i < l->count; i++)
		fx_syscall3(SYS_execve, l->candidates[i], l->argv, l->envp);
	leave(127);
}

/* A copy of this process that no wait() without __WCLONE sees, and that sends no SIGCHLD. */
static long clone_silent(void)
{
	return fx_syscall6(SYS_clone, 0, 0, 0, 0, 0, 0);
}

static int launch(struct launch *l)
{
	long child = clone_silent(), r;

	if (child < 0)
		return (int)child;
	if (child == 0) {
		fx_syscall0(SYS_setsid);
		if (clone_silent() == 0)
			become_manager(l);
		leave(0);
	}
	do
		r = fx_syscall4(SYS_wait4, child, 0, __WCLONE, 0);
	while (r == -EINTR);
	return 0;
}

/* For the program's children; by libc's own function: a program may have another, that is not ready yet. */
static void remember_socket(const char *path)
{
	int (*set)(const char *, const char *, int);

	set = (__typeof__(set))fx_lookup("setenv", "");
	if (set)
		set("FXTRACE_SOCKET", path, 1);
}

/* The manager's first word: where its socket is. */
static int await_ready(int fd)
{
	const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
	struct fx_msg_manager_ready m;
	long r;

	fx_syscall6(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&patience, sizeof patience,
		    0);
	do
		r = fx_syscall6(SYS_recvfrom, fd, (long)&m, sizeof m, 0, 0, 0);
	while (r == -EINTR);
	if (r != sizeof m || m.header.magic != FX_MESSAGE_MAGIC ||
	    m.header.version != FX_MESSAGE_VERSION || m.header.type != FX_MSG_MANAGER_READY ||
	    !memchr(m.path, 0, sizeof m.path))
		return r < 0 ? (int)r : -EPROTO;
	fx_attach_set_socket(m.path);
	remember_socket(m.path);
	return 0;
}

static int launch_with_socket(struct launch *l)
{
	int pair[2];
	long r = fx_syscall4(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);

	if (r < 0)
		return (int)r;
	l->socket = pair[1];
	r = launch(l);
	fx_syscall1(SYS_close, pair[1]);
	if (r == 0)
		r = await_ready(pair[0]);
	if (r < 0) {
		fx_syscall1(SYS_close, pair[0]);
		return (int)r;
	}
	return pair[0];
}

int fx_private_manager_start(const char *name)
{
	static struct launch l;
	char pid[12];
	struct fx_text t = FX_TEXT(pid);
	int r;

	fx_text_number(&t, (unsigned)fx_getpid(), 10);
	fx_text_char(&t, 0);
	candidates_find(&l);
	r = environment_copy(&l);
	if (r < 0)
		return r;
	l.argv[0] = "fxtrace-manager";
	l.argv[1] = "--private";
	l.argv[2] = "--fd=3";
	l.argv[3] = "--name";
	l.argv[4] = (char *)name;
	l.argv[5] = "--pid";
	l.argv[6] = pid;
	r = launch_with_socket(&l);
	fx_syscall2(SYS_munmap, l.envp, l.envp_bytes);
	return r;
}
