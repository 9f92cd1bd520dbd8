/* SPDX-License-Identifier: MIT */
/*
 * Uses descriptors of all kinds, and says of each use what the archive shall say of it: "PID CALL FD WHAT
 * TOTAL", where TOTAL is the bytes so far, "-" if none are counted. identities.sh compares.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Linux 5.9, which the headers may not know. */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static void check(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}
#define CHECK(condition) check(condition, #condition)

/* --- What is expected ------------------------------------------------------------------------- */

struct what {
	char text[512];
};

static struct what __attribute__((format(printf, 1, 2))) what(const char *format, ...)
{
	struct what w;
	va_list ap;

	va_start(ap, format);
	vsnprintf(w.text, sizeof w.text, format, ap);
	va_end(ap);
	return w;
}

static struct what path_of(const char *name)
{
	char here[256];

	CHECK(getcwd(here, sizeof here) != NULL);
	return what("%s/%s", here, name);
}

static unsigned long inode_of(int fd)
{
	struct stat st;

	CHECK(fstat(fd, &st) == 0);
	return st.st_ino;
}

static struct what pipe_of(int fd)
{
	return what("pipe:[%lu]", inode_of(fd));
}

static struct what pair_of(int self, int peer)
{
	return what("socket:[%lu] unix stream->socket:[%lu]", inode_of(self), inode_of(peer));
}

static struct what tcp_of(int fd)
{
	struct sockaddr_in self, peer;
	socklen_t length = sizeof self;
	char a[32], b[32];

	CHECK(getsockname(fd, (struct sockaddr *)&self, &length) == 0);
	length = sizeof peer;
	CHECK(getpeername(fd, (struct sockaddr *)&peer, &length) == 0);
	inet_ntop(AF_INET, &self.sin_addr, a, sizeof a);
	inet_ntop(AF_INET, &peer.sin_addr, b, sizeof b);
	return what("socket:[%lu] tcp %s:%u->%s:%u", inode_of(fd), a, ntohs(self.sin_port), b,
		    ntohs(peer.sin_port));
}

/* --- What is done ----------------------------------------------------------------------------- */

static void put(int fd, struct what w, size_t bytes, long total)
{
	static const char data[4096];

	CHECK(write(fd, data, bytes) == (ssize_t)bytes);
	printf("%d write %d %s %ld\n", getpid(), fd, w.text, total);
}

static void get(int fd, struct what w, size_t bytes, long total)
{
	char data[4096];

	CHECK(read(fd, data, bytes) == (ssize_t)bytes);
	printf("%d read %d %s %ld\n", getpid(), fd, w.text, total);
}

static void shut(int fd, struct what w)
{
	CHECK(close(fd) == 0);
	printf("%d close %d %s -\n", getpid(), fd, w.text);
}

/* Of what has not been used nothing is known yet. */
static void shut_unused(int fd)
{
	CHECK(close(fd) == 0);
}

static pid_t split(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	return pid;
}

static void leave(void)
{
	fflush(stdout);
	_exit(0);
}

static void join(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static int file(const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0);
	return fd;
}

/* --- Kinds ------------------------------------------------------------------------------------- */

static void files(void)
{
	struct what one = path_of("one \"file\"\twith\nodd \\ letters \xc3\xa4");
	int fd = file(strrchr(one.text, '/') + 1), again;

	put(fd, one, 10, 10);
	put(fd, one, 5, 15);
	CHECK(lseek(fd, 0, SEEK_SET) == 0);
	get(fd, one, 15, 15);
	shut(fd, one);
	/* the same number once more */
	again = file("two");
	CHECK(again == fd);
	put(again, path_of("two"), 7, 7);
	shut(again, path_of("two"));
	CHECK(close(again) == -1 && errno == EBADF);
	CHECK(write(again, "", 1) == -1 && errno == EBADF);
	again = file("three");
	shut_unused(again);
}

