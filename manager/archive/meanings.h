/* SPDX-License-Identifier: MIT */
/*
 * What numbers in the tracer's own events mean (wording.h): an argument is added that says it in words, `mutex_name'
 * behind `mutex'. What has no name, as a lock on the heap, stays a number.
 */
#ifndef FX_MANAGER_MEANINGS_H
#define FX_MANAGER_MEANINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "manager/archive/wording.h"

struct fx_rewriting;
struct fx_stream;

/* Whether the record, as the provider wrote it, has to wait for names of addresses in it. */
bool fx_meanings_wait(struct fx_rewriting *w, const uint64_t *words);

/* An event of the provider's comes. */
void fx_meanings_begin(struct fx_rewriting *w);

/* An argument of the event in work begins at word `head`, and was called `ref` by the provider. Numbers that mean
 * something else in the archive are replaced. */
void fx_meanings_note(struct fx_rewriting *w, size_t head, uint32_t ref);

/* The same of one that may stand as it is: false, and nothing is noted, if it may not. */
bool fx_meanings_note_plain(struct fx_rewriting *w, size_t head, uint32_t ref);

/* Where in struct fx_transfer_args the reference of a text goes that is called `ref', in bytes; 0: nowhere. */
uint8_t fx_meanings_text_place(const struct fx_stream *s, uint32_t ref);

/* All else of the event has been rewritten: adds the words. */
void fx_meanings_add(struct fx_rewriting *w);

#endif
