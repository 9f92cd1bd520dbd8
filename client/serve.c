/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/serve.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum {
	SERVE_CLIENTS = 32,
	SERVE_HEAD = 8192,
	SERVE_PIECE = 1 << 20,
};

/* How long a client may take for its request, for the next piece, and to go, in ns. */
#define SERVE_ASKING UINT64_C(10000000000)
#define SERVE_TAKING UINT64_C(60000000000)
#define SERVE_GOING  UINT64_C(5000000000)

enum serve_state { SERVE_FREE, SERVE_ASKS, SERVE_TAKES, SERVE_GOES };

struct serve_client {
	enum serve_state state;
	int fd;
	uint64_t deadline; /* CLOCK_MONOTONIC */
	bool is_fetch;	   /* the file follows the answer's head */
	size_t size, done; /* of what `text' holds: the request, then the answer */
	off_t sent;	   /* of the file */
	int left;	   /* bytes on their way when it was looked last */
	char text[SERVE_HEAD + 1];
};

struct server {
	int listener, file;
	const struct fx_http_page *page;
	bool is_fetched;
	struct serve_client clients[SERVE_CLIENTS];
};

int fx_serve_listen(uint16_t port, uint16_t *ret_port)
{
	struct sockaddr_in address = {
	    .sin_family = AF_INET,
	    .sin_port = htons(port),
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	int on = 1, r, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	/* Connections of a run before that linger are not in the way. */
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(fd, SERVE_CLIENTS) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &length) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	*ret_port = ntohs(address.sin_port);
	return fd;
}

/* --- A client --------------------------------------------------------------------------------- */

static void serve_drop(struct serve_client *client)
{
	close(client->fd);
	client->state = SERVE_FREE;
}

static void serve_turn(struct serve_client *client, enum serve_state state, uint64_t time)
{
	client->state = state;
	client->deadline = fx_monotonic_ns() + time;
}

/* The request is there, or will never be. */
static void serve_answer(const struct server *server, struct serve_client *client)
{
	char answer[FX_HTTP_ANSWER_MAX];

	client->text[client->size] = '\0';
	if (strlen(client->text) == client->size && fx_http_is_whole(client->text, client->size))
		client->is_fetch = fx_http_answer(server->page, client->text, answer);
	else
		fx_http_refuse(answer);
	client->size = strlen(answer);
	memcpy(client->text, answer, client->size);
	client->done = 0;
	serve_turn(client, SERVE_TAKES, SERVE_TAKING);
}

static void serve_hear(const struct server *server, struct serve_client *client)
{
	ssize_t n = recv(client->fd, client->text + client->size, SERVE_HEAD - client->size, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		serve_drop(client);
		return;
	}
	client->size += (size_t)n;
	if (client->size == SERVE_HEAD || fx_http_is_whole(client->text, client->size))
		serve_answer(server, client);
}

/* The next piece of the answer. Bytes, or -1 as errno says. */
static ssize_t serve_send(const struct server *server, struct serve_client *client)
{
	ssize_t n;

	if (client->done < client->size) {
		n = send(client->fd, client->text + client->done, client->size - client->done,
			 MSG_NOSIGNAL);
		if (n > 0)
			client->done += (size_t)n;
		return n;
	}
	return sendfile(client->fd, server->file, &client->sent, SERVE_PIECE);
}

static bool serve_is_done(const struct server *server, const struct serve_client *client)
{
	return client->done == client->size &&
	       (!client->is_fetch || (uint64_t)client->sent >= server->page->size);
}

static void serve_give(const struct server *server, struct serve_client *client)
{
	ssize_t n = serve_send(server, client);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		serve_drop(client);
		return;
	}
	serve_turn(client, SERVE_TAKES, SERVE_TAKING);
	if (serve_is_done(server, client)) {
		/* Closed with something of the client's unread, the connection would take back what was given. */
		shutdown(client->fd, SHUT_WR);
		client->left = INT_MAX;
		serve_turn(client, SERVE_GOES, SERVE_GOING);
	}
}

/* What this side's kernel still keeps for the other. */
static int serve_left(const struct serve_client *client)
{
	int left = 0;

	return ioctl(client->fd, SIOCOUTQ, &left) == 0 ? left : INT_MAX;
}

static void serve_end(struct server *server, struct serve_client *client)
{
	if (client->is_fetch && serve_left(client) == 0)
		server->is_fetched = true;
	serve_drop(client);
}

