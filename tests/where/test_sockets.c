/* SPDX-License-Identifier: MIT */
/* Which socket is at the other end of one of this process. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "where/sockets.h"

static uint64_t inode_of(int fd)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	return st.st_ino;
}

static uint64_t peer_of(int fd)
{
	struct fx_sockets sockets;
	uint64_t peer;

	fx_sockets_init(&sockets);
	peer = fx_sockets_peer(&sockets, getpid(), inode_of(fd));
	fx_sockets_free(&sockets);
	return peer;
}

static void expect_joined(int a, int b)
{
	cr_assert_eq(peer_of(a), inode_of(b));
	cr_assert_eq(peer_of(b), inode_of(a));
}

static void join(int family, struct sockaddr *address, socklen_t length, socklen_t room,
		 int ends[3])
{
	ends[2] = socket(family, SOCK_STREAM, 0);
	cr_assert_eq(bind(ends[2], address, length), 0);
	cr_assert_eq(listen(ends[2], 4), 0);
	cr_assert_eq(getsockname(ends[2], address, &room), 0);
	ends[0] = socket(family, SOCK_STREAM, 0);
	cr_assert_eq(connect(ends[0], address, room), 0);
	ends[1] = accept(ends[2], NULL, NULL);
	cr_assert_geq(ends[1], 0);
}

Test(sockets, a_pair)
{
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};

	for (size_t i = 0; i < 3; i++) {
		int fds[2];

		cr_assert_eq(socketpair(AF_UNIX, types[i], 0, fds), 0);
		expect_joined(fds[0], fds[1]);
		close(fds[1]);
		cr_assert_eq(peer_of(fds[0]), 0, "the other end is closed");
		close(fds[0]);
	}
}

Test(sockets, a_unix_connection)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int ends[3], other[3];
	struct sockaddr_un second = {.sun_family = AF_UNIX};

	join(AF_UNIX, (struct sockaddr *)&address, sizeof(sa_family_t), sizeof(address), ends);
	join(AF_UNIX, (struct sockaddr *)&second, sizeof(sa_family_t), sizeof(second), other);
	expect_joined(ends[0], ends[1]);
	expect_joined(other[0], other[1]);
	cr_assert_eq(peer_of(ends[2]), 0, "one that listens");
}

Test(sockets, connections_by_tcp)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int ends[3], probe = socket(AF_INET6, SOCK_STREAM, 0);

	join(AF_INET, (struct sockaddr *)&v4, sizeof(v4), sizeof(v4), ends);
	expect_joined(ends[0], ends[1]);
	cr_assert_eq(peer_of(ends[2]), 0, "one that listens");
	/* Not every machine has it. */
	if (probe < 0 || bind(probe, (struct sockaddr *)&v6, sizeof(v6)) < 0)
		return;
	v6.sin6_port = 0;
	join(AF_INET6, (struct sockaddr *)&v6, sizeof(v6), sizeof(v6), ends);
	expect_joined(ends[0], ends[1]);
}

Test(sockets, nobody_is_there)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert_eq(peer_of(fd), 0);
	cr_assert_eq(peer_of(tcp), 0);
	cr_assert_eq(peer_of(STDIN_FILENO), 0, "no socket at all");
}

/* Where a connection waits that nobody has accepted. */
Test(sockets, who_is_to_accept)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t length = sizeof(address);
	int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
	struct fx_sockets sockets;

	cr_assert_eq(bind(listener, (struct sockaddr *)&address, sizeof(sa_family_t)), 0);
	cr_assert_eq(listen(listener, 0), 0);
	cr_assert_eq(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	fx_sockets_init(&sockets);
	cr_assert_eq(fx_sockets_acceptor(&sockets, getpid(), inode_of(client),
					 (uint64_t)(uintptr_t)&address, length),
		     inode_of(listener));
	address.sun_path[1] ^= 1;
	cr_assert_eq(fx_sockets_acceptor(&sockets, getpid(), inode_of(client),
					 (uint64_t)(uintptr_t)&address, length),
		     0, "nobody listens there");
	cr_assert_eq(fx_sockets_acceptor(&sockets, getpid(), inode_of(client), 8, length), 0,
		     "no address can be read there");
	fx_sockets_free(&sockets);
}
