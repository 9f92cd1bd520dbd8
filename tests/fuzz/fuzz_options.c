/* SPDX-License-Identifier: MIT */
/*
 * Options of tracing, of the command line and of the environment, and what they mean for providers.
 * The input is lines: a letter that stands for the option, and its value.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/categories.h"
#include "client/options.h"
#include "manager/settings/terms.h"
#include "manager/settings/wanted.h"
#include "tests/fuzz/fuzz.h"

static const int keys[] = {
#define FX_OPTION(key, name, argument, variable, setter, where, help) key,
#include "client/options.def"
#undef FX_OPTION
};

/* Whatever was taken can be used. */
static void options_use(const struct fx_options *o)
{
	const struct fx_session_config *c = &o->config;
	static char list[FX_WANTED_SIZE];
	struct fx_layout layout;

	if (fx_options_check(o))
		return;
	for (size_t i = 0; i < c->size_count; i++) {
		struct fx_provider_terms terms =
		    fx_terms_for(c, FX_CLOCK_BOOTTIME, (struct fx_anchor){1, 1}, c->sizes[i].name,
				 &(struct fx_msg_wish){0});

		if (fx_layout_compute(&layout, terms.buffer_size, c->mode) < 0)
			abort();
	}
	if (fx_layout_compute(&layout, c->buffer_size, c->mode) < 0 || c->max_depth >= FX_FRAMES)
		abort();
	for (size_t i = 0; i < c->trigger_count; i++) {
		if (fx_terms_trigger(c, c->triggers[i].alert) == 0)
			abort();
	}
	if (c->words && fx_words_check(c->words))
		abort();
	fx_wanted_write(c, "program", list);
	if (list[sizeof(list) - 1])
		abort();
}

/* Takes the lines, up to the first whose value is wrong, where a command ends. False: one was. */
static bool options_take(struct fx_options *o, char *text)
{
	const char *wrong = NULL, *line;

	while (!wrong && (line = strsep(&text, "\n"))) {
		size_t key = (unsigned char)line[0] % (sizeof(keys) / sizeof(keys[0]));
		bool known = true;

		if (line[0])
			wrong = fx_options_set(o, keys[key], line + 1, &known);
		if (!known)
			abort();
	}
	return !wrong;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct fx_options options;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = 0;
	fx_options_init(&options);
	if (options_take(&options, text))
		options_use(&options);
	fx_options_destroy(&options);
	free(text);
	return 0;
}
