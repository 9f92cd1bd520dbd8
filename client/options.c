/* SPDX-License-Identifier: MIT */
#include "client/options.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/categories.h"
#include "client/quantity.h"
#include "client/usage.h"
#include "engine/layout.h"
#include "manager/archive/destination.h"
#include "manager/settings/functions.h"
#include "manager/settings/wanted.h"
#include "symbols/symbols.h"

/* --- Values ---------------------------------------------------------------------------------- */

/* A copy that lives as long as the options; NULL without memory. */
static char *keep_text(struct fx_options *o, const char *text, size_t length)
{
	char **texts = realloc(o->texts, (o->text_count + 1) * sizeof(*texts));
	char *copy;

	if (!texts)
		return NULL;
	o->texts = texts;
	copy = strndup(text, length);
	if (copy)
		o->texts[o->text_count++] = copy;
	return copy;
}

/* --- Setters --------------------------------------------------------------------------------- */

#define NO_MEMORY "out of memory"
#define BAD_SIZE  "not a size between 4K and 4G, such as 64M"
#define ODD_SIZE  "not a multiple of 4K"

static const char *set_output(struct fx_options *o, const char *value)
{
	if (!*value)
		return "no file name";
	if (fx_compression_of(value) == FX_COMPRESSION_UNKNOWN)
		return FX_COMPRESSION_WRONG;
	o->config.output = keep_text(o, value, strlen(value));
	return o->config.output ? NULL : NO_MEMORY;
}

/* The first list of the command line stands in place of the variable's; further ones add to it. */
static const char *set_categories(struct fx_options *o, const char *value)
{
	const char *wrong;

	if (!fx_options_given(o, 'c'))
		fx_categories_begin(value, &o->config.categories, o->words);
	wrong = fx_categories_add(value, o->words);
	o->config.words = o->words;
	return wrong;
}

static const char *parse_buffer_size(const char *value, uint64_t *ret)
{
	uint64_t size;

	if (!fx_quantity_parse(value, FX_QUANTITY_SIZES, &size) || size < FX_BUFFER_MIN ||
	    size > FX_BUFFER_MAX)
		return BAD_SIZE;
	if (!fx_buffer_size_is_valid(size))
		return ODD_SIZE;
	*ret = size;
	return NULL;
}

static const char *set_buffer_size(struct fx_options *o, const char *value)
{
	return parse_buffer_size(value, &o->config.buffer_size);
}

static const char *set_provider_buffer(struct fx_options *o, const char *value)
{
	const char *equals = strrchr(value, '='), *wrong;
	struct fx_provider_size *grown, fresh;

	if (!equals || equals == value)
		return "not NAME=SIZE";
	wrong = parse_buffer_size(equals + 1, &fresh.size);
	if (wrong)
		return wrong;
	grown = realloc(o->sizes, (o->config.size_count + 1) * sizeof(*grown));
	if (!grown)
		return NO_MEMORY;
	o->config.sizes = o->sizes = grown;
	fresh.name = keep_text(o, value, (size_t)(equals - value));
	if (!fresh.name)
		return NO_MEMORY;
	o->sizes[o->config.size_count++] = fresh;
	return NULL;
}

static const char *set_mode(struct fx_options *o, const char *value)
{
	if (strcmp(value, "streaming") == 0 || strcmp(value, "s") == 0)
		o->config.mode = FX_MODE_STREAMING;
	else if (strcmp(value, "oneshot") == 0 || strcmp(value, "o") == 0)
		o->config.mode = FX_MODE_ONESHOT;
	else if (strcmp(value, "circular") == 0 || strcmp(value, "c") == 0)
		o->config.mode = FX_MODE_CIRCULAR;
	else
		return "not streaming, circular or oneshot";
	return NULL;
}

/* No other buffers have a history. */
static const char *set_last(struct fx_options *o, const char *value)
{
	if (!fx_quantity_parse(value, FX_QUANTITY_TIMES, &o->config.last_ns) || !o->config.last_ns)
		return FX_OPTIONS_BAD_TIME;
	if (!fx_options_given(o, 'm'))
		o->config.mode = FX_MODE_CIRCULAR;
	return NULL;
}

