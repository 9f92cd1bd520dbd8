/* SPDX-License-Identifier: MIT */
/* Records that stand ready in memory, written as they are. */
#ifndef FX_PRELOAD_WORDS_H
#define FX_PRELOAD_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/provider/record.h"

/* Tries to write `count` words, a whole record but for its header, which is words[0]. False: lost,
 * and counted. Further whole records may stand behind the first. */
fx_hot bool fx_words_write(struct fx_thread *t, const uint64_t *words, unsigned count,
			   uint64_t header)
{
	struct fx_reservation r;
	uint64_t *p = fx_record_reserve(t, count, &r);

	if (fx_unlikely(!p))
		return false;
	for (unsigned i = 1; i < count; i++)
		p[i] = words[i];
	fx_record_commit(t, p, header, &r);
	return true;
}

#endif
