/* SPDX-License-Identifier: MIT */
/* A collector of traces that speaks OpenTelemetry's protocol over HTTP, with JSON: requests, a line each, are posted to it. */
#ifndef FX_LOAD_COLLECTOR_H
#define FX_LOAD_COLLECTOR_H

#include <stdint.h>

#include "load/http.h"

struct fx_collector;

/* The URL may end behind the port: then traces go to /v1/traces. Returns 0; -EINVAL: it is no such; or -errno. *ret is set but
 * for -ENOMEM, and says why. */
int fx_collector_open(const char *url, struct fx_collector **ret);
/* NULL is allowed. */
void fx_collector_close(struct fx_collector *collector);

const char *fx_collector_fault(const struct fx_collector *collector);

/*
 * Posts the lines of a file (taken over), each until it is taken, or refused for good. Returns 0 or -errno, -EIO with a fault. What was
 * sent before stays. *ret_lines: how many were.
 */
int fx_collector_send(struct fx_collector *collector, int fd, uint64_t *ret_lines);

/* Spans that it has said it did not take, so far. */
uint64_t fx_collector_rejected(const struct fx_collector *collector);

#endif
