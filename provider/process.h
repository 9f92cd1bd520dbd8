/* SPDX-License-Identifier: MIT */
/* The process as a provider: whether it may be one, and how it becomes one. */
#ifndef FX_PROVIDER_PROCESS_H
#define FX_PROVIDER_PROCESS_H

#include "protocol/messages.h"

/* Whether the environment and its privileges permit it: 0, -ECANCELED or -EPERM. */
int fx_process_may_register(void);

/* Registers it by this name, unless it is registered; or records again in what it has. 0 or -errno. */
int fx_process_register(const char *name, const struct fx_msg_wish *wish);

/* It records no more, if it is this library's. */
void fx_process_leave(void);

#endif
