/* SPDX-License-Identifier: MIT */
/*
 * passing SCENE: bytes on ways that are not write() and read(), from one process to another. Prints of each read whose bytes it got,
 * as messages.c does: R TID NUMBER TID NUMBER, the calls of a thread on channels counted from 0; and M, the
 * same of a write that waited for room, which read made it, of a read that waited for the end, who made it, and of a poll, who came.
 */
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE 100

static struct id {
	pid_t tid;
	long number;
} * said; /* by all processes: the calls that wrote, by what they are called here */

static long number;
static char buffer[4 * SIZE];

static void check(long good, const char *what)
{
	if (!good) {
		perror(what);
		_exit(2);
	}
}

/* The next call is that one. */
static void says(int what)
{
	said[what] = (struct id){(pid_t)syscall(SYS_gettid), number};
}

/* The last call got what that one wrote. */
static void hears(int what)
{
	dprintf(1, "R %d %ld %d %ld\n", (int)syscall(SYS_gettid), number, said[what].tid,
		said[what].number);
}

static void writes(int fd, int what)
{
	says(what);
	check(write(fd, buffer, SIZE) == SIZE, "write");
	number++;
}

static void reads(int fd, int what)
{
	check(read(fd, buffer, SIZE) == SIZE, "read");
	hears(what);
	number++;
}

static void in_child(void (*does)(const int *), const int *fds)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		number = 0;
		does(fds);
		_exit(0);
	}
	check(waitpid(pid, &status, 0) == pid && status == 0, "child");
}

/* --- Pipes into pipes ------------------------------------------------------------------------- */

static void child_splices(const int *fds)
{
	says(1);
	check(splice(fds[0], NULL, fds[3], NULL, SIZE, 0) == SIZE, "splice");
	hears(0);
	number++;
}

static void child_tees(const int *fds)
{
	says(1);
	check(tee(fds[0], fds[3], SIZE, 0) == SIZE, "tee");
	number++;
	reads(fds[0], 0);
}

static void through_pipes(void (*does)(const int *))
{
	int fds[4];

	check(pipe(fds) == 0 && pipe(fds + 2) == 0, "pipe");
	for (int i = 0; i < 3; i++) {
		writes(fds[1], 0);
		in_child(does, fds);
		reads(fds[2], 1);
	}
}

static void scene_splice(void)
{
	through_pipes(child_splices);
}

static void scene_tee(void)
{
	through_pipes(child_tees);
}

/* --- A pipe that is full ---------------------------------------------------------------------- */

static char large[32 << 16];
static int page;
static int is_larger; /* there is room for all */

/* Of 32 pages 16 have room, so the second read of 8 makes room for the last. */
static void child_drains(const int *fds)
{
	int full = 0;

	while (full < 16 * page)
		check(ioctl(fds[0], FIONREAD, &full) == 0, "ioctl");
	for (int i = 0; i < 4; i++) {
		if (i == 1 && !is_larger)
			dprintf(1, "M %d %ld %d %ld\n", said[0].tid, said[0].number,
				(int)syscall(SYS_gettid), number);
		check(read(fds[0], large, 8 * page) == 8 * page, "read");
		hears(0);
		number++;
	}
}

static void scene_full(void)
{
	int fds[2], status;

	check(pipe(fds) == 0, "pipe");
	page = (int)sysconf(_SC_PAGESIZE);
	if (is_larger)
		check(fcntl(fds[0], F_SETPIPE_SZ, 32 * page) >= 32 * page, "fcntl");
	for (int i = 0; i < 3; i++) {
		says(0);
		if (fork() == 0) {
			number = 0;
			child_drains(fds);
			_exit(0);
		}
		check(write(fds[1], large, 32 * (size_t)page) == 32 * page, "write");
		number++;
		wait(&status);
		check(status == 0, "child");
	}
}

/* Nobody waits, or for another. */
static void scene_larger(void)
{
	is_larger = 1;
	scene_full();
}

/* --- The end of a stream ---------------------------------------------------------------------- */

static void child_waits_for_end(const int *fds)
{
	reads(fds[1], 0);
	said[1].number = getpid();
	check(read(fds[1], buffer, SIZE) == 0, "read");
	dprintf(1, "M %d %ld %d %ld\n", (int)syscall(SYS_gettid), number, said[2].tid,
		said[2].number);
}

/* Until the process sleeps. */
static void wait_for_sleep(pid_t pid)
{
	char path[40], text[200] = "", state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	do {
		usleep(10000);
		file = fopen(path, "r");
		check(file && fgets(text, sizeof(text), file), "stat");
		fclose(file);
		state = strrchr(text, ')')[2];
	} while (state != 'S');
}

static void scene_shut(void)
{
	int fds[2], status;

	for (int i = 0; i < 2; i++) {
		check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0, "socketpair");
		said[1].number = 0;
		if (fork() == 0) {
			number = 0;
			close(fds[0]);
			child_waits_for_end(fds);
			_exit(0);
		}
		writes(fds[0], 0);
		while (!*(volatile long *)&said[1].number)
			usleep(1000);
		wait_for_sleep((pid_t)said[1].number);
		says(2);
		check(shutdown(fds[0], i ? SHUT_RDWR : SHUT_WR) == 0, "shutdown");
		number++;
		wait(&status);
		check(status == 0, "child");
	}
}

