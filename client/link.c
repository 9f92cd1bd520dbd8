/* SPDX-License-Identifier: MIT */
#include "client/link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "client/commands.h"
#include "manager/settings/report.h"
#include "protocol/place.h"
#include "protocol/socket.h"

static int link_failure(const struct fx_link *link, const char *what, const char *why)
{
	fx_report_as(link->command, "%s: %s", what, why);
	return FX_EXIT_FAILURE;
}

static bool link_is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

/* The usual place, unless somebody else can have put something there. */
static int find_place(const struct fx_link *link, char ret[FX_SOCKET_PATH_SIZE])
{
	int r = fx_place_find(ret);

	if (r < 0)
		return link_failure(link, "the manager's socket", strerror(-r));
	if (!link_is_set("FXTRACE_SOCKET") && fx_place_check(ret) < 0)
		return link_failure(link, ret,
				    "its folder is another user's, or others may write there "
				    "(--socket takes it all the same)");
	return 0;
}

bool fx_link_is_foreign(const struct fx_link *link)
{
	return link->owner != 0 && link->owner != geteuid();
}

/* As the preloaded library takes it (preload/attach/manager-user.h). */
static bool is_named(uid_t owner)
{
	const char *named = getenv("FXTRACE_MANAGER_USER");
	char number[16];

	snprintf(number, sizeof(number), "%u", (unsigned)owner);
	return named && strcmp(named, number) == 0;
}

/* The process that answers sees what is traced, and is given the archive: not just any that was there first. */
static int check_owner(struct fx_link *link, const char *socket, bool chosen)
{
	char why[128];
	pid_t pid;
	int r = fx_socket_peer(link->fd, &pid, &link->owner);

	if (r < 0)
		return link_failure(link, socket, strerror(-r));
	if (!fx_link_is_foreign(link) || chosen || is_named(link->owner))
		return 0;
	snprintf(why, sizeof(why),
		 "the manager there is user %u's, neither root's nor yours (--socket takes it all "
		 "the same)",
		 (unsigned)link->owner);
	return link_failure(link, socket, why);
}

int fx_link_open(struct fx_link *ret, const char *command, const char *socket)
{
	char usual[FX_SOCKET_PATH_SIZE];
	bool chosen = socket != NULL;
	int r;

	*ret = (struct fx_link){.command = command, .fd = -1};
	r = chosen ? 0 : find_place(ret, usual);
	if (r)
		return r;
	socket = chosen ? socket : usual;
	ret->fd = fx_socket_connect(socket);
	if (ret->fd == -ENOENT || ret->fd == -ECONNREFUSED)
		return link_failure(ret, socket,
				    "no manager is running there (see fxtrace manager)");
	if (ret->fd < 0)
		return link_failure(ret, socket, strerror(-ret->fd));
	r = check_owner(ret, socket, chosen);
	FX_FAULT(client_connected);
	return r;
}

bool fx_link_is_there(void)
{
	char usual[FX_SOCKET_PATH_SIZE];
	int fd = link_is_set("FXTRACE_SOCKET") ? -EACCES
		 : fx_place_find(usual) < 0    ? -ENOENT
					       : fx_socket_connect(usual);

	if (fd >= 0)
		close(fd);
	return fd != -ENOENT && fd != -ECONNREFUSED;
}

void fx_link_close(struct fx_link *link)
{
	if (link->fd >= 0)
		close(link->fd);
	link->fd = -1;
}

int fx_link_send(struct fx_link *link, enum fx_message_type type, void *request, size_t size,
		 int fd)
{
	int r;

	*(struct fx_msg_header *)request = fx_message_header(type);
	r = fx_socket_send(link->fd, request, size, &fd, fd >= 0);
	return r < 0 ? link_failure(link, "the manager", strerror(-r)) : 0;
}

static ssize_t link_receive(struct fx_link *link, union fx_message_any *ret)
{
	struct pollfd p = {.fd = link->fd, .events = POLLIN};
	int passed;
	ssize_t n;

	do {
		while (poll(&p, 1, -1) < 0 && errno == EINTR)
			;
		n = fx_socket_receive_any(link->fd, ret, sizeof(*ret), &passed);
	} while (n == -EAGAIN || n == -EINTR);
	if (passed >= 0)
		close(passed);
	return n;
}

int fx_link_receive(struct fx_link *link, enum fx_message_type type, void *ret, size_t size)
{
	union fx_message_any message;
	ssize_t n = link_receive(link, &message);

	if (n < 0)
		return link_failure(link, "the manager",
				    n == -EPIPE ? "it is gone" : strerror((int)-n));
	if ((size_t)n == size && fx_message_check(&message.GET_STATUS.header, type) == 0) {
		memcpy(ret, &message, size);
		return 0;
	}
	if ((size_t)n == sizeof(message.RESULT) &&
	    fx_message_check(&message.RESULT.header, FX_MSG_RESULT) == 0)
		return link_failure(link, "the manager", fx_link_reason(message.RESULT.status));
	return link_failure(link, "the manager", "it answers what was not asked");
}

int fx_link_call(struct fx_link *link, enum fx_message_type type, void *request, size_t size,
		 int fd, enum fx_message_type answer, void *ret, size_t ret_size)
{
	int r = fx_link_send(link, type, request, size, fd);

	FX_FAULT(client_asked);
	return r ? r : fx_link_receive(link, answer, ret, ret_size);
}

int fx_link_ask(struct fx_link *link, enum fx_message_type type, void *request, size_t size, int fd,
		struct fx_msg_result *ret)
{
	int r = fx_link_call(link, type, request, size, fd, FX_MSG_RESULT, ret, sizeof(*ret));

	if (r == 0 && ret->status)
		return link_failure(link, "the manager", fx_link_reason(ret->status));
	return r;
}

const char *fx_link_reason(int status)
{
	switch (status) {
#define CASE(sym, nr, help)                                                                        \
	case nr:                                                                                   \
		return help;
		FX_CONTROL_ERRORS(CASE)
#undef CASE
	default:
		break;
	}
	/* Neither is an errno; the second has no opposite. */
	if (status >= 0 || status == INT32_MIN)
		return "a reason that this version does not know";
	return strerror(-status);
}

const char *fx_link_state_name(unsigned state)
{
	switch (state) {
#define CASE(sym, nr, name, help)                                                                  \
	case nr:                                                                                   \
		return name;
		FX_SESSION_STATES(CASE)
#undef CASE
	default:
		return "unknown";
	}
}
