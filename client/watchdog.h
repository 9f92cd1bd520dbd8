/* SPDX-License-Identifier: MIT */
/*
 * The watchdog of `fxtrace record'. The command looks, not the manager, since it is the program's parent, and has the rights of the user
 * whose session it is; the manager gets what it has seen for the archive.
 */
#ifndef FX_CLIENT_WATCHDOG_H
#define FX_CLIENT_WATCHDOG_H

#include <stdint.h>
#include <sys/types.h>

#include "client/link.h"
#include "manager/door/poller.h"
#include "manager/session/look.h"
#include "manager/session/standstill.h"

struct fx_watchdog {
	struct fx_link *link;
	struct fx_poller
	    poller; /* its descriptor becomes readable when a look is over; -1: there is no watchdog */
	struct fx_standstill still;
	struct fx_look
	    look;   /* while it is on, stops of the program's threads are not for waitpid() */
	int status; /* of the requests that the newest look made */
};

/* There is none yet. */
void fx_watchdog_clear(struct fx_watchdog *ret);

/* One that tells of standstills of `limit_ns`; 0: there is none. It must not move, and borrows the link. 0 or -errno. */
int fx_watchdog_begin(struct fx_watchdog *ret, struct fx_link *link, uint64_t limit_ns);

/* Looks whether it is time to look, and tells what was seen. `program` may not be in the session, and is looked at all the same; 0: there
 * is none. As fx_link_call(). */
int fx_watchdog_turn(struct fx_watchdog *dog, pid_t program);

/* How many milliseconds may pass until the next turn, `most` at most. */
int fx_watchdog_patience(const struct fx_watchdog *dog, int most);

/* Waits for the look that is on, and tells what it has seen. Then there is no watchdog. */
void fx_watchdog_end(struct fx_watchdog *dog);

#endif
