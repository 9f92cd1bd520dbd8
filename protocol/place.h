/* SPDX-License-Identifier: MIT */
/*
 * Where a user's manager listens: the socket that clients look for when they are not told another.
 */
#ifndef FX_PROTOCOL_PLACE_H
#define FX_PROTOCOL_PLACE_H

#include "protocol/socket.h"

/*
 * The path of the socket: $FXTRACE_SOCKET; else fxtrace/manager.sock in $XDG_RUNTIME_DIR, or in
 * /run/user/UID where that exists; else fxtrace-UID/manager.sock in /tmp, or in $TMPDIR where /tmp cannot be
 * written. 0 or -ENAMETOOLONG.
 */
int fx_place_find(char ret[FX_SOCKET_PATH_SIZE]);

/* $XDG_RUNTIME_DIR if it can be this user's: absolute, and not another one's, as where su has left it. Else
 * NULL. */
const char *fx_place_runtime(void);

/* Where a socket of one session may lie, in the order in which to try: $XDG_RUNTIME_DIR, $TMPDIR, /tmp and others. NULL where
 * there is none of this number, or the variable is not set; numbers end at FX_PLACES. */
enum { FX_PLACES = 5 };
const char *fx_place_number(unsigned number);

/* Whether nobody but this user and root can have put something into the folder of a path, or it is not there. 0 or -EACCES. */
int fx_place_check(const char *path);

/*
 * Makes the directory that the path lies in, if there is none, and sees to it that its mode is this one. 0, -EACCES if it is another
 * user's or open to others, or another -errno.
 */
int fx_place_make(const char *path, mode_t mode);

#endif
