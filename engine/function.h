/* SPDX-License-Identifier: MIT */
/*
 * Names of functions: the process-wide table from code address to string index, and the two hooks'
 * slow halves. The record that names an index carries the address; the manager finds the name.
 */
#ifndef FX_ENGINE_FUNCTION_H
#define FX_ENGINE_FUNCTION_H

#include "engine/engine.h"
#include "engine/frame.h"
#include "engine/record.h"

/* The string index of category "function", a constant of the builtin strings. */
void fx_function_set_category(uint32_t category_string);
extern uint64_t fx_function_header __attribute__((visibility("hidden")));

/* Near functions get near slots (locality); far ones with equal low bits are told apart. */
fx_hot uint32_t fx_function_hash(uint64_t function)
{
	return (uint32_t)((function >> 4) ^ (function >> 20)) & (FX_FUNCTION_SLOTS - 1);
}

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
	uint64_t s = fx_load_relaxed(&fx_engine.wiped->functions[fx_function_hash(function)]);

	if (fx_likely(s >> 16 == function))
		fx_record_complete(t, fx_function_header | s << 48, start, end);
	else
		fx_function_record(t, function, fx_function_header, start, end);
}

/*
 * Begin and end records of a function (--records pairs). Viewers close the innermost open slice at an end
 * record, whatever its name: an end that found no room is owed, and written before the next one.
 * fx_pairs_begin() returns false if the call gets no begin record, and so must get no end.
 */
fx_cold bool fx_pairs_begin(struct fx_thread *t, uint64_t function, uint64_t ticks);
fx_cold void fx_pairs_end(struct fx_thread *t, uint64_t function, uint64_t ticks);

/* Called when a code address is seen for the first time, before its name record is written; lets
 * the owner of the modules list report a module that was loaded later. */
extern void (*fx_function_seen)(uint64_t function);

#endif
