/* SPDX-License-Identifier: MIT */
/*
 * A manager that is started by its first client: the service manager listens, and passes the socket on
 * (the protocol of sd_listen_fds(3) and sd_notify(3)).
 */
#ifndef FX_PROTOCOL_ACTIVATION_H
#define FX_PROTOCOL_ACTIVATION_H

/*
 * The listening socket that was passed to this process, which becomes the caller's; or -ENOENT: none was,
 * -EINVAL: what was passed is not one listening socket of ours. Programs started later see nothing of it.
 */
int fx_activation_take(void);

/* Tells the service manager, if there is one, that the manager listens. */
void fx_activation_ready(void);

#endif
