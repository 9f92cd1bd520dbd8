/* SPDX-License-Identifier: MIT */
#include "manager/archive/known.h"

#include <stdlib.h>
#include <string.h>

#include "manager/settings/wanted.h"

void fx_known_destroy(struct fx_known_set *set)
{
	struct fx_known *k, *next;

	HASH_ITER (hh, set->entries, k, next) {
		HASH_DEL(set->entries, k);
		free(k->help);
		free(k);
	}
}

/* Copies at most `max` bytes, up to the first NUL. */
static void copy_printable(char *to, const char *from, size_t length, size_t max)
{
	size_t i;

	for (i = 0; i < length && i < max && from[i]; i++)
		to[i] = (unsigned char)from[i] < ' ' || from[i] == 0x7f ? '_' : from[i];
	to[i] = 0;
}

static bool known_has_room(const struct fx_known_set *set, const uint32_t *made)
{
	return !made || (*made < FX_KNOWN_PER_PROVIDER &&
			 HASH_COUNT(set->entries) < FX_KNOWN_CATEGORIES_MAX);
}

struct fx_known *fx_known_add(struct fx_known_set *set, uint32_t *made, const char *name,
			      size_t length)
{
	char clean[FX_CATEGORY_NAME_MAX + 1];
	struct fx_known *k;

	copy_printable(clean, name, length, FX_CATEGORY_NAME_MAX);
	if (!*clean)
		return NULL;
	HASH_FIND_STR(set->entries, clean, k);
	if (k || !known_has_room(set, made))
		return k;
	k = calloc(1, sizeof(*k));
	if (!k)
		return NULL;
	memcpy(k->name, clean, sizeof(clean));
	HASH_ADD_STR(set->entries, name, k);
	if (k->lost) {
		free(k);
		return NULL;
	}
	if (made)
		++*made;
	return k;
}

void fx_known_say(struct fx_known_set *set, uint32_t id, const char *text, size_t length)
{
	size_t name = strnlen(text, length);
	struct fx_known *k;

	if (set->speaker != id)
		set->made = 0;
	set->speaker = id;
	k = fx_known_add(set, &set->made, text, length);
	if (!k)
		return;
	if (k->newest != id)
		k->providers++;
	k->newest = id;
	if (k->help || name == length)
		return;
	k->help = malloc(FX_CATEGORY_HELP_MAX + 1);
	if (k->help)
		copy_printable(k->help, text + name + 1, length - name - 1, FX_CATEGORY_HELP_MAX);
}

static void builtin_add(struct fx_known_set *set, const char *name, uint32_t bit, bool by_default,
			const char *help)
{
	struct fx_known *k = fx_known_add(set, NULL, name, strlen(name));

	if (!k)
		return;
	k->bit = bit;
	k->by_default = by_default;
	free(k->help);
	k->help = strdup(help);
}

void fx_known_builtin(struct fx_known_set *set)
{
#define BUILTIN_ADD(sym, bit, name, dflt, help) builtin_add(set, name, 1u << (bit), dflt, help);
	FX_CATEGORIES(BUILTIN_ADD)
#undef BUILTIN_ADD
}

static int known_by_name(const struct fx_known *a, const struct fx_known *b)
{
	return strcmp(a->name, b->name);
}

void fx_known_sort(struct fx_known_set *set)
{
	HASH_SORT(set->entries, known_by_name);
}

/* --- What was asked for and is not there ----------------------------------------------------- */

static bool has(const struct fx_known_set *set, const char *name, size_t length)
{
	const struct fx_known *k;

	HASH_FIND(hh, set->entries, name, length, k);
	return k;
}

static bool has_prefix(const struct fx_known_set *set, const char *name, size_t length)
{
	for (const struct fx_known *k = set->entries; k; k = k->hh.next) {
		if (strncmp(k->name, name, length) == 0)
			return true;
	}
	return false;
}

static bool is_satisfied(const struct fx_known_set *set, const struct fx_word *word)
{
	/* The slash is part of the name. */
	if (word->provider && !has(set, word->provider, word->provider_length + 1))
		return false;
	if (word->name[word->length - 1] == '*')
		return has_prefix(set, word->name, word->length - 1);
	return has(set, word->name, word->length);
}

static size_t unseen_add(const struct fx_known_set *set, const char *list, char *ret, size_t used,
			 size_t size)
{
	struct fx_word word;

	while (list && *list && fx_word_next(&list, &word)) {
		const char *text = word.provider ? word.provider : word.name;
		size_t length = (size_t)(word.name + word.length - text);

		/* The kernel provider says itself what it has not got. */
		if (word.take_away || fx_word_is_kernel(&word) || is_satisfied(set, &word) ||
		    used + length + 3 > size)
			continue;
		if (used) {
			ret[used++] = ',';
			ret[used++] = ' ';
		}
		memcpy(ret + used, text, length);
		used += length;
	}
	return used;
}

void fx_known_unseen(const struct fx_known_set *set, const struct fx_session_config *config,
		     char *ret, size_t size)
{
	size_t used = unseen_add(set, config->words, ret, 0, size);

	used = unseen_add(set, config->more_words, ret, used, size);
	ret[used] = 0;
}
