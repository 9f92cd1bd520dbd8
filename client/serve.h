/* SPDX-License-Identifier: MIT */
/* One file, served to a browser of this machine until it has been fetched. */
#ifndef FX_CLIENT_SERVE_H
#define FX_CLIENT_SERVE_H

#include <stdint.h>

#include "client/http.h"

/* Listens on this port of the loopback address; 0: any free one. Returns the descriptor or -errno. */
int fx_serve_listen(uint16_t port, uint16_t *ret_port);

/*
 * Serves `file' (borrowed) as `page', and returns when somebody has fetched all of it: 0 or -errno. Any number of other
 * requests may come before, one after another or at a time; those that dawdle are sent away.
 */
int fx_serve(int listener, int file, const struct fx_http_page *page);

#endif
