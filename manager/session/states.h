/* SPDX-License-Identifier: MIT */
/*
 * The states of the daemon's session, and what each says to a client's request.
 *
 *	READY -> INITIALIZED -> STARTING -> STARTED -> STOPPING -> STOPPED -> STARTING ...
 *	any of them but READY -> TERMINATING -> READY
 */
#ifndef FX_MANAGER_STATES_H
#define FX_MANAGER_STATES_H

#include "protocol/messages.h"

enum fx_session_request {
	FX_REQUEST_INITIALIZE,
	FX_REQUEST_START,
	FX_REQUEST_STOP,
	FX_REQUEST_TERMINATE,
	FX_REQUEST_SNAPSHOT,
	FX_REQUEST_FLUSH,
	FX_REQUEST_CHOOSE,
	FX_REQUEST_COUNT,
};

/* 0: the request may go on; else enum fx_control_error. */
int fx_state_refuses(enum fx_session_state state, enum fx_session_request request);

#endif
