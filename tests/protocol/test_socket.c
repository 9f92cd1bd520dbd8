/* SPDX-License-Identifier: MIT */
/* The manager's side of the socket: names that are taken, messages of the wrong size. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "protocol/socket.h"

static char path[64];

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
	int fd = fx_socket_listen(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(stat(path, &st), 0);
	cr_assert_eq(st.st_mode & 0777, 0600);
	cr_assert_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	cr_assert_eq(fx_socket_accept(fd), -EAGAIN);
	close(fd);
}

Test(socket, a_name_in_use_is_refused)
{
	int fd = fx_socket_listen(path);

	cr_assert_geq(fd, 0);
	cr_assert_eq(fx_socket_listen(path), -EADDRINUSE);
	close(fd);
}

Test(socket, a_stale_name_is_taken_over)
{
	int fd = fx_socket_listen(path);

	close(fd);
	cr_assert_eq(access(path, F_OK), 0);
	fd = fx_socket_listen(path);
	cr_assert_geq(fd, 0);
	close(fd);
}

Test(socket, a_name_of_something_else_is_left_alone)
{
	FILE *f = fopen(path, "w");

	fclose(f);
	cr_assert_eq(fx_socket_listen(path), -EEXIST);
	cr_assert_eq(access(path, F_OK), 0);
}

Test(socket, a_name_that_is_too_long)
{
	char name[256];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	cr_assert_eq(fx_socket_listen(name), -ENAMETOOLONG);
	cr_assert_eq(fx_socket_listen(""), -ENAMETOOLONG);
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
