/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manager/archive/names.h"
#include "manager/archive/wording.h"

/* The texts, each with a NUL behind it, take no more room than the records, which have a header word each. */
static char *builtin_name_read(struct fx_name *ret, const uint64_t *record, char *text)
{
	size_t length = FXT_GET(record[0], STRING_LENGTH);

	memcpy(text, record + 1, length);
	text[length] = 0;
	*ret = (struct fx_name){
	    .text = text,
	    .length = (uint16_t)length,
	    .kind = FX_NAME_TEXT,
	    .meaning = (uint8_t)fx_meaning_of_word(text),
	    .is_category = (record[0] & FX_STRING_CATEGORY) != 0,
	    .borrowed = 1,
	};
	return text + length + 1;
}

int fx_builtin_names_read(struct fx_builtin_names *builtin, const struct fx_builtin *strings)
{
	char *text;

	if (builtin->strings == strings)
		return 0;
	fx_builtin_names_destroy(builtin);
	builtin->table = calloc(strings->next, sizeof(*builtin->table));
	builtin->texts = malloc(strings->words * FXT_WORD_SIZE);
	if (!builtin->table || !builtin->texts) {
		fx_builtin_names_destroy(builtin);
		return -ENOMEM;
	}
	builtin->count = strings->next;
	text = builtin->texts;
	for (uint32_t at = 0; at < strings->words;) {
		const uint64_t *record = strings->records + at;

		text = builtin_name_read(&builtin->table[FXT_GET(record[0], STRING_INDEX)], record,
					 text);
		at += (uint32_t)FXT_GET(record[0], RECORD_SIZE);
	}
	builtin->strings = strings;
	return 0;
}

void fx_builtin_names_destroy(struct fx_builtin_names *builtin)
{
	free(builtin->table);
	free(builtin->texts);
	memset(builtin, 0, sizeof(*builtin));
}
