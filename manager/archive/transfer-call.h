/* SPDX-License-Identifier: MIT */
/* A call that moves something through a channel: what its record says of it, and how it is noted at the channel's end. */
#ifndef FX_MANAGER_TRANSFER_CALL_H
#define FX_MANAGER_TRANSFER_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "manager/archive/transfer-args.h"
#include "manager/archive/transfer-draw.h"
#include "manager/archive/transfer-ends.h"
#include "manager/archive/transfer-meets.h"

struct fx_name;
struct fx_rewriting;
struct fx_stream;

struct fx_transfers {
	bool is_wanted;
	struct fx_transfer_ends ends;
	struct fx_transfer_meets meets;
	struct fx_transfer_drawing drawing;
};

/* A call in work. */
struct fx_transfer_call {
	struct fx_stream *s;
	struct fx_rewriting *w;
	const struct fx_transfer_args *args;
	uint64_t begin, end;
	int64_t ret;
	uint32_t tid; /* of the archive */
	bool shown;
};

/* The text of a reference of the provider's; NULL: it has none. */
const struct fx_name *fx_transfer_text(const struct fx_rewriting *w, uint32_t ref);

/* The end that a text of the provider's names; NULL: it is no channel. */
struct fx_transfer_end *fx_transfer_call_end(const struct fx_transfer_call *call, uint32_t ref);

/* A call wrote to an end or read from it, as `way' says. */
void fx_transfer_note(struct fx_transfers *transfers, struct fx_transfer_end *end, int way,
		      const struct fx_transfer *call);

/* Nobody knows how much a call moved. */
void fx_transfer_note_unknown(struct fx_stream *s, struct fx_transfer_end *end, int way,
			      uint64_t from, uint64_t until);

/* Nobody knows either where it went. */
void fx_transfer_note_anywhere(struct fx_stream *s, uint64_t from, uint64_t until);

/* `marks': of FX_TRANSFER_LOST and its like; the rest as struct fx_transfer has it. */
struct fx_transfer fx_transfer_make(const struct fx_stream *s, uint32_t tid, uint64_t begin,
				    uint64_t end, uint64_t bytes, uint32_t marks);

/* The number that an argument is; false: it is none. */
bool fx_transfer_number(const struct fx_rewriting *w, uint16_t at, int64_t *ret);

/* The text of an argument, of the provider's or in the record itself. NULL: there is none. */
const char *fx_transfer_arg_text(const struct fx_transfer_call *call, uint16_t at, uint32_t ref,
				 size_t *ret);

/* From now on the call's descriptor leads to the end, or to none. */
void fx_transfer_call_fd_is(const struct fx_transfer_call *call, struct fx_transfer_end *end);

/* Among its flags, by name. */
bool fx_transfer_call_has_flag(const struct fx_transfer_call *call, const char *flag);

/* By the name of its error. */
bool fx_transfer_call_failed_with(const struct fx_transfer_call *call, const char *error);

/* The records of a process whose totals have grown by more than its calls have moved are not all there. */
void fx_transfer_call_look_for_gap(const struct fx_transfer_call *call, struct fx_transfer_end *end,
				   int way, uint16_t at, int64_t added);

/* Of an eventfd the number, -1 if it is not told. Several messages at once: their number is the result, their bytes another argument. */
int64_t fx_transfer_call_moved(const struct fx_transfer_call *call,
			       const struct fx_transfer_end *end, bool counts_messages);

#endif
