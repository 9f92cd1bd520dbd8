/* SPDX-License-Identifier: MIT */
/* Addresses of sockets in words: "192.0.2.1:80", "[::1]:80", a path, "@abstract". */
#ifndef FX_PRELOAD_ADDRESS_H
#define FX_PRELOAD_ADDRESS_H

#include <stddef.h>
#include <sys/socket.h>

#include "preload/show/text.h"

/* The longest of these texts, in bytes. */
#define FX_SOCKADDR_TEXT 128

void fx_text_sockaddr(struct fx_text *t, const struct sockaddr *addr, size_t length);

/* The family of one alone. */
void fx_text_family(struct fx_text *t, int family);

#endif
