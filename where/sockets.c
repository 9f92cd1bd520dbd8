/* SPDX-License-Identifier: MIT */
#include "where/sockets.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

/* States of sockets, as the kernel has them. */
enum { STATE_ESTABLISHED = 1, STATE_LISTEN = 10 };

/* What stands before an IPv4 address in one of IPv6 that means the same, as /proc/net/tcp6 has it. */
#define MAPPED "0000000000000000FFFF0000"

#define ANSWER_SIZE (64u << 10)

static uint64_t sockets_space(pid_t pid)
{
	char path[40] = "/proc/self/ns/net";
	struct stat st;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

void fx_sockets_init(struct fx_sockets *ret)
{
	*ret = (struct fx_sockets){.space = sockets_space(0)};
}

void fx_sockets_free(struct fx_sockets *sockets)
{
	fx_vector_free(&sockets->local);
	fx_vector_free(&sockets->tcp);
	fx_vector_free(&sockets->spaces);
}

/* --- Unix --------------------------------------------------------------------------------------- */

/* Without memory it is not known. */
static void unix_add(struct fx_sockets *sockets, const struct nlmsghdr *head)
{
	const struct unix_diag_msg *message = NLMSG_DATA(head);
	const struct rtattr *attribute = (const struct rtattr *)(message + 1);
	struct fx_unix_socket one = {.inode = message->udiag_ino};
	unsigned left;

	if (head->nlmsg_len < NLMSG_LENGTH(sizeof(*message)))
		return;
	one.listens = message->udiag_state == STATE_LISTEN;
	left = head->nlmsg_len - NLMSG_LENGTH(sizeof(*message));
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		size_t length = RTA_PAYLOAD(attribute);

		if (attribute->rta_type == UNIX_DIAG_PEER && length == sizeof(one.peer))
			memcpy(&one.peer, RTA_DATA(attribute), length);
		if (attribute->rta_type == UNIX_DIAG_NAME && length <= sizeof(one.name)) {
			one.name_length = (uint8_t)length;
			memcpy(one.name, RTA_DATA(attribute), length);
		}
	}
	if (fx_vector_reserve(&sockets->local, 1) == 0)
		sockets->local.items[sockets->local.count++] = one;
}

static bool unix_ask(int fd)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req request;
	} ask = {
	    .head = {.nlmsg_len = sizeof(ask),
		     .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		     .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
	    .request = {.sdiag_family = AF_UNIX,
			.udiag_states = UINT32_MAX,
			.udiag_show = UDIAG_SHOW_PEER | UDIAG_SHOW_NAME},
	};

	return send(fd, &ask, sizeof(ask), 0) == sizeof(ask);
}

static void unix_read(struct fx_sockets *sockets)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	char *answer = malloc(ANSWER_SIZE);
	bool more = fd >= 0 && answer && unix_ask(fd);

	sockets->is_unix_read = true;
	while (more) {
		ssize_t n = recv(fd, answer, ANSWER_SIZE, 0);
		const struct nlmsghdr *head = (const struct nlmsghdr *)answer;
		unsigned left = n > 0 ? (unsigned)n : 0;

		more = n > 0 || (n < 0 && errno == EINTR);
		for (; more && NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
			more = head->nlmsg_type == SOCK_DIAG_BY_FAMILY;
			if (more)
				unix_add(sockets, head);
		}
	}
	free(answer);
	if (fd >= 0)
		close(fd);
}

static const struct fx_unix_socket *unix_find(struct fx_sockets *sockets, pid_t pid, uint64_t inode)
{
	if (sockets_space(pid) != sockets->space)
		return NULL;
	if (!sockets->is_unix_read)
		unix_read(sockets);
	for (size_t i = 0; i < sockets->local.count; i++) {
		if (sockets->local.items[i].inode == inode)
			return &sockets->local.items[i];
	}
	return NULL;
}

/* The name that a process has in its memory: of a path, that may end in a NUL. */
static size_t unix_name(pid_t pid, uint64_t address, uint64_t length, char ret[108])
{
	struct sockaddr_un name = {0};
	struct iovec to = {&name, length < sizeof(name) ? length : sizeof(name)};
	struct iovec from = {(void *)(uintptr_t)address, to.iov_len};

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) != (ssize_t)to.iov_len ||
	    name.sun_family != AF_UNIX || to.iov_len <= sizeof(name.sun_family))
		return 0;
	memcpy(ret, name.sun_path, sizeof(name.sun_path));
	length = to.iov_len - sizeof(name.sun_family);
	return ret[0] ? strnlen(ret, length) : length;
}

static bool unix_is_named(const struct fx_unix_socket *one, const char *name, size_t length)
{
	size_t own = one->name_length;

	if (own && one->name[0])
		own = strnlen(one->name, own);
	return own == length && memcmp(one->name, name, length) == 0;
}

