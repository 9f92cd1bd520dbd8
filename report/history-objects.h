/* SPDX-License-Identifier: MIT */
/* The objects that are kept of those which were asked for, and their uses. */
#ifndef FX_REPORT_HISTORY_OBJECTS_H
#define FX_REPORT_HISTORY_OBJECTS_H

#include "report/bytes.h"
#include "report/history-state.h"

/* The object of this key, which begins as `first' if it is new. NULL: there is no room. */
struct fx_history_object *fx_history_object_get(struct fx_history *history, struct fx_key key,
						const struct fx_history_object *first);

/* "" for none; the report's. */
const char *fx_history_text(const struct fx_history *history, uint32_t text);

/* The file or peer of this name. NULL: it is not wanted, or there is no room. */
struct fx_history_object *fx_history_named(struct fx_history *history, uint32_t text,
					   enum fx_history_way as);

/* The same, as what the name says. */
struct fx_history_object *fx_history_of_text(struct fx_history *history, uint32_t text);

/* The number of a text; 0: there is none. */
uint32_t fx_history_intern(struct fx_history *history, const struct fxt_string *text);

/* What comes now is of this thread. */
void fx_history_see_thread(struct fx_history *history, const struct fx_thread *thread);

/* Keeps a use, whose object, time and number are set. */
void fx_history_keep(struct fx_history *history, const struct fx_history_object *object,
		     struct fx_use *use);

/* 1 + the number of the thread that had the lock as the call began; 0: not known. */
uint32_t fx_history_holder(const struct fx_history *history, const struct fx_thread *waiter,
			   const struct fx_event *event);

/* What a call is as a use of anything. */
struct fx_use fx_history_use_of(struct fx_history *history, const struct fx_open_call *call,
				const struct fx_event *event);

/* That of what it opens. */
struct fx_use fx_history_opening(const struct fx_use *of);

/* What the call has moved, by what it returned. */
void fx_history_add_bytes(struct fx_use *use, enum fx_bytes_way way, const struct fx_event *event);

#endif
