/* SPDX-License-Identifier: MIT */
/* A thread's place in the buffer. */
#ifndef FX_ENGINE_SLOT_H
#define FX_ENGINE_SLOT_H

#include "engine/provider/engine.h"

struct fx_thread_slot *fx_slot_at(uint32_t i);

/* The first of a slot's frames, which is no call: below it nothing is looked at. */
void fx_slot_put_sentinel(struct fx_frame *first);

/* Closes every call. */
void fx_slot_reset_frames(struct fx_thread_slot *s);

/* A slot for the thread; its index, or -EAGAIN: there is none. */
int fx_slot_claim(uint32_t tid);

/* Of a thread that ends, or has ended without a word. */
void fx_slot_release(struct fx_thread *t);

#endif
