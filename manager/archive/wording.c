/* SPDX-License-Identifier: MIT */
#include "manager/archive/wording.h"

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"

enum fx_meaning fx_meaning_of_word(const char *word)
{
	static const struct {
		const char *word;
		enum fx_meaning meaning;
	} table[] = {
#define FX_MEANING(word, meaning) {word, FX_MEANING_##meaning},
#include "manager/archive/wording.def"
#undef FX_MEANING
	};

	for (size_t i = 0; i < FX_ARRAY_LEN(table); i++) {
		if (strcmp(table[i].word, word) == 0)
			return table[i].meaning;
	}
	return FX_MEANING_NONE;
}
