/* SPDX-License-Identifier: MIT */
#include "manager/settings/wanted.h"

#include <string.h>

#include "base/compiler.h"
#include "protocol/kernel-ready.h"

struct category {
	const char *name;
	uint32_t bit;
};

static const struct category categories[] = {
#define FX_CATEGORY(sym, bit, name, dflt, help) {name, 1u << (bit)},
    FX_CATEGORIES(FX_CATEGORY)
#undef FX_CATEGORY
};

/* --- Words ----------------------------------------------------------------------------------- */

static struct fx_word word_split(const char *text, size_t length)
{
	struct fx_word word = {.take_away = length && *text == '-'};
	const char *slash;

	text += word.take_away;
	length -= word.take_away;
	slash = memrchr(text, '/', length);
	if (slash) {
		word.provider = text;
		word.provider_length = (size_t)(slash - text);
		length -= word.provider_length + 1;
		text = slash + 1;
	}
	word.name = text;
	word.length = length;
	return word;
}

bool fx_word_next(const char **at, struct fx_word *ret)
{
	const char *word = *at;
	size_t length;

	if (!word)
		return false;
	length = strcspn(word, ",");
	*at = word[length] ? word + length + 1 : NULL;
	*ret = word_split(word, length);
	return true;
}

static bool has_asterisk(const struct fx_word *w)
{
	return w->length && w->name[w->length - 1] == '*';
}

static bool is_printable(const char *text, size_t length)
{
	for (; length; text++, length--) {
		if ((unsigned char)*text <= ' ' || *text == 0x7f || *text == '#')
			return false;
	}
	return true;
}

/* "tracepoint:" stands before GROUP/NAME, or GROUP alone. */
static bool word_is_point(const struct fx_word *w)
{
	static const char prefix[] = "tracepoint:";
	const char *text = w->provider ? w->provider : w->name;
	size_t length = w->provider ? w->provider_length : w->length;

	return length > sizeof(prefix) - 1 && memcmp(text, prefix, sizeof(prefix) - 1) == 0;
}

bool fx_word_is_kernel(const struct fx_word *w)
{
	static const char prefix[] = "kernel:";

	return word_is_point(w) || (!w->provider && w->length > sizeof(prefix) - 1 &&
				    memcmp(w->name, prefix, sizeof(prefix) - 1) == 0);
}

/* Whether it is "kernel:" and the name of something that the kernel provider has under it. */
static bool word_is_of_kernel(const struct fx_word *w)
{
	static const struct {
		const char *name, *help;
	} known[] = {
#define FX_KERNEL_CATEGORY_(sym, bit, category, help) {category, help},
	    FX_KERNEL_SETS(FX_KERNEL_CATEGORY_)
#undef FX_KERNEL_CATEGORY_
	};
	size_t length = w->length - has_asterisk(w);

	for (size_t i = 0; i < FX_ARRAY_LEN(known); i++) {
		if (known[i].help && strncmp(known[i].name, w->name, length) == 0 &&
		    (has_asterisk(w) || strlen(known[i].name) == length))
			return true;
	}
	return false;
}

static const char *check(const struct fx_word *w)
{
	size_t plain = w->length - has_asterisk(w);
	bool has_globs = word_is_point(w);

	if (w->length == 0 || (w->provider && w->provider_length == 0))
		return "a word of the list is empty";
	if (plain > FX_CATEGORY_NAME_MAX || w->provider_length > FX_PROVIDER_NAME_MAX)
		return "a name has more than 100 bytes";
	if (!has_globs && (memchr(w->name, '*', plain) ||
			   (w->provider && memchr(w->provider, '*', w->provider_length))))
		return "an asterisk may stand at the end of a name alone";
	if (!is_printable(w->name, w->length) || !is_printable(w->provider, w->provider_length))
		return "a name has a blank or another character that cannot be";
	if (fx_word_is_kernel(w) && !has_globs && !word_is_of_kernel(w))
		return "the kernel provider has no such category (`fxtrace list-categories' has "
		       "those that it has; threads' switches are --kernel's, system calls "
		       "--kernel=calls')";
	return NULL;
}

const char *fx_word_check(const char *text, size_t length)
{
	struct fx_word word = word_split(text, length);

	return check(&word);
}

const char *fx_words_check(const char *list)
{
	const char *wrong = NULL;
	struct fx_word word;
	unsigned count = 0;

	while (!wrong && fx_word_next(&list, &word)) {
		wrong = check(&word);
		if (++count > FX_WANTED_MAX)
			wrong = "more than 100 words";
	}
	return wrong;
}

bool fx_words_ask_kernel(const char *list)
{
	bool ask = false;
	struct fx_word word;

	while (list && *list && !ask && fx_word_next(&list, &word))
		ask = !word.take_away && fx_word_is_kernel(&word);
	return ask;
}

bool fx_word_is_probe(const struct fx_word *word)
{
	static const char begin[] = "sdt:";

	return !word->provider && word->length > strlen(begin) &&
	       strncmp(word->name, begin, strlen(begin)) == 0;
}

