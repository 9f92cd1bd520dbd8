/* SPDX-License-Identifier: MIT */
/*
 * The messages of the registration socket (Unix, SOCK_SEQPACKET), from one list.
 *
 * A provider connects, sends one request, gets one reply with descriptors, maps them, and closes
 * everything. Integers are in the machine's order: both ends are on one machine. A message of
 * another size, magic or version is refused; reserved bytes are zero when sent and ignored when
 * received.
 */
#ifndef FX_PROTOCOL_MESSAGES_H
#define FX_PROTOCOL_MESSAGES_H

#include <stdint.h>

#define FX_MESSAGE_MAGIC   0x54584630u /* "0FXT" */
#define FX_MESSAGE_VERSION 1u

#define FX_SOCKET_PATH_MAX   107u /* bytes that a Unix socket address holds, without the NUL */
#define FX_PROVIDER_NAME_MAX 100u /* bytes, without the NUL */

/*  X(symbol, number, struct, descriptors passed, what it says) */
#define FX_MESSAGES(X)                                                                             \
	X(REGISTER, 1, fx_msg_register, 0, "a provider asks to be registered")                     \
	X(REGISTERED, 2, fx_msg_registered, 3, "the manager's answer: control, common, buffer")    \
	X(MANAGER_READY, 3, fx_msg_manager_ready, 0, "a private manager says where it listens")

#define FX_MESSAGE_NUMBER(sym, nr, type, fds, help) FX_MSG_##sym = (nr),
enum fx_message_type { FX_MESSAGES(FX_MESSAGE_NUMBER) };
#undef FX_MESSAGE_NUMBER

struct fx_msg_header {
	uint32_t magic;
	uint16_t version;
	uint16_t type; /* enum fx_message_type */
};

/* Why a process registers. */
enum fx_register_cause {
	FX_CAUSE_START = 0, /* a new program image */
	FX_CAUSE_FORK = 1,  /* a forked child, running its parent's image */
};

struct fx_msg_register {
	struct fx_msg_header header;
	uint32_t pid; /* as the provider sees it; the manager believes the peer credentials */
	uint32_t tid;
	uint32_t cause; /* enum fx_register_cause */
	uint32_t parent_pid;
	char name[FX_PROVIDER_NAME_MAX + 4]; /* NUL-terminated */
};

struct fx_msg_registered {
	struct fx_msg_header header;
	int32_t status;	  /* 0, or a negative errno; then no descriptors come along */
	uint32_t started; /* 1: tracing runs; 0: registered, idle until a session starts */
	uint64_t control_size;
	uint64_t buffer_size; /* of the memfd */
};

/* First message of a manager that a provider started for itself, over the socket pair made for it. */
struct fx_msg_manager_ready {
	struct fx_msg_header header;
	char path[FX_SOCKET_PATH_MAX + 1]; /* NUL-terminated */
};

/* The order of the descriptors of REGISTERED. */
enum fx_registered_fd {
	FX_FD_CONTROL = 0,
	FX_FD_COMMON = 1,
	FX_FD_BUFFER = 2,
	FX_FD_COUNT = 3,
};

_Static_assert(sizeof(struct fx_msg_register) == 128, "register message");
_Static_assert(sizeof(struct fx_msg_registered) == 32, "registered message");

#endif
