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
#include "engine/provider/string.h"

/* The string index of category "function", a constant of the builtin strings. */
void fx_function_set_category(uint32_t category_string);
extern uint64_t fx_function_header __attribute__((visibility("hidden")));

/*
 * Writes a record of `function`: `header` lacks the name, its size is 2 words (`second` is left out)
 * or 3. A function that has no index for good is defined anew, in one piece with the record, since
 * nothing else keeps the two in one chunk. False: the record is lost, and counted.
 */
fx_cold bool fx_function_record(struct fx_thread *t, uint64_t function, uint64_t header,
				uint64_t first, uint64_t second);

/* Writes the Complete record of a call. 13 instructions, one test more than for a known
 * header. */
fx_hot void fx_function_complete(struct fx_thread *t, uint64_t function, uint64_t start,
				 uint64_t end)
{
	/* relaxed: a slot is one word; the record that it names was published before it */
	uint64_t s = fx_load_relaxed(&fx_engine.wiped->functions[fx_string_hash(function)]);

	if (fx_likely(s >> FX_ADDRESS_SHIFT == function))
		fx_record_complete(t, fx_function_header | s << 48, start, end);
	else
		fx_function_record(t, function, fx_function_header, start, end);
}

/*
 * Begin and end records of a function (--records pairs). An end that found no room is owed, and
 * written without a name before the next record: it is the innermost call's.
 * fx_pairs_begin() returns false if the call gets no begin record, and so must get no end.
 */
fx_cold bool fx_pairs_begin(struct fx_thread *t, uint64_t function, uint64_t ticks);
fx_cold void fx_pairs_end(struct fx_thread *t, uint64_t function, uint64_t ticks);

/* Called when a code address is seen for the first time, before its name record is written; lets
 * the owner of the modules list report a module that was loaded later. */
extern void (*fx_function_seen)(uint64_t function);

#endif
