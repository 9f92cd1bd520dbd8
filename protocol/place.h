/* SPDX-License-Identifier: MIT */
/*
 * Where a user's manager listens: the socket that clients look for when they are not told another.
 */
#ifndef FX_PROTOCOL_PLACE_H
#define FX_PROTOCOL_PLACE_H

#include "protocol/socket.h"

/*
 * The path of the socket: $FXTRACE_SOCKET; else fxtrace/manager.sock in $XDG_RUNTIME_DIR, or in
 * /run/user/UID where that exists; else /tmp/fxtrace-UID/manager.sock. 0 or -ENAMETOOLONG.
 */
int fx_place_find(char ret[FX_SOCKET_PATH_SIZE]);

/* $XDG_RUNTIME_DIR if it can be this user's: absolute, and not another one's, as where su has left it. Else
 * NULL. */
const char *fx_place_runtime(void);

/* Whether nobody but this user and root can have put something into the folder of a path, or it is not there. 0 or -EACCES. */
int fx_place_check(const char *path);

/*
 * Makes the directory that the path lies in, if there is none, and sees to it that its mode is this one. 0, -EACCES if it is another
 * user's or open to others, or another -errno.
 */
int fx_place_make(const char *path, mode_t mode);

#endif
