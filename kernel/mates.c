/* SPDX-License-Identifier: MIT */
#include "kernel/mates.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "protocol/messages.h"
#include "protocol/socket.h"

/* How long an answer is waited for. */
#define ANSWER_MS 1000

/* The page behind provider `after'. 0 or -errno. */
static int mates_ask(int fd, bool of_session, uint32_t after, struct fx_msg_providers *ret)
{
	const struct fx_msg_get_providers request = {
	    .header = fx_message_header(FX_MSG_GET_PROVIDERS),
	    .after = after,
	    .of_session = of_session,
	};
	struct pollfd one = {.fd = fd, .events = POLLIN};
	int r = fx_socket_send(fd, &request, sizeof(request), NULL, 0);

	if (r < 0)
		return r;
	do
		r = poll(&one, 1, ANSWER_MS);
	while (r < 0 && errno == EINTR);
	if (r <= 0)
		return r == 0 ? -ETIMEDOUT : -errno;
	if (recv(fd, ret, sizeof(*ret), 0) != (ssize_t)sizeof(*ret) ||
	    fx_message_check(&ret->header, FX_MSG_PROVIDERS) < 0 ||
	    ret->count > FX_PROVIDERS_PER_MESSAGE)
		return -EPROTO;
	return 0;
}

static int mates_all(int fd, bool of_session, void (*see)(void *opaque, uint32_t pid), void *opaque)
{
	struct fx_msg_providers page = {.count = 1};
	uint32_t after = 0;
	int r = 0;

	while (r == 0 && page.count) {
		r = mates_ask(fd, of_session, after, &page);
		for (uint32_t i = 0; r == 0 && i < page.count; i++) {
			see(opaque, page.entries[i].pid);
			/* They rise, or this would never end. */
			if (page.entries[i].id <= after)
				r = -EPROTO;
			after = page.entries[i].id;
		}
	}
	return r;
}

/* Those of a session may have ended already. */
int fx_mates_each(const char *path, void (*see)(void *opaque, uint32_t pid), void *opaque)
{
	int fd = fx_socket_connect(path), r;

	if (fd < 0)
		return fd;
	r = mates_all(fd, false, see, opaque);
	if (r == 0)
		r = mates_all(fd, true, see, opaque);
	close(fd);
	return r;
}
