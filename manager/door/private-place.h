/* SPDX-License-Identifier: MIT */
/* Where a manager without a path of its own listens: in a fresh directory that is the user's alone. */
#ifndef FX_MANAGER_PRIVATE_PLACE_H
#define FX_MANAGER_PRIVATE_PLACE_H

#include "manager/settings/policy.h"
#include "protocol/socket.h"

struct fx_private_place {
	char directory[FX_SOCKET_PATH_SIZE]; /* "": none was made */
	char path[FX_SOCKET_PATH_SIZE];	     /* of the socket, which is not there yet */
};

/* 0 or -errno; the directory is the caller's in either case. `policy`: NULL: no other users. */
int fx_private_place_make(struct fx_private_place *ret, const struct fx_policy *policy);

#endif
