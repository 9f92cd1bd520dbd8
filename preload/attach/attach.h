/* SPDX-License-Identifier: MIT */
/*
 * Attaching a process to a manager: one connection, one request, one reply with three descriptors,
 * three mappings; then every descriptor is closed again.
 *
 * Freestanding: raw system calls alone, no allocation, no lock, so that a forked child can do it at its
 * first event, wherever that is; though it brings its own memory (preload/attach/bring.h), if it can.
 */
#ifndef FX_PRELOAD_ATTACH_H
#define FX_PRELOAD_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/layout.h"
#include "protocol/messages.h"

/* Where the manager listens, for this process and its forked children. At most 107 bytes are kept. */
void fx_attach_set_socket(const char *path);

/* The provider's name, at most FX_PROVIDER_NAME_MAX bytes. */
void fx_attach_set_name(const char *name);

void fx_attach_name(char ret[FX_PROVIDER_NAME_MAX + 1]);

/* The process's number, for the next that takes it; 0: the kernel is asked. */
void fx_attach_set_pid(int pid);
int fx_attach_take_pid(void);

/* Of a process that is attached and not being traced any more, while its threads run: it is attached to another manager. 0; or -errno:
 * without one, all stays as it is. */
int fx_attach_anew(void);

/* What the buffer should be like: of zeroes, as without this call, it is no wish. */
void fx_attach_set_wish(const struct fx_msg_wish *wish);
const struct fx_msg_wish *fx_attach_wish(void);

/* Bytes of a message that ends with a wish and is so large: without a wish it ends before it. */
size_t fx_attach_message_bytes(size_t with_wish);

/* A connection to the manager, or -errno; unless `patient`, nothing is waited for, now or later. */
int fx_attach_connect(bool patient);

/* Closes what was opened here, by one call where that may be. */
void fx_attach_close(const int *fds, int count);

/* Whether the manager can be reached from where this process is now, as far as that can be told: by its path, or by the name
 * that all processes in the same network see. */
bool fx_attach_sees_manager(void);

/*
 * What is opened here is closed at once, but a program may have used up its descriptors. Where it may raise its limit by
 * itself, that is raised while this is done. False: it may not, and nothing was.
 */
struct rlimit;
bool fx_attach_raise(struct rlimit *ret_before);
void fx_attach_lower(const struct rlimit *before);

/* Gives the engine of process `pid` what is mapped. 0 or -errno. */
int fx_attach_engine(int pid, const struct fx_control *control, uint64_t control_size,
		     const struct fx_common *common, void *buffer, uint64_t buffer_size);

/* Registers over the socket path. 0 or -errno; after a failure the process is as it was. */
int fx_attach(enum fx_register_cause cause);

/* The same over a connected socket, which is closed in any case. */
int fx_attach_over(int fd, enum fx_register_cause cause);

/* After fx_engine_detach(): tracing goes on with what is mapped. 0; -ENOTCONN: nothing is; -EOWNERDEAD: its manager is gone. */
int fx_attach_again(void);

#endif
