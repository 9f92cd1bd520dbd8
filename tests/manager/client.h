/* SPDX-License-Identifier: MIT */
/*
 * A manager in a process of its own, and clients of its socket: good ones, that go on as a
 * fake_provider, and bad ones.
 */
#ifndef FX_TESTS_MANAGER_CLIENT_H
#define FX_TESTS_MANAGER_CLIENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "manager/settings/settings.h"
#include "protocol/messages.h"
#include "tests/engine/fake_provider.h"

struct manager_process {
	pid_t pid;
	int fd; /* connected to it like a client; -1 once used */
	char socket[128];
};

/* Starts one that writes to archive_path() and ends when its last provider has. The first provider must
 * come over `fd`, and be this process. */
struct manager_process manager_start(const struct fx_session_config *config);

/* Waits for its end; its exit status. */
int manager_wait(struct manager_process *m);

/* Descriptors that it has open. */
unsigned manager_descriptors(const struct manager_process *m);

/* A fresh connection. */
int client_connect(const struct manager_process *m);

/* A request that is right. */
struct fx_msg_register client_request(const char *name);

/* What comes back when one is registered; the descriptors stay with the caller. */
struct client_answer {
	struct fx_msg_registered message;
	int fds[FX_FD_COUNT];
	unsigned fd_count;
};

/* Waits for the answer. False if the connection was closed instead. */
bool client_receive(int fd, struct client_answer *ret);

/* Sends a request over `fd`, which is closed, and maps what comes. Ends the test if refused. */
void client_register(int fd, const char *name, struct fake_provider *ret);

/* The default configuration of these tests. */
struct fx_session_config client_config(void);

#endif