/* --- TCP ---------------------------------------------------------------------------------------- */

/* One that means the same as one of IPv4 becomes that. */
static void tcp_address(const char *text, char ret[FX_SOCKET_ADDRESS])
{
	size_t length = strcspn(text, ":");

	if (length == 32 && strncmp(text, MAPPED, sizeof(MAPPED) - 1) == 0)
		text += sizeof(MAPPED) - 1;
	snprintf(ret, FX_SOCKET_ADDRESS, "%s", text);
}

static void tcp_read(struct fx_sockets *sockets, pid_t pid, uint64_t space, const char *table)
{
	char path[40], line[512], local[FX_SOCKET_ADDRESS], remote[FX_SOCKET_ADDRESS];
	struct fx_tcp_socket one = {.space = space};
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, table);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, " %*d: %39s %39s %x %*s %*s %*s %*d %*d %" SCNu64, local, remote,
			   &one.state, &one.inode) != 4)
			continue;
		tcp_address(local, one.local);
		tcp_address(remote, one.remote);
		if (fx_vector_reserve(&sockets->tcp, 1) == 0)
			sockets->tcp.items[sockets->tcp.count++] = one;
	}
	if (file)
		fclose(file);
}

/* Those of the process's namespace are read once. */
static uint64_t tcp_read_space(struct fx_sockets *sockets, pid_t pid)
{
	uint64_t space = sockets_space(pid);

	for (size_t i = 0; i < sockets->spaces.count; i++) {
		if (sockets->spaces.items[i] == space)
			return space;
	}
	if (fx_vector_reserve(&sockets->spaces, 1) == 0) {
		sockets->spaces.items[sockets->spaces.count++] = space;
		tcp_read(sockets, pid, space, "tcp");
		tcp_read(sockets, pid, space, "tcp6");
	}
	return space;
}

static const struct fx_tcp_socket *tcp_find(struct fx_sockets *sockets, pid_t pid, uint64_t inode)
{
	uint64_t space = tcp_read_space(sockets, pid);

	for (size_t i = 0; i < sockets->tcp.count; i++) {
		const struct fx_tcp_socket *one = &sockets->tcp.items[i];

		if (one->space == space && one->inode == inode)
			return one;
	}
	return NULL;
}

static uint64_t tcp_peer(const struct fx_sockets *sockets, const struct fx_tcp_socket *mine)
{
	for (size_t i = 0; i < sockets->tcp.count; i++) {
		const struct fx_tcp_socket *one = &sockets->tcp.items[i];

		if (one->space == mine->space && one->state == STATE_ESTABLISHED &&
		    strcmp(one->local, mine->remote) == 0 && strcmp(one->remote, mine->local) == 0)
			return one->inode;
	}
	return 0;
}

/* Whether one listens at an address: at that, or at any of its port. */
static bool tcp_listens(const struct fx_tcp_socket *one, const char *address)
{
	const char *port = strchr(one->local, ':'), *other = strchr(address, ':');

	return one->state == STATE_LISTEN && port && other && strcmp(port, other) == 0 &&
	       (strcmp(one->local, address) == 0 ||
		strspn(one->local, "0") == (size_t)(port - one->local));
}

static uint64_t tcp_acceptor(const struct fx_sockets *sockets, const struct fx_tcp_socket *mine)
{
	bool is_own = strncmp(mine->remote, mine->local, strcspn(mine->local, ":")) == 0;

	/* Another machine may have the same port. */
	for (size_t i = 0; is_own && i < sockets->tcp.count; i++) {
		const struct fx_tcp_socket *one = &sockets->tcp.items[i];

		if (one->space == mine->space && tcp_listens(one, mine->remote))
			return one->inode;
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------ */

uint64_t fx_sockets_peer(struct fx_sockets *sockets, pid_t pid, uint64_t inode)
{
	const struct fx_unix_socket *local = unix_find(sockets, pid, inode);
	const struct fx_tcp_socket *tcp = local ? NULL : tcp_find(sockets, pid, inode);

	if (local)
		return local->peer;
	return tcp && tcp->state == STATE_ESTABLISHED ? tcp_peer(sockets, tcp) : 0;
}

uint64_t fx_sockets_acceptor(struct fx_sockets *sockets, pid_t pid, uint64_t inode,
			     uint64_t address, uint64_t length)
{
	const struct fx_unix_socket *local = unix_find(sockets, pid, inode);
	const struct fx_tcp_socket *tcp = local ? NULL : tcp_find(sockets, pid, inode);
	char name[108];
	size_t size = local ? unix_name(pid, address, length, name) : 0;

	for (size_t i = 0; size && i < sockets->local.count; i++) {
		const struct fx_unix_socket *one = &sockets->local.items[i];

		if (one->listens && unix_is_named(one, name, size))
			return one->inode;
	}
	return tcp ? tcp_acceptor(sockets, tcp) : 0;
}
