/* SPDX-License-Identifier: MIT */
#include "manager/session/states.h"

#include <stdint.h>

#define STATE(sym, initialize, start, stop, terminate, snapshot, flush, choose)                    \
	[FX_SESSION_##sym] = {                                                                     \
	    [FX_REQUEST_INITIALIZE] = (initialize),                                                \
	    [FX_REQUEST_START] = (start),                                                          \
	    [FX_REQUEST_STOP] = (stop),                                                            \
	    [FX_REQUEST_TERMINATE] = (terminate),                                                  \
	    [FX_REQUEST_SNAPSHOT] = (snapshot),                                                    \
	    [FX_REQUEST_FLUSH] = (flush),                                                          \
	    [FX_REQUEST_CHOOSE] = (choose),                                                        \
	},

/* clang-format off */
#define NONE      FX_CONTROL_NOT_INITIALIZED
#define PRESENT   FX_CONTROL_ALREADY_INITIALIZED
#define RUNS      FX_CONTROL_ALREADY_STARTED
#define STANDS    FX_CONTROL_NOT_STARTED
#define PAUSING   FX_CONTROL_STOPPING
#define ENDING    FX_CONTROL_TERMINATING

static const uint8_t refusals[][FX_REQUEST_COUNT] = {
	/*               INITIALIZE START    STOP     TERMINATE SNAPSHOT FLUSH    CHOOSE */
	STATE(READY,       0,       NONE,    NONE,    NONE,     NONE,     NONE,    NONE)
	STATE(INITIALIZED, PRESENT, 0,       STANDS,  0,        STANDS,   STANDS,  STANDS)
	STATE(STARTING,    PRESENT, RUNS,    0,       0,        0,        0,       0)
	STATE(STARTED,     PRESENT, RUNS,    0,       0,        0,        0,       0)
	STATE(STOPPING,    PRESENT, PAUSING, PAUSING, 0,        0,        PAUSING, PAUSING)
	STATE(STOPPED,     PRESENT, 0,       STANDS,  0,        0,        0,       STANDS)
	STATE(TERMINATING, ENDING,  ENDING,  ENDING,  ENDING,   ENDING,   ENDING,  ENDING)
};
/* clang-format on */

int fx_state_refuses(enum fx_session_state state, enum fx_session_request request)
{
	return refusals[state][request];
}
