/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "preload/boot/private.h"

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
#include "preload/attach/attach.h"
#include "preload/boot/environ.h"
#include "preload/host/lookup.h"
#include "preload/host/self.h"
#include "preload/host/variables.h"
#include "preload/show/text.h"

#define MANAGER_FD	 3
#define PATH_BYTES	 4096
#define PATIENCE_SECONDS 5

#define OWN_FOLDER "/" PACKAGE /* below the libraries' */

#define DISABLE	 "FXTRACE_DISABLE="
#define UNTRACED DISABLE "1"

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
		size_t length = (size_t)(slash - self), own = strlen(OWN_FOLDER);

		if (length > own && memcmp(slash - own, OWN_FOLDER, own) == 0)
			length -= own;
		candidate_add(l, self, length, "/../bin/fxtrace-manager");
		candidate_add(l, self, length, "/../fxtrace");
	}
	candidate_add(l, "", 0, FX_BINDIR "/fxtrace-manager");
}

/* The program's environment without what would trace the manager itself; also where a script stands in its place. */
static int environment_copy(struct launch *l)
{
	fx_strings from = fx_environ_now();
	size_t n = 0, kept = 0;
	long p;

	while (from && from[n])
		n++;
	l->envp_bytes = (n + 2) * sizeof *l->envp;
	p = fx_syscall6(SYS_mmap, 0, (long)l->envp_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (fx_syscall_failed(p))
		return (int)p;
	l->envp = (char **)p;
	for (size_t i = 0; i < n; i++)
		if (strncmp(from[i], "LD_PRELOAD=", 11) != 0 &&
		    strncmp(from[i], UNTRACED, strlen(DISABLE)) != 0)
			l->envp[kept++] = from[i];
	l->envp[kept] = UNTRACED;
	return 0;
}

static __attribute__((noreturn)) void leave(int status)
{
	for (;;)
		fx_syscall1(SYS_exit_group, status);
}

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9, which the headers may not know */
#endif

/* The number that a name of /proc/self/fd is; -1: none. */
static int fd_of_name(const char *name)
{
	int fd = 0;

	if (!*name)
		return -1;
	for (; *name; name++) {
		if (*name < '0' || *name > '9')
			return -1;
		fd = 10 * fd + (*name - '0');
	}
	return fd;
}

/* Without /proc too: the first thousand. */
static void private_close_from(int first)
{
	struct entry {
		uint64_t inode, offset;
		uint16_t size;
		uint8_t type;
		char name[];
	};
	char entries[1024] __attribute__((aligned(8)));
	long folder, n;

	if (fx_syscall3(SYS_close_range, first, UINT32_MAX, 0) == 0)
		return;
	folder = fx_syscall4(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY, 0);
	for (int fd = first; folder < 0 && fd < 1024; fd++)
		fx_syscall1(SYS_close, fd);
	while (folder >= 0 &&
	       (n = fx_syscall3(SYS_getdents64, folder, entries, sizeof entries)) > 0) {
		for (long at = 0; at < n;) {
			const struct entry *e = (const void *)(entries + at);
			int fd = fd_of_name(e->name);

			if (fd >= first && fd != folder)
				fx_syscall1(SYS_close, fd);
			at += e->size;
		}
	}
	if (folder >= 0)
		fx_syscall1(SYS_close, folder);
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
	private_close_from(MANAGER_FD + 1);
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
static void set_socket(const char *path)
{
	int (*set)(const char *, const char *, int);

	set = (__typeof__(set))fx_lookup("setenv", "");
	if (set)
		set("FXTRACE_SOCKET", path, 1);
}

#define SOCKET "FXTRACE_SOCKET="

/* As a variable, while there is no environment to put it into. */
static char socket_variable[sizeof SOCKET + FX_SOCKET_PATH_MAX];

static void remember_socket(const char *path)
{
	struct fx_text t = FX_TEXT(socket_variable);

	if (environ) {
		set_socket(path);
		return;
	}
	fx_text_string(&t, SOCKET);
	fx_text_string(&t, path);
	fx_text_char(&t, 0);
	fx_environ_add(socket_variable);
}

void fx_private_manager_remember(void)
{
	if (socket_variable[0] && fx_environ_follows())
		set_socket(socket_variable + strlen(SOCKET));
	socket_variable[0] = 0;
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
	static struct launch l FX_LARGE;
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