static const char *set_on_full(struct fx_options *o, const char *value)
{
	if (strcmp(value, "drop") == 0)
		o->config.on_full = FX_ON_FULL_DROP;
	else if (strcmp(value, "block") == 0)
		o->config.on_full = FX_ON_FULL_BLOCK;
	else
		return "not drop or block";
	return NULL;
}

static const char *set_clock(struct fx_options *o, const char *value)
{
	if (strcmp(value, "auto") == 0)
		o->config.clock = FX_CLOCK_WISH_AUTO;
	else if (strcmp(value, "counter") == 0)
		o->config.clock = FX_CLOCK_WISH_COUNTER;
	else if (strcmp(value, "boottime") == 0)
		o->config.clock = FX_CLOCK_WISH_BOOTTIME;
	else
		return "not auto, counter or boottime";
	return NULL;
}

static const char *set_records(struct fx_options *o, const char *value)
{
	if (strcmp(value, "complete") != 0 && strcmp(value, "pairs") != 0)
		return "not complete or pairs";
	o->config.pairs = strcmp(value, "pairs") == 0;
	return NULL;
}

/* LIST[:TIME]; names of categories may have a colon as well. */
static const char *set_stacks(struct fx_options *o, const char *value)
{
	const char *colon = strrchr(value, ':');
	size_t length = strlen(value);
	char list[256];

	o->config.stack_duration_ns = 0;
	if (colon && fx_quantity_parse(colon + 1, FX_QUANTITY_TIMES, &o->config.stack_duration_ns))
		length = (size_t)(colon - value);
	if (length >= sizeof(list))
		return "longer than all categories together";
	memcpy(list, value, length);
	list[length] = 0;
	return fx_categories_parse_bits(list, &o->config.stack_categories);
}

static bool options_is_on(const char *value)
{
	return !value || (*value && strcmp(value, "0") != 0);
}

static const char *set_patch(struct fx_options *o, const char *value)
{
	o->config.patch = options_is_on(value);
	return NULL;
}

static const char *set_lines(struct fx_options *o, const char *value)
{
	o->config.lines = options_is_on(value);
	return NULL;
}

static const char *set_no_follow(struct fx_options *o, const char *value)
{
	o->config.follow = !options_is_on(value);
	return NULL;
}

static const char *set_sample(struct fx_options *o, const char *value)
{
	char *end;
	unsigned long hz = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || hz == 0 || hz > FX_SAMPLE_MAX)
		return "not a number of samples a second, from 1 to 10000";
	o->config.sample_hz = (uint32_t)hz;
	return NULL;
}

static const char *set_kernel(struct fx_options *o, const char *value)
{
	bool calls = value && strcmp(value, "calls") == 0;
	bool machine = value && strcmp(value, "system") == 0;

	o->config.kernel_calls = calls;
	o->config.kernel_machine = machine;
	o->config.kernel = !value || calls || machine || options_is_on(value);
	return !value || calls || machine || strcmp(value, "1") == 0 || !*value ||
		       strcmp(value, "0") == 0
		   ? NULL
		   : "neither `calls' nor `system'";
}

static const char *set_duration(struct fx_options *o, const char *value)
{
	if (!fx_quantity_parse(value, FX_QUANTITY_TIMES, &o->config.duration_ns) ||
	    o->config.duration_ns == 0)
		return FX_OPTIONS_BAD_TIME;
	return NULL;
}

static const char *set_watchdog(struct fx_options *o, const char *value)
{
	if (!fx_quantity_parse(value, FX_QUANTITY_TIMES, &o->config.watchdog_ns) ||
	    o->config.watchdog_ns == 0)
		return FX_OPTIONS_BAD_TIME;
	return NULL;
}

static const char *set_trigger(struct fx_options *o, const char *value)
{
	const char *colon = strrchr(value, ':');
	struct fx_trigger *t = &o->triggers[o->config.trigger_count];

	if (!colon || colon == value)
		return "not ALERT:stop, ALERT:snapshot or ALERT:where";
	if (colon - value > (ptrdiff_t)FX_ALERT_NAME_MAX)
		return "the alert's name has more than 14 bytes";
	if (o->config.trigger_count == FX_TRIGGERS)
		return "more than 16 triggers";
	*t = (struct fx_trigger){0};
	if (strcmp(colon + 1, "stop") == 0)
		t->action = FX_TRIGGER_STOP;
	else if (strcmp(colon + 1, "snapshot") == 0)
		t->action = FX_TRIGGER_SNAPSHOT;
	else if (strcmp(colon + 1, "where") == 0)
		t->action = FX_TRIGGER_WHERE;
	else
		return "not ALERT:stop, ALERT:snapshot or ALERT:where";
	memcpy(t->alert, value, (size_t)(colon - value));
	o->config.triggers = o->triggers;
	o->config.trigger_count++;
	return NULL;
}

