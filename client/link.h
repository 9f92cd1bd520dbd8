/* SPDX-License-Identifier: MIT */
/*
 * A client's connection to the manager: one request, one answer, then the next.
 */
#ifndef FX_CLIENT_LINK_H
#define FX_CLIENT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "protocol/messages.h"

struct fx_link {
	const char *command; /* for messages: "fxtrace status" */
	int fd;
	uid_t owner; /* of the manager */
};

/* Connects to `socket`, whatever user's manager serves it; NULL: at the usual place, to root's or this user's own. 0, or
 * FX_EXIT_FAILURE after a line that says why. */
int fx_link_open(struct fx_link *ret, const char *command, const char *socket);

/* Whether somebody listens at the usual place, or the environment names one. */
bool fx_link_is_there(void);

void fx_link_close(struct fx_link *link);

/* Whether the manager is neither root's nor this user's. */
bool fx_link_is_foreign(const struct fx_link *link);

/* Sends a request, whose header is filled in here, with a descriptor or -1. As fx_link_open(). */
int fx_link_send(struct fx_link *link, enum fx_message_type type, void *request, size_t size,
		 int fd);

/* Waits for an answer of this type and size. As fx_link_open(). */
int fx_link_receive(struct fx_link *link, enum fx_message_type type, void *ret, size_t size);

/* Both. */
int fx_link_call(struct fx_link *link, enum fx_message_type type, void *request, size_t size,
		 int fd, enum fx_message_type answer, void *ret, size_t ret_size);

/* A request that is answered with a RESULT. As fx_link_open(); also if the result is an error. */
int fx_link_ask(struct fx_link *link, enum fx_message_type type, void *request, size_t size, int fd,
		struct fx_msg_result *ret);

/* What a status of RESULT means; valid until the next call. */
const char *fx_link_reason(int status);

/* The name of a state, "unknown" for one from the future. */
const char *fx_link_state_name(unsigned state);

#endif
