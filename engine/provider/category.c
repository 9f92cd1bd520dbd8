/* SPDX-License-Identifier: MIT */
#include "engine/provider/category.h"

#include <stddef.h>
#include <string.h>

#include "engine/provider/durable.h"
#include "engine/provider/engine.h"

struct known {
	const char *name; /* stored behind the first description (release); NULL: being taken */
	const char *description; /* NULL, and once something else (release) */
};

static struct known known[FX_KNOWN_MAX] FX_LARGE;
static uint64_t known_count; /* taken; may grow beyond FX_KNOWN_MAX */

/* Whether a word of the list, without its '-', means the category. */
static bool word_matches(const char *word, size_t length, const char *name)
{
	if (length && word[length - 1] == '*')
		return strncmp(name, word, length - 1) == 0;
	return strcmp(name, word) == 0;
}

bool fx_category_wanted(const char *name)
{
	uint64_t offset = fx_control()->categories_offset;
	const char *word = (const char *)fx_control() + offset;
	bool wanted = offset == 0 || *word == 0;

	while (offset && *word) {
		bool take_away = *word == '-';
		size_t length = strlen(word);

		if (word_matches(word + take_away, length - take_away, name))
			wanted = !take_away;
		word += length + 1;
	}
	return wanted;
}

/* A String Record without index. If the durable area is full, nobody hears of it. */
static void category_tell(const struct known *k)
{
	size_t name = strnlen(k->name, FX_CATEGORY_NAME_MAX);
	/* acquire: its text. Pairs with known_describe() */
	const char *description = fx_load_acquire(&k->description);
	size_t rest = description ? 1 + strnlen(description, FX_DESCRIPTION_MAX) : 0;
	unsigned words = 1 + (unsigned)(name + rest + 7) / 8;
	uint64_t *p = fx_durable_reserve(words);

	if (!p)
		return;
	p[words - 1] = 0;
	memcpy(&p[1], k->name, name);
	if (rest) {
		((char *)&p[1])[name] = 0;
		memcpy((char *)&p[1] + name + 1, description, rest - 1);
	}
	fx_durable_commit(p, 2ull | (uint64_t)words << 4 | (uint64_t)(name + rest) << 32 |
				 FX_STRING_CATEGORY);
}

static uint64_t count(void)
{
	uint64_t n = fx_load_relaxed(&known_count);

	return n < FX_KNOWN_MAX ? n : FX_KNOWN_MAX;
}

static struct known *known_find(const char *name)
{
	for (uint64_t i = 0; i < count(); i++) {
		/* acquire: the description stands. Pairs with fx_category_know(). */
		const char *other = fx_load_acquire(&known[i].name);

		if (other && strcmp(other, name) == 0)
			return &known[i];
	}
	return NULL;
}

bool fx_category_is_news(const char *name, const char *description)
{
	const struct known *k = known_find(name);

	/* relaxed: whether there is one, not what it says */
	return !k || (description && !fx_load_relaxed(&k->description));
}

/* It was known without. */
static void known_describe(struct known *k, const char *description)
{
	const char *none = NULL;

	/* release: its text. Pairs with category_tell() */
	if (description &&
	    __atomic_compare_exchange_n(&k->description, &none, description, false,
					__ATOMIC_RELEASE, __ATOMIC_RELAXED) &&
	    fx_engine.wiped && fx_engine.wiped->attached)
		category_tell(k);
}

void fx_category_know(const char *name, const char *description)
{
	struct known *k = *name ? known_find(name) : NULL;
	uint64_t i;

	if (k)
		known_describe(k, description);
	if (k || !*name || fx_load_relaxed(&known_count) >= FX_KNOWN_MAX)
		return;
	i = fx_add_relaxed(&known_count, 1);
	if (i >= FX_KNOWN_MAX)
		return;
	known[i].description = description;
	fx_store_release(&known[i].name, name);
	if (fx_engine.wiped && fx_engine.wiped->attached)
		category_tell(&known[i]);
}

void fx_categories_tell(void)
{
	for (uint64_t i = 0; i < count(); i++) {
		if (fx_load_acquire(&known[i].name))
			category_tell(&known[i]);
	}
}

void fx_categories_say(void (*say)(const char *name, const char *description))
{
	for (uint64_t i = 0; i < count(); i++) {
		const char *name =
		    fx_load_acquire(&known[i].name); /* pairs with fx_category_know() */

		if (name)
			say(name, fx_load_acquire(&known[i].description)); /* known_describe() */
	}
}