static const char *set_max_memory(struct fx_options *o, const char *value)
{
	return fx_quantity_parse(value, FX_QUANTITY_SIZES, &o->config.max_memory) &&
		       o->config.max_memory
		   ? NULL
		   : "not a size, such as 512M";
}

const char *fx_options_max_user_memory(struct fx_options *o, const char *value)
{
	return fx_quantity_parse(value, FX_QUANTITY_SIZES, &o->config.max_user_memory) &&
		       o->config.max_user_memory
		   ? NULL
		   : "not a size, such as 512M";
}

static const char *set_max_strings(struct fx_options *o, const char *value)
{
	return fx_quantity_parse(value, FX_QUANTITY_SIZES, &o->config.max_strings) &&
		       o->config.max_strings
		   ? NULL
		   : "not a size, such as 64M";
}

static const char *set_max_symbols(struct fx_options *o, const char *value)
{
	return fx_quantity_parse(value, FX_QUANTITY_SIZES, &o->config.max_symbols) &&
		       o->config.max_symbols && o->config.max_symbols <= FX_MAX_SYMBOLS_MAX
		   ? NULL
		   : "not a size up to 4G, such as 512M";
}

static const char *set_max_user_symbols(struct fx_options *o, const char *value)
{
	return fx_quantity_parse(value, FX_QUANTITY_SIZES, &o->config.max_user_symbols) &&
		       o->config.max_user_symbols
		   ? NULL
		   : "not a size, such as 2G";
}

static const char *set_symbol_cache(struct fx_options *o, const char *value)
{
	o->config.symbol_cache = value;
	return strcmp(value, "no") == 0 || (value[0] == '/' && strlen(value) < FX_STORE_PATH_MAX)
		   ? NULL
		   : "neither `no' nor a folder by its whole path";
}

const char *fx_options_permissions(const char *value)
{
	size_t length = strspn(value, "01234567");
	unsigned long mode = strtoul(value, NULL, 8);

	/* An archive is no program. */
	if (length == 0 || length > 4 || value[length] || mode & ~0666ul)
		return "not permissions in octal without any to execute, such as 640";
	fx_destination_set_mode((mode_t)mode);
	return NULL;
}

static const char *set_permissions(struct fx_options *o, const char *value)
{
	(void)o;
	return fx_options_permissions(value);
}

static const char *set_report(struct fx_options *o, const char *value)
{
	o->report = options_is_on(value);
	return NULL;
}

static const char *set_quiet(struct fx_options *o, const char *value)
{
	o->quiet = options_is_on(value);
	return NULL;
}

static const char *set_verbose(struct fx_options *o, const char *value)
{
	o->config.verbose = options_is_on(value);
	return NULL;
}

/* --- The table ------------------------------------------------------------------------------- */

struct setting {
	int key;
	const char *name, *variable;
	const char *(*set)(struct fx_options *options, const char *value);
	unsigned where;
};

static const struct setting options_known[] = {
#define FX_OPTION(key, name, argument, variable, setter, where, help)                              \
	{key, name, variable, setter, where},
#include "client/options.def"
#undef FX_OPTION
};

#define OPTION_COUNT (sizeof(options_known) / sizeof(options_known[0]))

_Static_assert(OPTION_COUNT <= 64, "bits of fx_options.given");

/* NULL if there is none of this key. */
static const struct setting *options_find(int key)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		if (options_known[i].key == key)
			return &options_known[i];
	}
	return NULL;
}

static uint64_t options_bit(const struct setting *setting)
{
	return UINT64_C(1) << (setting - options_known);
}

bool fx_options_given(const struct fx_options *options, int key)
{
	return (options->given & options_bit(options_find(key))) != 0;
}

