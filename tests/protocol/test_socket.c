/* SPDX-License-Identifier: MIT */
/* The manager's side of the socket: names that are taken, messages of the wrong size. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "protocol/socket.h"

static char path[64];
static struct fx_socket_file file; /* made for what listens there */

static void set_up(void)
{
	snprintf(path, sizeof(path), "/tmp/fxtrace-unit.%d.socket", (int)getpid());
}

static void clean_up(void)
{
	unlink(path);
}

TestSuite(socket, .init = set_up, .fini = clean_up, .timeout = 60);

Test(socket, only_the_user_may_connect)
{
	struct stat st;
	int fd = fx_socket_listen(path, &file);

	cr_assert_geq(fd, 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 0777, 0600);
	cr_assert_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	cr_assert_eq(fx_socket_accept(fd), -EAGAIN);
	close(fd);
}

Test(socket, a_name_in_use_is_refused)
{
	int fd = fx_socket_listen(path, &file);

	cr_assert_geq(fd, 0);
	cr_assert_eq(fx_socket_listen(path, &file), -EADDRINUSE);
	close(fd);
}

Test(socket, a_stale_name_is_taken_over)
{
	int fd = fx_socket_listen(path, &file);

	close(fd);
	cr_assert_eq(access(path, F_OK), 0);
	fd = fx_socket_listen(path, &file);
	cr_assert_geq(fd, 0);
	close(fd);
}

/* Those that begin together. */
#define TOGETHER 4
#define ROUNDS	 300

static pthread_barrier_t barrier;

static void *listens(void *opaque)
{
	struct fx_socket_file made;
	int *fd = opaque;

	pthread_barrier_wait(&barrier);
	*fd = fx_socket_listen(path, &made);
	return NULL;
}

/* How many of them listen now. */
static unsigned listen_together(void)
{
	pthread_t threads[TOGETHER];
	int fds[TOGETHER];
	unsigned count = 0;

	pthread_barrier_init(&barrier, NULL, TOGETHER);
	for (unsigned i = 0; i < TOGETHER; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, listens, &fds[i]), 0);
	for (unsigned i = 0; i < TOGETHER; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	for (unsigned i = 0; i < TOGETHER; i++) {
		count += fds[i] >= 0;
		if (fds[i] >= 0)
			close(fds[i]);
		else
			cr_assert_eq(fds[i], -EADDRINUSE, "%s", strerror(-fds[i]));
	}
	return count;
}

Test(socket, of_several_that_begin_together_one_listens)
{
	/* Behind the first round, the name is a stale one. */
	for (unsigned i = 0; i < ROUNDS; i++)
		cr_assert_eq(listen_together(), 1, "round %u", i);
}

Test(socket, a_name_that_is_anothers_by_now_is_left)
{
	struct fx_socket_file first;
	int fd = fx_socket_listen(path, &first), other;

	unlink(path);
	other = fx_socket_listen(path, &file);
	cr_assert_geq(other, 0);
	fx_socket_leave(fd, path, &first);
	cr_assert_eq(access(path, F_OK), 0);
	fx_socket_leave(other, path, &file);
	cr_assert_eq(access(path, F_OK), -1);
}

/* --- A folder that somebody else keeps locked --------------------------------------------------- */

/* Asked for while something waits, instead of how long that took. */
static unsigned long naps_ms;
static void (*while_napping)(void);

int nanosleep(const struct timespec *wanted, struct timespec *ret_left)
{
	naps_ms += (unsigned long)wanted->tv_sec * 1000 + (unsigned long)wanted->tv_nsec / 1000000;
	if (while_napping)
		while_napping();
	return (int)syscall(SYS_nanosleep, wanted, ret_left);
}

static char folder[48];

static void lock_folder(void)
{
	snprintf(folder, sizeof(folder), "/tmp/fxtrace-unit.%d", (int)getpid());
	cr_assert_eq(mkdir(folder, 0700), 0);
	snprintf(path, sizeof(path), "%s/socket", folder);
	cr_assert_eq(flock(open(folder, O_RDONLY | O_CLOEXEC), LOCK_EX | LOCK_NB), 0);
}

static void remove_folder(void)
{
	clean_up();
	rmdir(folder);
}

TestSuite(locked, .init = lock_folder, .fini = remove_folder, .timeout = 60);

