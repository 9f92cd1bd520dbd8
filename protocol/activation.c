/* SPDX-License-Identifier: MIT */
#include "protocol/activation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3

/* Whether the variable is this very number. */
static bool activation_is_number(const char *variable, long number)
{
	const char *text = getenv(variable);
	char *end;

	return text && *text && strtol(text, &end, 10) == number && *end == 0;
}

static bool has_option(int fd, int option, int want)
{
	int value = 0;
	socklen_t size = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 && value == want;
}

static bool is_ours(int fd)
{
	return has_option(fd, SO_DOMAIN, AF_UNIX) && has_option(fd, SO_TYPE, SOCK_SEQPACKET) &&
	       has_option(fd, SO_ACCEPTCONN, 1);
}

static int activation_take(void)
{
	int flags;

	/* Descriptors meant for a parent are not for us. */
	if (!getenv("LISTEN_FDS") || !activation_is_number("LISTEN_PID", getpid()))
		return -ENOENT;
	if (!activation_is_number("LISTEN_FDS", 1) || !is_ours(FIRST_FD))
		return -EINVAL;
	flags = fcntl(FIRST_FD, F_GETFL);
	if (flags < 0 || fcntl(FIRST_FD, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	return FIRST_FD;
}

int fx_activation_take(void)
{
	int fd = activation_take();

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return fd;
}

void fx_activation_ready(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t length = path ? strlen(path) : 0;
	int fd;

	if (length < 2 || length >= sizeof(to.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(to.sun_path, path, length);
	if (path[0] == '@')
		to.sun_path[0] = 0; /* a name without a file */
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	/* Without an answer, the service manager gives up by itself. */
	sendto(fd, "READY=1", strlen("READY=1"), MSG_NOSIGNAL, (const struct sockaddr *)&to,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
}