void fx_options_init(struct fx_options *ret)
{
	*ret = (struct fx_options){
	    .config =
		{
		    .output = FX_DEFAULT_OUTPUT,
		    .buffer_size = FX_DEFAULT_BUFFER_SIZE,
		    .mode = FX_MODE_STREAMING,
		    .on_full = FX_ON_FULL_DROP,
		    .follow = true,
		    .max_strings = FX_DEFAULT_MAX_STRINGS,
		    .categories = fx_categories_default(),
		},
	};
}

void fx_options_destroy(struct fx_options *o)
{
	for (size_t i = 0; i < o->text_count; i++)
		free(o->texts[i]);
	free(o->texts);
	free(o->sizes);
	memset(o, 0, sizeof(*o));
}

const char *fx_options_set(struct fx_options *options, int key, const char *value, bool *ret_known)
{
	const struct setting *setting = options_find(key);
	const char *wrong;

	*ret_known = setting != NULL;
	if (!setting)
		return NULL;
	wrong = setting->set(options, value);
	options->given |= options_bit(setting);
	/* What the environment says to the contrary does not count. */
	if (key == 'q' && !fx_options_given(options, 'v'))
		options->config.verbose = false;
	if (key == 'v' && !fx_options_given(options, 'q'))
		options->quiet = false;
	return wrong;
}

/* The command that has the option, for messages of those that have it not. */
static const char *options_owner(const struct setting *setting)
{
	switch (setting->where & ~(unsigned)OF_ATTACH) {
	case OF_RUN:
		return "an option of fxtrace run alone";
	case OF_RUN | OF_RECORD:
		return "an option of fxtrace run and record, which wait";
	case OF_RUN | OF_MANAGER:
		return "an option of fxtrace run and manager";
	default:
		return "an option of what starts tracing: fxtrace run, record and start";
	}
}

/* Whether some alert makes it be said where everybody stands. */
static bool options_look(const struct fx_session_config *c)
{
	for (size_t i = 0; i < c->trigger_count; i++) {
		if (c->triggers[i].action == FX_TRIGGER_WHERE)
			return true;
	}
	return false;
}

bool fx_options_take(struct fx_options *options, const char *command, unsigned place, int key,
		     const char *value)
{
	const struct setting *setting = options_find(key);
	const char *wrong;
	char what[256];
	bool known;

	if (!setting)
		return false;
	snprintf(what, sizeof(what), "--%s", setting->name);
	if (!(setting->where & place))
		fx_usage_error(command, what, options_owner(setting));
	wrong = fx_options_set(options, key, value, &known);
	if (wrong && value)
		snprintf(what, sizeof(what), "--%s '%.200s'", setting->name, value);
	if (wrong)
		fx_usage_error(command, what, wrong);
	if (key == OPTION_TRIGGER && !(place & OF_RUN) && options_look(&options->config))
		fx_usage_error(command, what, "ALERT:where is of fxtrace run alone");
	return true;
}

const char *fx_options_environment(struct fx_options *options, const char **ret_variable)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const char *value = getenv(options_known[i].variable), *wrong;

		*ret_variable = options_known[i].variable;
		wrong = value && *value ? options_known[i].set(options, value) : NULL;
		if (wrong)
			return wrong;
	}
	return NULL;
}

void fx_options_take_environment(struct fx_options *options, const char *command)
{
	const char *variable, *wrong = fx_options_environment(options, &variable);

	if (wrong)
		fx_usage_error(command, variable, wrong);
}

/* --- The whole ------------------------------------------------------------------------------- */

bool fx_options_has_snapshots(const struct fx_session_config *c)
{
	for (size_t i = 0; i < c->trigger_count; i++) {
		if (c->triggers[i].action == FX_TRIGGER_SNAPSHOT)
			return true;
	}
	return false;
}

/* Whether no process can have a buffer. */
static bool options_has_no_room(const struct fx_session_config *c)
{
	uint64_t least = c->buffer_size;

	for (size_t i = 0; i < c->size_count; i++)
		least = c->sizes[i].size < least ? c->sizes[i].size : least;
	return c->max_memory && c->max_memory < least;
}

const char *fx_options_check(const struct fx_options *o)
{
	const struct fx_session_config *c = &o->config;
	const uint32_t recorded = fx_wanted_bits(c);

#define GIVEN(key) fx_options_given(o, key)
#define FX_CLASH(condition, what, why)                                                             \
	if (condition)                                                                             \
		return what ": " why;
#include "client/clashes.def"
#undef FX_CLASH
#undef GIVEN
	return NULL;
}
