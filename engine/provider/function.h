/* SPDX-License-Identifier: MIT */
/*
 * Names of functions: the process-wide table from code address to string index, and the two hooks'
 * slow halves. The record that names an index carries the address; the manager finds the name.
 */
#ifndef FX_ENGINE_FUNCTION_H
#define FX_ENGINE_FUNCTION_H

#include "engine/provider/engine.h"
#include "engine/provider/frame.h"
#include "engine/provider/record.h"
#include "engine/provider/stash.h"
#include "engine/provider/string.h"

/* The string index of category "function", a constant of the builtin strings. */
void fx_function_set_category(uint32_t category_string);
extern uint64_t fx_function_header __attribute__((visibility("hidden")));

/* A string record of a code address, which stands before a record that alone knows the index; and the first word behind
 * the header of that one, where its claim is. */
#define FX_ADDRESS_WORDS 2u
#define FX_CLAIM_DEFINED (FX_ADDRESS_WORDS + 1)

/*
 * Writes a record of `function`: `header` lacks the name, its size is 2 words (`second` is left out)
 * or 3. A function that has no index for good is defined anew, in one piece with the record, since
 * nothing else keeps the two in one chunk. False: the record is lost, and counted. It may be that of an open call:
 * then that is claimed by `first` (unwound.c), and taken off unless this is its begin.
 */
fx_cold bool fx_function_record(struct fx_thread *t, struct fx_open o, uint64_t function,
				uint64_t header, uint64_t first, uint64_t second);

/* The same of an instant, by `place', an address in the function, which stands in the table instead of the first one. */
fx_cold bool fx_function_instant(struct fx_thread *t, uint64_t place, uint64_t function,
				 uint64_t ticks);

/* The index of a function's name, made now if it is new; 0: it has none. */
uint64_t fx_function_index(struct fx_thread *t, uint64_t function);

struct fx_arguments {
	struct fx_argument_words lists[2]; /* what the call was called with, and what it returns */
};

/* Writes the Complete record of a call with what is stashed of it, and takes it off: as fx_frame_record(). */
fx_cold bool fx_function_complete(struct fx_thread *t, struct fx_open o, uint64_t function,
				  uint64_t end);

/* The same, with what it returns. */
fx_cold bool fx_function_complete_with(struct fx_thread *t, struct fx_open o, uint64_t function,
				       uint64_t end, struct fx_argument_words result);

/*
 * Begin and end records of a function (--records pairs). An end that found no room is owed, and
 * written without a name before the next record: it is the innermost call's.
 * fx_pairs_begin() returns false if the call gets no begin record, and so must get no end. The call is silent before
 * it, and is no more if there is a begin. fx_pairs_end() takes the call off unless its end is owed.
 */
fx_cold bool fx_pairs_begin(struct fx_thread *t, struct fx_open o, uint64_t function,
			    uint64_t ticks);
fx_cold void fx_pairs_end(struct fx_thread *t, struct fx_open o, uint64_t function, uint64_t ticks);

/* Called when a code address is seen for the first time, before its name record is written; lets
 * the owner of the modules list report a module that was loaded later. */
extern void (*fx_function_seen)(uint64_t function);

/* Under which address a function stands in the table of names: another one than its own if the hooks' usual ways are not
 * to find it. NULL: always its own. */
extern uint64_t (*fx_function_key)(uint64_t function) __attribute__((visibility("hidden")));

#endif
