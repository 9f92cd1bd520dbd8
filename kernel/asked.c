/* SPDX-License-Identifier: MIT */
#include "kernel/asked.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "protocol/kernel-ready.h"

/* tracepoint:GROUP/NAME, or tracepoint:GROUP for all of a group. */
#define POINTS "tracepoint:"

static const struct {
	const char *category;
	const char *help;
	uint32_t bit;
} asked_sets[] = {
#define SET_(sym, bit, category, help) {category, help, FX_KERNEL_##sym},
    FX_KERNEL_SETS(SET_)
#undef SET_
};

/* Longer words mean nothing. */
struct asked_word {
	char text[FX_KERNEL_WORD_MAX];
	bool take_away;
};

/* Takes the first word off a list. */
static bool asked_word_take(const char **at, struct asked_word *ret)
{
	const char *word = *at;
	size_t length;

	if (!word)
		return false;
	ret->take_away = *word == '-';
	word += ret->take_away;
	length = strcspn(word, ",");
	*at = word[length] ? word + length + 1 : NULL;
	ret->text[0] = 0;
	if (length < sizeof(ret->text)) {
		memcpy(ret->text, word, length);
		ret->text[length] = 0;
	}
	return true;
}

static bool is_point(const char *word)
{
	return strncmp(word, POINTS, strlen(POINTS)) == 0;
}

static uint32_t word_sets(const char *word)
{
	uint32_t sets = 0;

	if (is_point(word))
		return FX_KERNEL_POINTS;
	for (size_t i = 0; i < sizeof(asked_sets) / sizeof(asked_sets[0]); i++) {
		/* What all programs' words begin with is not the kernel's. */
		if (asked_sets[i].help && strncmp(word, "kernel:", 7) == 0 &&
		    fnmatch(word, asked_sets[i].category, 0) == 0)
			sets |= asked_sets[i].bit;
	}
	return sets;
}

uint32_t fx_asked_sets(const char *list)
{
	struct asked_word word;
	uint32_t sets = 0;

	while (asked_word_take(&list, &word)) {
		if (!word.take_away)
			sets |= word_sets(word.text);
		else if (!is_point(word.text))
			sets &= ~word_sets(word.text);
	}
	return sets;
}

bool fx_asked_means(const char *word, const char *group, const char *name)
{
	char meant[FX_KERNEL_WORD_MAX];

	snprintf(meant, sizeof(meant), "%s", word + strlen(POINTS));
	if (!strchr(meant, '/'))
		return fnmatch(meant, group, 0) == 0;
	*strchr(meant, '/') = 0;
	return fnmatch(meant, group, 0) == 0 && fnmatch(meant + strlen(meant) + 1, name, 0) == 0;
}

bool fx_asked_point(const char *list, const char *group, const char *name)
{
	struct asked_word word;
	bool is_asked = false;

	while (asked_word_take(&list, &word)) {
		if (is_point(word.text) && fx_asked_means(word.text, group, name))
			is_asked = !word.take_away;
	}
	return is_asked;
}

bool fx_asked_next(const char **at, char *ret, unsigned size)
{
	struct asked_word word;

	while (asked_word_take(at, &word)) {
		if (word.take_away || !is_point(word.text))
			continue;
		snprintf(ret, size, "%s", word.text);
		return true;
	}
	return false;
}