static void copies(void)
{
	struct what w = path_of("four");
	int fd = file("four"), other = file("five"), copy;

	put(fd, w, 3, 3);
	put(other, path_of("five"), 1, 1);
	copy = dup(fd);
	put(copy, w, 2, 2);
	shut(copy, w);
	CHECK(dup2(fd, other) == other);
	put(other, w, 4, 4);
	CHECK(dup3(fd, other, O_CLOEXEC) == other);
	put(other, w, 4, 4);
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 100);
	CHECK(copy == 100);
	put(copy, w, 1, 1);
	CHECK(syscall(SYS_close_range, 100u, 200u, 0) == 0 || close(copy) == 0);
	shut(other, w);
	put(fd, w, 1, 4);
	shut(fd, w);
}

static void streams(void)
{
	FILE *f = fopen("six", "w");
	int fd = fileno(f), other;

	put(fd, path_of("six"), 1, 1);
	CHECK(fclose(f) == 0);
	other = file("seven");
	CHECK(other == fd);
	put(fd, path_of("seven"), 1, 1);
	CHECK(syscall(SYS_close, fd) == 0);
	other = file("eight");
	CHECK(other == fd);
	put(fd, path_of("eight"), 1, 1);
	shut(fd, path_of("eight"));
}

static void others(void)
{
	uint64_t one = 1;
	int fd = memfd_create("named", MFD_CLOEXEC), event = eventfd(0, EFD_CLOEXEC), fifo;

	put(fd, what("/memfd:named (deleted)"), 1, 1);
	shut(fd, what("/memfd:named (deleted)"));
	CHECK(write(event, &one, sizeof one) == sizeof one);
	printf("%d write %d anon_inode:[eventfd] 8\n", getpid(), event);
	shut(event, what("anon_inode:[eventfd]"));
	CHECK(mkfifo("named pipe", 0600) == 0);
	fifo = open("named pipe", O_RDWR | O_CLOEXEC);
	put(fifo, what("fifo:[%lu] %s", inode_of(fifo), path_of("named pipe").text), 6, 6);
	shut(fifo, what("fifo:[%lu] %s", inode_of(fifo), path_of("named pipe").text));
}

/* Both processes, and one that the child becomes. */
static void pipes(const char *self)
{
	int fds[2];
	pid_t child;

	CHECK(pipe(fds) == 0);
	put(fds[1], pipe_of(fds[1]), 100, 100);
	child = split();
	if (child == 0) {
		const struct what w = pipe_of(fds[1]);
		char number[12];

		get(fds[0], pipe_of(fds[0]), 60, 60);
		put(fds[1], pipe_of(fds[1]), 1, 1);
		fflush(stdout);
		snprintf(number, sizeof number, "%d", fds[1]);
		execl(self, self, "inherited", number, w.text, (char *)NULL);
		_exit(1);
	}
	join(child);
	get(fds[0], pipe_of(fds[0]), 41 + 9, 50);
	shut(fds[0], pipe_of(fds[0]));
	shut(fds[1], pipe_of(fds[1]));
}

static void pairs(void)
{
	struct what a, b;
	int fds[2];
	pid_t child;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	a = pair_of(fds[0], fds[1]);
	b = pair_of(fds[1], fds[0]);
	put(fds[0], a, 20, 20);
	child = split();
	if (child == 0) {
		get(fds[1], b, 20, 20);
		put(fds[1], b, 30, 30);
		leave();
	}
	join(child);
	get(fds[0], a, 30, 30);
	shut(fds[0], a);
	shut(fds[1], b);
}

