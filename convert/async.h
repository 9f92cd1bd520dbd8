/* SPDX-License-Identifier: MIT */
/*
 * Async operations: begun in one thread, ended in another.
 *
 * An operation is known by its id and its process; an end or instant of another process belongs
 * to whichever process has that id open. What begins while its id is open nests. Operations of
 * one name share tracks below their process: as many as were under way at one time.
 */
#ifndef FX_CONVERT_ASYNC_H
#define FX_CONVERT_ASYNC_H

#include "convert/export.h"

/* Exports all async events of the exporter's timeline. Returns 0 or -ENOMEM. */
int fx_async_export(struct fx_exporter *exporter);

#endif