bool fx_words_ask_probes(const char *list)
{
	bool ask = false;
	struct fx_word word;

	while (list && *list && !ask && fx_word_next(&list, &word))
		ask = !word.take_away && fx_word_is_probe(&word);
	return ask;
}

bool fx_words_are_of_kernel(const char *list)
{
	bool are = fx_words_ask_probes(list) || fx_words_ask_kernel(list);
	struct fx_word word;

	while (are && list && *list && fx_word_next(&list, &word))
		are = fx_word_is_probe(&word) || fx_word_is_kernel(&word);
	return are;
}

unsigned fx_words_count(const char *list)
{
	struct fx_word word;
	unsigned count = 0;

	while (list && *list && fx_word_next(&list, &word))
		count++;
	return count;
}

uint32_t fx_category_bits(const char *name, size_t length)
{
	bool prefix = length > 0 && name[length - 1] == '*';
	uint32_t bits = 0;

	if (prefix)
		length--;
	for (size_t i = 0; i < FX_ARRAY_LEN(categories); i++) {
		const char *known = categories[i].name;

		if (strncmp(known, name, length) == 0 && (prefix || known[length] == 0))
			bits |= categories[i].bit;
	}
	return bits;
}

/* --- What is wanted -------------------------------------------------------------------------- */

/* No word in `list` means that all of the program's own are wanted, if FX_CAT_USER is. */
struct wanted {
	uint32_t bits;
	char *list;
	size_t used;
};

static void list_add(struct wanted *w, bool take_away, const char *name, size_t length)
{
	/* The last byte of the room is the empty word at the end. */
	if (w->used + take_away + length + 2 > FX_WANTED_SIZE)
		return;
	if (take_away)
		w->list[w->used++] = '-';
	memcpy(w->list + w->used, name, length);
	w->used += length;
	w->list[w->used++] = 0;
}

/* What all were wanted until now is a word of the list, once there are others. */
static void own_change(struct wanted *w, bool take_away, const char *name, size_t length)
{
	if ((w->bits & FX_CAT_USER) && w->used == 0)
		list_add(w, false, "*", 1);
	list_add(w, take_away, name, length);
}

static void own_add(struct wanted *w, const char *name, size_t length)
{
	own_change(w, false, name, length);
	w->bits |= FX_CAT_USER;
}

static void own_take_away(struct wanted *w, const char *name, size_t length)
{
	if (w->bits & FX_CAT_USER)
		own_change(w, true, name, length);
}

/* All of the program's own, or none. */
static void own_all(struct wanted *w, bool take_away)
{
	memset(w->list, 0, w->used);
	w->used = 0;
	w->bits &= ~(uint32_t)FX_CAT_USER;
	if (!take_away)
		w->bits |= FX_CAT_USER;
}

static void wanted_apply(struct wanted *w, const struct fx_word *word)
{
	uint32_t bits = fx_category_bits(word->name, word->length);
	uint32_t tracers = bits & ~(uint32_t)FX_CAT_USER;

	w->bits = word->take_away ? w->bits & ~tracers : w->bits | tracers;
	if (bits & FX_CAT_USER)
		own_all(w, word->take_away);
	else if (bits && !has_asterisk(word))
		return;
	else if (word->take_away)
		own_take_away(w, word->name, word->length);
	else
		own_add(w, word->name, word->length);
}

static bool wanted_is_for(const struct fx_word *word, const char *provider)
{
	return word->provider_length == strlen(provider) &&
	       memcmp(word->provider, provider, word->provider_length) == 0;
}

/* First the words for all, then those for this provider. */
static void apply_all(struct wanted *w, const char *list, const char *provider)
{
	struct fx_word word;

	if (!list || !*list)
		return;
	for (const char *at = list; fx_word_next(&at, &word);) {
		if (!word.provider && !fx_word_is_kernel(&word))
			wanted_apply(w, &word);
	}
	for (const char *at = list; fx_word_next(&at, &word);) {
		if (word.provider && wanted_is_for(&word, provider))
			wanted_apply(w, &word);
	}
}

uint32_t fx_wanted_write(const struct fx_session_config *config, const char *provider,
			 char *ret_list)
{
	struct wanted w = {.bits = config->categories, .list = ret_list};

	/* What was never written is not touched: it takes no memory. */
	if (*ret_list)
		memset(ret_list, 0, FX_WANTED_SIZE);
	apply_all(&w, config->words, provider);
	w.bits |= config->more_categories;
	apply_all(&w, config->more_words, provider);
	return w.bits;
}

uint32_t fx_wanted_bits(const struct fx_session_config *config)
{
	const char *at = config->words && *config->words ? config->words : NULL;
	uint32_t bits = config->categories;
	struct fx_word word;

	while (at && fx_word_next(&at, &word)) {
		uint32_t named =
		    fx_word_is_kernel(&word) ? 0 : fx_category_bits(word.name, word.length);

		if (!word.take_away)
			bits |= named;
		else if (!word.provider)
			bits &= ~named;
	}
	return bits;
}