static void tcp(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t length = sizeof address;
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), end, one = 1;
	pid_t child;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(bind(server, (struct sockaddr *)&address, length) == 0 && listen(server, 5) == 0);
	CHECK(getsockname(server, (struct sockaddr *)&address, &length) == 0);
	child = split();
	if (child == 0) {
		end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		CHECK(setsockopt(end, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one) == 0);
		CHECK(connect(end, (struct sockaddr *)&address, sizeof address) == 0);
		put(end, tcp_of(end), 50, 50);
		put(end, tcp_of(end), 50, 100);
		get(end, tcp_of(end), 10, 10);
		leave();
	}
	end = accept(server, NULL, NULL);
	CHECK(recv(end, (char[100]){0}, 100, MSG_PEEK | MSG_WAITALL) == 100);
	get(end, tcp_of(end), 100, 100);
	put(end, tcp_of(end), 10, 10);
	join(child);
	shut(end, tcp_of(end));
	shut(server, what("socket:[%lu] tcp 127.0.0.1:%u listening", inode_of(server),
			  ntohs(address.sin_port)));
}

static void local(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "a socket"};
	int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), end;
	struct what w;
	pid_t child;

	CHECK(bind(server, (struct sockaddr *)&address, sizeof address) == 0 &&
	      listen(server, 5) == 0);
	child = split();
	if (child == 0) {
		end = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		CHECK(connect(end, (struct sockaddr *)&address, sizeof address) == 0);
		put(end,
		    what("socket:[%lu] unix stream->a socket of pid %d", inode_of(end), getppid()),
		    8, 8);
		leave();
	}
	end = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	w = what("socket:[%lu] unix stream a socket->pid %d", inode_of(end), child);
	get(end, w, 8, 8);
	join(child);
	shut(end, w);
	shut(server, what("socket:[%lu] unix stream a socket listening", inode_of(server)));
}

/* What a vfork child does to its descriptors is not done to ours. */
static void vforked(void)
{
	struct what w = path_of("nine");
	int fd = file("nine");
	pid_t child;

	put(fd, w, 2, 2);
	fflush(stdout);
	child = vfork();
	if (child == 0) {
		dup2(2, fd);
		close(fd);
		_exit(0);
	}
	join(child);
	put(fd, w, 2, 4);
	shut(fd, w);
}

/* --- Other ways to run it ------------------------------------------------------------------------- */

static void *churn(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3000; i++) {
		int fd = open(i % 2 ? "/dev/null" : "/dev/zero", O_RDWR | O_CLOEXEC);

		if (write(fd, "", 1) != 1 || close(fd) != 0)
			abort();
		/* a number that another thread may have just now */
		if (write(fd, "", 0) < 0 && errno != EBADF)
			abort();
	}
	return NULL;
}

static int race(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, churn, NULL) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

/* More names than there are indices for. */
static int many(int count)
{
	for (int i = 0; i < count; i++) {
		struct what name = what("file %d", i);
		int fd = memfd_create(name.text, MFD_CLOEXEC);

		CHECK(write(fd, "", 1) == 1 && close(fd) == 0);
	}
	return 0;
}

/* A filter kills for what the program does not do itself. */
static int confined(void)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_statx, 2, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlinkat, 1, 0),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {.len = sizeof filter / sizeof *filter, .filter = filter};
	struct what w = path_of("known");
	int fd = file("known");

	put(fd, w, 1, 1);
	CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0);
	put(fd, w, 1, 2);
	shut(fd, w);
	fd = file("unknown");
	CHECK(write(fd, "", 1) == 1 && close(fd) == 0);
	return 0;
}

int main(int argc, char **argv)
{
	struct what input;

	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (argc == 4 && !strcmp(argv[1], "inherited")) {
		put(atoi(argv[2]), what("%s", argv[3]), 9, 9);
		return 0;
	}
	if (argc > 1)
		return !strcmp(argv[1], "race")	      ? race()
		       : !strcmp(argv[1], "confined") ? confined()
						      : many(atoi(argv[1]));
	input = path_of("input");
	get(0, input, 5, 5);
	files();
	copies();
	streams();
	others();
	pipes(argv[0]);
	pairs();
	tcp();
	local();
	vforked();
	get(0, input, 5, 10);
	return 0;
}