/* --- From a file ------------------------------------------------------------------------------ */

static void child_sends_file(const int *fds)
{
	off_t at = 0;

	says(0);
	check(sendfile(fds[1], fds[2], &at, SIZE) == SIZE, "sendfile");
	number++;
}

static void scene_sendfile(void)
{
	int fds[3];

	check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0, "socketpair");
	fds[2] = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	check(ftruncate(fds[2], SIZE) == 0, "ftruncate");
	in_child(child_sends_file, fds);
	reads(fds[0], 0);
}

/* --- Descriptors that are passed -------------------------------------------------------------- */

static union {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
} control;

static void child_gets_descriptor(const int *fds)
{
	struct iovec iov = {buffer, SIZE};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	int got;

	close(fds[2]);
	close(fds[3]);
	check(recvmsg(fds[1], &msg, 0) == SIZE, "recvmsg");
	hears(0);
	number++;
	memcpy(&got, CMSG_DATA(&control.head), sizeof(got));
	writes(got, 1);
}

static void scene_passed(void)
{
	struct iovec iov = {buffer, SIZE};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control)};
	int fds[4];

	check(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0 && pipe(fds + 2) == 0, "socketpair");
	control.head = (struct cmsghdr){
	    .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&control.head), &fds[3], sizeof(int));
	says(0);
	check(sendmsg(fds[0], &msg, 0) == SIZE, "sendmsg");
	number++;
	in_child(child_gets_descriptor, fds);
	reads(fds[2], 1);
}

/* A number that was one pipe's is another's; and one pipe has many. */
static void child_writes(const int *fds)
{
	int copy = dup(fds[1]);

	writes(copy, 0);
	check(dup2(fds[3], copy) == copy, "dup2");
	writes(copy, 1);
}

static void scene_numbers(void)
{
	int fds[4];

	for (int i = 0; i < 3; i++) {
		check(pipe(fds) == 0 && pipe(fds + 2) == 0, "pipe");
		in_child(child_writes, fds);
		reads(fds[2], 1);
		reads(fds[0], 0);
		for (int k = 0; k < 4; k++)
			close(fds[k]);
	}
}

/* --- eventfds --------------------------------------------------------------------------------- */

static void adds(int fd, uint64_t number_, int what)
{
	says(what);
	check(write(fd, &number_, 8) == 8, "write");
	number++;
}

static void takes(int fd, uint64_t expected, int what)
{
	uint64_t got;

	check(read(fd, &got, 8) == 8 && got == expected, "read");
	hears(what);
	number++;
}

/* Several additions are taken at once: the last one's; by copies of the descriptor, which one has been made by fcntl(). */
static void child_adds(const int *fds)
{
	adds(fds[0], 3, 0);
	adds(fds[1], 5, 1);
	adds(fds[2], 1, 2);
}

static void scene_event(void)
{
	int fds[3] = {eventfd(0, 0)};

	check((fds[1] = dup(fds[0])) >= 0 && (fds[2] = fcntl(fds[0], F_DUPFD, 20)) >= 20, "dup");
	in_child(child_adds, fds);
	takes(fds[0], 9, 2);
	/* The number is another's now. */
	close(fds[1]);
	check(eventfd(0, EFD_SEMAPHORE) == fds[1], "eventfd");
	in_child(child_adds, fds);
	takes(fds[0], 4, 2);
	for (int i = 0; i < 5; i++)
		takes(fds[1], 1, 1);
}

/* --- Several messages at once ----------------------------------------------------------------- */

static void many_init(struct mmsghdr *many, struct iovec *iov)
{
	for (int i = 0; i < 3; i++) {
		iov[i] = (struct iovec){buffer, SIZE};
		many[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &iov[i], .msg_iovlen = 1}};
	}
}

static void child_sends_many(const int *fds)
{
	struct mmsghdr many[3];
	struct iovec iov[3];

	many_init(many, iov);
	says(0);
	check(sendmmsg(fds[1], many, 3, 0) == 3, "sendmmsg");
	number++;
	writes(fds[1], 1);
}

static void scene_many(void)
{
	struct mmsghdr many[3];
	struct iovec iov[3];
	int fds[2];

	check(socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) == 0, "socketpair");
	in_child(child_sends_many, fds);
	many_init(many, iov);
	check(recvmmsg(fds[0], many, 2, 0, NULL) == 2, "recvmmsg");
	hears(0);
	number++;
	check(recvmmsg(fds[0], many, 2, 0, NULL) == 2, "recvmmsg");
	hears(1);
	number++;
}

/* --- Addresses that are used again ------------------------------------------------------------ */

static struct sockaddr_in server, client;

