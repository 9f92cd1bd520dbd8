/* SPDX-License-Identifier: MIT */
/*
 * Begins and ends: slices of the program's own, and function calls where records come in pairs. An end is put to the
 * begin that it names.
 */
#ifndef FX_MANAGER_BEGUN_H
#define FX_MANAGER_BEGUN_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/archive/rewriting.h"

/* `header` is the record's as the provider wrote it. */

/* The function whose begin or end the record is in pairs mode; 0: the program's own slice. */
uint64_t fx_begun_function(const struct fx_rewriting *w, uint64_t header);

/* In pairs mode: the end of a call that found no room when it ended. Which call's, the provider does not know any more. */
bool fx_begun_is_owed(const struct fx_rewriting *w, uint64_t header);

/* The end of a slice whose begin is not there. */
bool fx_begun_is_end_alone(const struct fx_rewriting *w);

/* Remembers what has begun, so that it can be ended by its name. */
void fx_begun_push(struct fx_stream_thread *t, struct fx_begun begun);

/* Gives the end at `ns` the name of what it ends, and ends what lies inside. False: it ends nothing. */
bool fx_begun_end(struct fx_rewriting *w, struct fx_stream_thread *t, uint64_t header, uint64_t ns);

#endif
