/* SPDX-License-Identifier: MIT */
#include "client/completion.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "client/categories.h"
#include "client/usage.h"
#include "convert/convert.h"
#include "convert/pictures/options.h"

static const char *wanted_option; /* NULL: all options */

/* --- Values ----------------------------------------------------------------------------------- */

static void completion_print_formats(void)
{
	for (const struct fx_format *format = fx_formats; format->name; format++)
		printf("%s\t%s\n", format->name, format->help);
}

static void completion_print_categories(void)
{
	fx_categories_print(UINT32_MAX);
}

static void completion_print_stacks(void)
{
	fx_categories_print(fx_categories_with_stacks());
}

static void completion_print_weights(void)
{
#define FX_WEIGHT(name, measure, help) puts(name "\t" help);
	FX_WEIGHTS(FX_WEIGHT)
#undef FX_WEIGHT
}

/* What options take: of a table, or these words. Of others the name of their argument may tell it, as in drop|block. */
static const struct {
	const char *name;
	void (*print)(void);
	const char *words;
} completion_values[] = {
    {"buffering-mode", NULL, "streaming|circular|oneshot"},
    {"categories", completion_print_categories, NULL},
    {"color", NULL, "always|never|auto"},
    {"format", completion_print_formats, NULL},
    {"stacks", completion_print_stacks, NULL},
    {"weight", completion_print_weights, NULL},
};

static void completion_print_words(const char *argument)
{
	for (;;) {
		size_t length = strcspn(argument, "|");

		printf("%.*s\t\n", (int)length, argument);
		if (!argument[length])
			return;
		argument += length + 1;
	}
}

static void completion_print_values(const struct argp_option *option)
{
	const char *words = option->arg && strchr(option->arg, '|') ? option->arg : NULL;

	for (size_t i = 0; i < sizeof(completion_values) / sizeof(completion_values[0]); i++) {
		if (strcmp(option->name, completion_values[i].name) != 0)
			continue;
		if (completion_values[i].print)
			completion_values[i].print();
		words = completion_values[i].words;
	}
	if (words)
		completion_print_words(words);
}

/* --- Options ---------------------------------------------------------------------------------- */

/* Whether the user means this option by "--NAME" or "-N". */
static bool is_option(const struct argp_option *option, const char *word)
{
	if (strncmp(word, "--", 2) == 0)
		return strcmp(option->name, word + 2) == 0;
	return fx_usage_has_letter(option) && word[0] == '-' && word[1] == option->key && !word[2];
}

static void completion_print_option(const struct argp_option *option)
{
	/* One that may be left out is no word of its own. */
	bool has_word = option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
	const char *argument = has_word ? option->arg : "";

	printf("--%s\t%s\t%s\n", option->name, argument, option->doc);
	if (fx_usage_has_letter(option))
		printf("-%c\t%s\t%s\n", option->key, argument, option->doc);
}

static void completion_print(const struct argp *parser)
{
	for (const struct argp_option *option = parser->options; option->name; option++) {
		if (option->flags & OPTION_HIDDEN)
			continue;
		if (!wanted_option)
			completion_print_option(option);
		else if (is_option(option, wanted_option))
			completion_print_values(option);
	}
}

void fx_completion_want(const char *option)
{
	wanted_option = option;
	fx_usage_print_help_by(completion_print);
}
