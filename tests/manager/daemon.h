/* SPDX-License-Identifier: MIT */
/*
 * A daemon in a process of its own, and what its clients say to it.
 */
#ifndef FX_TESTS_MANAGER_DAEMON_H
#define FX_TESTS_MANAGER_DAEMON_H

#include "protocol/messages.h"
#include "tests/manager/client.h"

/* Starts one, with buffers of 256 KiB; it ends with the test. */
struct manager_process daemon_start(void);

/* Tells it to end; its exit status. */
int daemon_stop(struct manager_process *m);

/* Sends a request over a connection, its header filled in, with a descriptor or -1. */
void control_send(int fd, enum fx_message_type type, void *request, size_t size, int passed);

/* Waits for an answer of this type and size. Ends the test if none comes within 20 s. */
void control_receive(int fd, enum fx_message_type type, void *ret, size_t size);

/* The usual requests: the status of the answer. */
int control_initialize(int fd, const struct fx_msg_initialize *request, const char *path);
int control_start(int fd, enum fx_disposition disposition);
int control_stop(int fd, bool results);
int control_terminate(int fd, struct fx_msg_result *ret);

/* A session of this mode that records functions. */
struct fx_msg_initialize control_request(enum fx_buffering_mode mode);

struct fx_msg_status control_status(int fd);

/* Waits until the session is in this state. */
void control_await(int fd, enum fx_session_state state);

#endif