/* The time to go is over: for one that stays with all that it wanted, and for one that takes no more of it. */
static void serve_end_late(struct server *server, struct serve_client *client)
{
	int left = serve_left(client);

	if (left == 0 || left >= client->left) {
		serve_end(server, client);
		return;
	}
	client->left = left;
	serve_turn(client, SERVE_GOES, SERVE_TAKING);
}

static void serve_part(struct server *server, struct serve_client *client)
{
	char rest[4096];
	ssize_t n = recv(client->fd, rest, sizeof(rest), 0);

	if (n == 0)
		serve_end(server, client);
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		serve_drop(client);
}

/* --- All of them ------------------------------------------------------------------------------ */

/* A place for one more: a free one, else that of the client that asks for the longest time. NULL: none. */
static struct serve_client *serve_place(struct server *server)
{
	struct serve_client *place = NULL;

	for (size_t i = 0; i < SERVE_CLIENTS; i++) {
		struct serve_client *client = &server->clients[i];

		if (client->state == SERVE_FREE)
			return client;
		if (client->state == SERVE_ASKS && (!place || client->deadline < place->deadline))
			place = client;
	}
	return place;
}

static void serve_accept(struct server *server, struct serve_client *place)
{
	int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (place->state != SERVE_FREE)
		serve_drop(place);
	*place = (struct serve_client){.fd = fd};
	serve_turn(place, SERVE_ASKS, SERVE_ASKING);
}

static void serve_step(struct server *server, struct serve_client *client)
{
	switch (client->state) {
	case SERVE_ASKS:
		serve_hear(server, client);
		break;
	case SERVE_TAKES:
		serve_give(server, client);
		break;
	case SERVE_GOES:
		serve_part(server, client);
		break;
	case SERVE_FREE:
		break;
	}
}

/* Those whose time is over. */
static void serve_expire(struct server *server, uint64_t now)
{
	for (size_t i = 0; i < SERVE_CLIENTS; i++) {
		struct serve_client *client = &server->clients[i];

		if (client->state == SERVE_FREE || client->deadline > now)
			continue;
		if (client->state == SERVE_GOES)
			serve_end_late(server, client);
		else
			serve_drop(client);
	}
}

static int serve_timeout(const struct server *server, uint64_t now)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < SERVE_CLIENTS; i++) {
		const struct serve_client *client = &server->clients[i];

		if (client->state != SERVE_FREE && client->deadline < first)
			first = client->deadline;
	}
	if (first == UINT64_MAX)
		return -1;
	return first <= now ? 0 : (int)((first - now) / 1000000) + 1;
}

static int serve_turn_once(struct server *server)
{
	struct pollfd polled[SERVE_CLIENTS + 1];
	uint64_t now = fx_monotonic_ns();
	struct serve_client *place;

	serve_expire(server, now);
	for (size_t i = 0; i < SERVE_CLIENTS; i++) {
		const struct serve_client *client = &server->clients[i];

		polled[i].fd = client->state == SERVE_FREE ? -1 : client->fd;
		polled[i].events = client->state == SERVE_TAKES ? POLLOUT : POLLIN;
	}
	place = serve_place(server);
	polled[SERVE_CLIENTS] =
	    (struct pollfd){.fd = place ? server->listener : -1, .events = POLLIN};
	if (server->is_fetched)
		return 0;
	if (poll(polled, SERVE_CLIENTS + 1, serve_timeout(server, now)) < 0)
		return errno == EINTR ? 0 : -errno;
	for (size_t i = 0; i < SERVE_CLIENTS; i++) {
		if (polled[i].revents)
			serve_step(server, &server->clients[i]);
	}
	if (polled[SERVE_CLIENTS].revents) {
		place = serve_place(server);
		if (place)
			serve_accept(server, place);
	}
	return 0;
}

int fx_serve(int listener, int file, const struct fx_http_page *page)
{
	struct server *server = calloc(1, sizeof(*server));
	int r = 0;

	if (!server)
		return -ENOMEM;
	server->listener = listener;
	server->file = file;
	server->page = page;
	while (r == 0 && !server->is_fetched)
		r = serve_turn_once(server);
	for (size_t i = 0; i < SERVE_CLIENTS; i++) {
		if (server->clients[i].state != SERVE_FREE)
			serve_drop(&server->clients[i]);
	}
	free(server);
	return r;
}