static int socket_bind(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

Test(locked, who_begins_waits_a_little_and_who_ends_does_not)
{
	int fd = fx_socket_listen(path, &file), other;

	cr_assert_geq(fd, 0);
	cr_expect_gt(naps_ms, 0);
	cr_expect_leq(naps_ms, 500);
	other = fx_socket_connect(path);
	cr_expect_geq(other, 0);
	close(other);
	cr_expect_eq(fx_socket_listen(path, &(struct fx_socket_file){0}), -EADDRINUSE);
	naps_ms = 0;
	fx_socket_leave(fd, path, &file);
	cr_expect_eq(naps_ms, 0);
	cr_expect_eq(access(path, F_OK), -1);
}

Test(locked, a_stale_name_is_taken_over)
{
	int fd;

	close(socket_bind());
	fd = fx_socket_listen(path, &file);
	cr_assert_geq(fd, 0);
	fx_socket_leave(fd, path, &file);
	cr_expect_eq(access(path, F_OK), -1);
}

Test(locked, a_name_that_is_anothers_by_now_is_left)
{
	struct fx_socket_file first;
	int fd = fx_socket_listen(path, &first), other;

	unlink(path);
	other = fx_socket_listen(path, &file);
	cr_assert_geq(other, 0);
	fx_socket_leave(fd, path, &first);
	cr_expect_eq(access(path, F_OK), 0);
	close(other);
}

/* --- A folder that cannot be locked at all ------------------------------------------------------ */

static bool has_no_locks;

int flock(int fd, int operation)
{
	if (!has_no_locks)
		return (int)syscall(SYS_flock, fd, operation);
	errno = ENOLCK;
	return -1;
}

static int other;
static ino_t others_inode;

static void other_binds(void)
{
	struct stat st;

	other = socket_bind();
	cr_assert_eq(stat(path, &st), 0);
	others_inode = st.st_ino;
}

static void expect_left(void)
{
	struct stat st;

	has_no_locks = true;
	cr_expect_eq(fx_socket_listen(path, &file), -EADDRINUSE);
	cr_assert_eq(stat(path, &st), 0);
	cr_expect_eq(st.st_ino, others_inode);
	close(other);
}

static void other_listens(void)
{
	cr_assert_eq(listen(other, 1), 0);
}

Test(socket, a_name_that_another_has_bound_and_listens_at_later_is_left)
{
	other_binds();
	while_napping = other_listens;
	expect_left();
}

static void other_comes_instead(void)
{
	unlink(path);
	other_binds();
}

Test(socket, a_stale_name_that_another_takes_over_meanwhile_is_left)
{
	close(socket_bind());
	while_napping = other_comes_instead;
	expect_left();
}

Test(socket, a_name_of_something_else_is_left_alone)
{
	FILE *f = fopen(path, "w");

	fclose(f);
	cr_assert_eq(fx_socket_listen(path, &file), -EEXIST);
	cr_assert_eq(access(path, F_OK), 0);
}

Test(socket, a_name_that_is_too_long)
{
	char name[256];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	cr_assert_eq(fx_socket_listen(name, &file), -ENAMETOOLONG);
	cr_assert_eq(fx_socket_listen("", &file), -ENAMETOOLONG);
}

static int ends[2];

static void pair(void)
{
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
}

Test(socket, a_message_comes_whole_or_not_at_all)
{
	char message[16];

	pair();
	cr_assert_eq(fx_socket_receive(ends[0], message, 16), -EAGAIN);
	send(ends[1], "0123456789abcdef", 16, 0);
	cr_assert_eq(fx_socket_receive(ends[0], message, 16), 0);
	cr_assert_eq(memcmp(message, "0123456789abcdef", 16), 0);
	send(ends[1], "short", 5, 0);
	cr_assert_eq(fx_socket_receive(ends[0], message, 16), -EMSGSIZE);
	send(ends[1], "0123456789abcdefg", 17, 0);
	cr_assert_eq(fx_socket_receive(ends[0], message, 16), -EMSGSIZE);
	close(ends[1]);
	cr_assert_eq(fx_socket_receive(ends[0], message, 16), -EPIPE);
	close(ends[0]);
}

Test(socket, the_kernel_says_who_is_there)
{
	uid_t uid;
	pid_t pid;

	pair();
	cr_assert_eq(fx_socket_peer(ends[0], &pid, &uid), 0);
	cr_assert_eq(pid, getpid());
	cr_assert_eq(uid, geteuid());
	cr_assert_geq(fx_socket_peer_pidfd(ends[0], pid), 0);
}

Test(socket, no_more_descriptors_than_a_message_has)
{
	const int fds[FX_FD_COUNT + 1] = {0};

	pair();
	cr_assert_eq(fx_socket_send(ends[0], "x", 1, fds, FX_FD_COUNT + 1), -EINVAL);
	cr_assert_eq(fx_socket_send(ends[0], "x", 1, fds, FX_FD_COUNT), 0);
}

Test(socket, a_descriptor_for_which_there_is_no_room)
{
	const int sent = 0;
	struct rlimit limit;
	char message[16];
	int fd;

	pair();
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = (rlim_t)ends[1] + 1;
	cr_assert_eq(fx_socket_send(ends[0], "x", 1, &sent, 1), 0);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (dup(0) >= 0)
		;
	cr_assert_eq(fx_socket_receive_any(ends[1], message, sizeof(message), &fd), 1);
	cr_expect_eq(fd, -EMFILE);
	cr_assert_eq(fx_socket_send(ends[0], "x", 1, NULL, 0), 0);
	cr_assert_eq(fx_socket_receive_any(ends[1], message, sizeof(message), &fd), 1);
	cr_expect_eq(fd, -1);
}

Test(socket, a_peer_that_is_gone)
{
	pair();
	close(ends[1]);
	cr_assert_eq(fx_socket_send(ends[0], "x", 1, NULL, 0), -EPIPE);
}

Test(socket, headers)
{
	struct fx_msg_header header = fx_message_header(FX_MSG_REGISTER);

	cr_assert_eq(fx_message_check(&header, FX_MSG_REGISTER), 0);
	cr_assert_eq(fx_message_check(&header, FX_MSG_REGISTERED), -EBADMSG);
	header.version = 2;
	cr_assert_eq(fx_message_check(&header, FX_MSG_REGISTER), -EPROTONOSUPPORT);
	header.magic = 0;
	cr_assert_eq(fx_message_check(&header, FX_MSG_REGISTER), -EBADMSG);
}