static int tcp_socket(struct sockaddr_in *bound)
{
	socklen_t length = sizeof(*bound);
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	bound->sin_family = AF_INET;
	bound->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(bind(fd, (struct sockaddr *)bound, sizeof(*bound)) == 0, "bind");
	getsockname(fd, (struct sockaddr *)bound, &length);
	return fd;
}

/* Its port is free again at once. */
static void child_connects(const int *fds)
{
	struct linger off = {1, 0};
	int fd = tcp_socket(&client);

	(void)fds;
	says(2);
	check(connect(fd, (struct sockaddr *)&server, sizeof(server)) == 0, "connect");
	number++;
	writes(fd, 0);
	reads(fd, 1);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &off, sizeof(off));
	close(fd);
}

static void scene_ports(void)
{
	int listening = tcp_socket(&server), fd, status;

	close(tcp_socket(&client));
	check(listen(listening, 1) == 0, "listen");
	for (int i = 0; i < 4; i++) {
		if (fork() == 0) {
			number = 0;
			child_connects(NULL);
			_exit(0);
		}
		fd = accept(listening, NULL, NULL);
		hears(2);
		number++;
		reads(fd, 0);
		writes(fd, 1);
		wait(&status);
		check(status == 0, "child");
		close(fd);
	}
}

/* --- Who may not ask any more ----------------------------------------------------------------- */

/* What its descriptors are it cannot say from then on, as a part of sshd cannot. */
static void child_is_confined(const int *fds)
{
	struct sock_filter code[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_statx, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = 4, .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		perror("seccomp"); /* it goes on without */
	writes(fds[1], 0);
	writes(fds[3], 1);
}

static void scene_confined(void)
{
	int fds[4];

	check(pipe(fds) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, fds + 2) == 0, "pipe");
	in_child(child_is_confined, fds);
	reads(fds[0], 0);
	reads(fds[2], 1);
}

/* --- Who is accepted -------------------------------------------------------------------------- */

static union {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_un un;
} where;
static socklen_t where_length;

/* Comes when its parent polls; a second one that comes then is not who woke it. */
static void client_comes(int what, int goes_on)
{
	int fd = socket(where.any.sa_family, SOCK_STREAM, 0), status;

	number = 0;
	while (!*(volatile long *)&said[5].number)
		usleep(1000);
	wait_for_sleep(getppid());
	says(what);
	check(connect(fd, &where.any, where_length) == 0, "connect");
	number++;
	if (goes_on && fork() == 0) {
		fd = socket(where.any.sa_family, SOCK_STREAM, 0);
		number = 0;
		says(what + 1);
		check(connect(fd, &where.any, where_length) == 0, "connect");
		number++;
		writes(fd, 4);
		_exit(0);
	}
	writes(fd, 3);
	if (goes_on)
		wait(&status);
	_exit(0);
}

static void server_accepts(int listening, int what, int bytes)
{
	int fd = accept(listening, NULL, NULL);

	check(fd >= 0, "accept");
	hears(what);
	number++;
	reads(fd, bytes);
	close(fd);
}

static void accepts_from(int listening)
{
	struct pollfd pollfd = {.fd = listening, .events = POLLIN};
	int status;
	long polled;

	for (int i = 0; i < 3; i++) {
		said[5].number = 0;
		if (fork() == 0)
			client_comes(0, i % 2);
		said[5].number = 1;
		polled = number;
		check(poll(&pollfd, 1, -1) == 1, "poll");
		number++;
		server_accepts(listening, 0, 3);
		dprintf(1, "M %d %ld %d %ld\n", (int)syscall(SYS_gettid), polled, said[0].tid,
			said[0].number);
		if (i % 2)
			server_accepts(listening, 1, 4);
		wait(&status);
		check(status == 0, "child");
	}
}

static void scene_accepts(void)
{
	int listening = tcp_socket(&where.in);

	where_length = sizeof(where.in);
	check(listen(listening, 5) == 0, "listen");
	accepts_from(listening);
	close(listening);
	where.un = (struct sockaddr_un){.sun_family = AF_UNIX, .sun_path = "accepts"};
	where_length = sizeof(where.un);
	unlink(where.un.sun_path);
	listening = socket(AF_UNIX, SOCK_STREAM, 0);
	check(bind(listening, &where.any, where_length) == 0 && listen(listening, 5) == 0,
	      "listen");
	accepts_from(listening);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*play)(void);
	} scenes[] = {
	    {"splice", scene_splice},	  {"tee", scene_tee},	      {"sendfile", scene_sendfile},
	    {"passed", scene_passed},	  {"numbers", scene_numbers}, {"many", scene_many},
	    {"ports", scene_ports},	  {"full", scene_full},	      {"larger", scene_larger},
	    {"shut", scene_shut},	  {"event", scene_event},     {"accepts", scene_accepts},
	    {"confined", scene_confined},
	};

	said = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; argc > 1 && i < sizeof(scenes) / sizeof(*scenes); i++) {
		if (strcmp(argv[1], scenes[i].name) == 0) {
			scenes[i].play();
			return 0;
		}
	}
	return 2;
}
