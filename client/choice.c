/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "client/choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/archive.h"
#include "client/categories.h"
#include "client/quantity.h"
#include "client/usage.h"
#include "convert/arrange.h"
#include "convert/indexer.h"
#include "engine/layout.h"
#include "format/input.h"
#include "lists/spill.h"
#include "manager/settings/functions.h"
#include "manager/settings/wanted.h"
#include "symbols/patterns.h"

/* What the manager says of the recording itself is always there. */
#define CATEGORY_OF_LOSSES    "fxtrace"
#define CATEGORY_OF_FUNCTIONS "function"

/* --- Options ----------------------------------------------------------------------------------- */

static void choice_categories(struct fx_choice *choice, const char *command, const char *list)
{
	const char *wrong;
	uint32_t bits;

	if (!choice->has_categories) {
		fx_categories_begin(list, &bits, choice->words);
		choice->all_categories = list[0] == '-';
		choice->has_categories = true;
	}
	wrong = fx_categories_add(list, choice->words);
	if (wrong)
		fx_usage_error(command, wrong, list);
}

static void choice_functions(struct fx_choice *choice, const char *command, char sign,
			     const char *glob)
{
	size_t used = strlen(choice->functions), room = sizeof(choice->functions) - used;
	const char *wrong = fx_functions_check_glob(sign, glob), *line = choice->functions + used;
	struct fx_pattern pattern;

	if (!wrong && strlen(glob) + sizeof("+\n") > room)
		wrong = "longer than all patterns together may be";
	if (wrong)
		fx_usage_error(command, wrong, glob);
	snprintf(choice->functions + used, room, "%c%s\n", sign, glob);
	if (fx_pattern_next(&line, &pattern) && (*pattern.module || pattern.source))
		fx_usage_error(command, "an archive does not tell a function's file", glob);
}

static uint64_t choice_time(const char *command, const char *text)
{
	uint64_t ns;

	if (!fx_quantity_parse(text, FX_QUANTITY_TIMES, &ns) || ns == 0)
		fx_usage_error(command, "not a time, such as 10us, 1.5s or 5min", text);
	return ns;
}

/* TIME or GLOB=TIME. */
static void choice_duration(struct fx_choice *choice, const char *command, const char *text)
{
	char line[FX_FUNCTION_GLOB_MAX];

	if (fx_quantity_of_glob(text, line, sizeof(line)))
		choice_functions(choice, command, '~', line);
	else
		choice->min_duration = choice_time(command, text);
}

static uint64_t choice_depth(const char *command, const char *text)
{
	uint64_t depth;

	if (!fx_quantity_parse(text, FX_QUANTITY_COUNTS, &depth) || depth == 0 ||
	    depth > FX_FRAMES - 1)
		fx_usage_error(command, "not a number between 1 and 503", text);
	return depth;
}

bool fx_choice_option(struct fx_choice *choice, const char *command, int key, const char *arg)
{
	switch (key) {
	case 'c':
		choice_categories(choice, command, arg);
		return true;
	case 'F':
		choice_functions(choice, command, '+', arg);
		return true;
	case 'N':
		choice_functions(choice, command, '-', arg);
		return true;
	case FX_CHOICE_WHEN:
		choice_functions(choice, command, '>', arg);
		return true;
	case 't':
		choice_duration(choice, command, arg);
		return true;
	case 'D':
		choice->max_depth = choice_depth(command, arg);
		return true;
	case FX_CHOICE_LAST:
		choice->last = choice_time(command, arg);
		return true;
	case FX_CHOICE_NO_FOLLOW:
		choice->no_follow = true;
		return true;
	default:
		return false;
	}
}

/* --- Categories -------------------------------------------------------------------------------- */

static bool word_means(const struct fx_word *word, const struct fxt_string *category)
{
	size_t length = word->length;

	if (length == 4 && memcmp(word->name, "user", 4) == 0)
		return !fx_category_bits(category->data, category->length);
	if (length > 0 && word->name[length - 1] == '*')
		return category->length >= length - 1 &&
		       memcmp(category->data, word->name, length - 1) == 0;
	return category->length == length && memcmp(category->data, word->name, length) == 0;
}

/* Words of the list that are for all processes, or those for single ones: what the last one says that means the category. */
static bool choice_words(const char *at, const char *process, const struct fxt_string *category,
			 bool chosen)
{
	struct fx_word word;

	while (fx_word_next(&at, &word)) {
		if ((process != NULL) != (word.provider != NULL))
			continue;
		if (process && (strlen(process) != word.provider_length ||
				memcmp(process, word.provider, word.provider_length) != 0))
			continue;
		if (word_means(&word, category))
			chosen = !word.take_away;
	}
	return chosen;
}

bool fx_choice_category(const struct fx_choice *choice, const char *process,
			const struct fxt_string *category)
{
	bool chosen = choice->all_categories;

	if (!choice->has_categories || fxt_string_equals(category, CATEGORY_OF_LOSSES))
		return true;
	chosen = choice_words(choice->words, NULL, category, chosen);
	return process ? choice_words(choice->words, process, category, chosen) : chosen;
}

/* --- Calls ------------------------------------------------------------------------------------- */

static int compare_choice_places(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static const struct fx_runs_kind choice_places_kind = {
    .size = sizeof(uint64_t), /* words from the start */
    .compare = compare_choice_places,
};

static int choice_leave(struct fx_choice *choice, uint64_t word)
{
	uint64_t *place = fx_runs_add(&choice->left_out);

	if (!place)
		return -ENOMEM;
	*place = word;
	return 0;
}

/* Whether a call is taken note of, as something that others are nested in. */
static bool choice_counts(const struct fx_choice *choice, const struct fx_thread *thread,
			  const struct fxt_event *event)
{
	const struct fx_text *process = thread->process->name;

	return fx_choice_category(choice, process ? process->data : NULL, &event->category);
}

/* Whether a call is wanted by the name of its function and by what it lies in: *scope, which is what lies in it then. */
static bool choice_names(const struct fx_choice *choice, const struct fxt_event *event,
			 uint64_t duration, struct fx_function_scope *scope)
{
	char name[FX_PATTERN_MAX * 8];
	const struct fx_pattern_subject function = {.name = name};
	struct fx_pattern_verdict verdict;

	if (!*choice->functions || !fxt_string_equals(&event->category, CATEGORY_OF_FUNCTIONS))
		return true;
	snprintf(name, sizeof(name), "%.*s", (int)event->name.length, event->name.data);
	verdict = fx_functions_judge(choice->functions, &function);
	verdict.out |= duration < (verdict.has_min ? verdict.min_ns : choice->min_duration);
	return fx_functions_enter(&verdict, (uint32_t)choice->max_depth, scope);
}

/* Whether depths count inside of what --when means. */
static bool choice_is_inside(const struct fx_choice *choice)
{
	return fx_functions_have_when(choice->functions);
}

static bool choice_is_short(const struct fx_choice *choice, const struct fx_placed *placed,
			    const struct fxt_event *event)
{
	/* Patterns know it better. */
	return !*choice->functions && placed->entry.end - placed->entry.ts < choice->min_duration &&
	       fxt_string_equals(&event->category, CATEGORY_OF_FUNCTIONS);
}

/* What calls lie in, at each depth of the walk. */
struct choice_level {
	uint64_t depth; /* in all that are taken note of, functions that are not wanted too */
	struct fx_function_scope scope;
};

static int choice_look_at_call(struct fx_choice *choice, struct fx_walk *walk,
			       const struct fx_placed *placed, struct choice_level *levels)
{
	size_t at = walk->depth - !(placed->entry.flags & FX_ENTRY_LEFT_OUT);
	struct choice_level level = {.scope = fx_functions_outside(choice->functions)};
	struct fxt_record record;
	bool counts, named, is_deep;
	int r =
	    fx_timeline_decode(walk->timeline, placed->entry.provider, placed->entry.word, &record);

	if (r < 0)
		return r == -EBADMSG ? 0 : r;
	if (at > 0)
		level = levels[at - 1];
	is_deep =
	    choice->max_depth && level.depth >= choice->max_depth && !choice_is_inside(choice);
	counts = choice_counts(choice, walk->thread, &record.event);
	named =
	    choice_names(choice, &record.event, placed->entry.end - placed->entry.ts, &level.scope);
	level.depth += counts;
	if (at < FX_MAX_DEPTH)
		levels[at] = level;
	if (counts && named && !is_deep && !choice_is_short(choice, placed, &record.event))
		return 0;
	r = choice_leave(choice, placed->entry.word);
	if (r == 0 && placed->entry.kind == FX_ENTRY_BEGIN && placed->end_word != FX_NO_WORD)
		r = choice_leave(choice, placed->end_word);
	return r;
}

static int choice_look_at_thread(struct fx_choice *choice, struct fx_timeline *timeline,
				 struct fx_thread *thread, struct fx_walk *walk)
{
	struct choice_level levels[FX_MAX_DEPTH];
	int r = fx_thread_arrange(timeline, thread);

	if (r < 0)
		return r;
	r = fx_walk_begin(walk, timeline, thread);
	while (r >= 0 && (r = fx_walk_next(walk)) > 0) {
		const struct fx_placed *placed;

		while (fx_walk_pop(walk))
			;
		placed = fx_walk_place(walk);
		if (fx_entry_is_slice(&placed->entry))
			r = choice_look_at_call(choice, walk, placed, levels);
	}
	fx_walk_end(walk);
	fx_thread_release(thread);
	return r;
}

static int choice_look_at(struct fx_choice *choice, int fd)
{
	static struct fx_walk walk;
	struct fx_timeline timeline;
	int r = fx_timeline_open(&timeline, fd, NULL, NULL);

	for (size_t i = 0; r == 0 && i < timeline.threads.count; i++)
		r = choice_look_at_thread(choice, &timeline, timeline.threads.items[i], &walk);
	fx_timeline_close(&timeline);
	return r;
}

/* Writes what is compressed as it was before: where its records stand is told by their place in that. */
static int choice_unpack(int fd, struct fx_spill *spill)
{
	enum { PIECE = 1 << 18 };
	struct fx_input *input;
	void *piece = malloc(PIECE);
	ssize_t n = 0;
	int r = piece ? fx_input_open_fd(fd, 0, &input) : -ENOMEM;

	if (r == 0) {
		while (r == 0 && (n = fx_input_read(input, piece, PIECE)) > 0)
			r = fx_spill_append(spill, piece, (size_t)n);
		fx_input_close(input);
	}
	free(piece);
	/* What is damaged is complained of by the code that reads it next. */
	return r == 0 && n < 0 && n != -EBADMSG && n != -EPIPE ? (int)n : r;
}

static int choice_look_at_packed(struct fx_choice *choice, int fd)
{
	struct fx_spill spill = FX_SPILL_EMPTY;
	int r = choice_unpack(fd, &spill);

	if (r == 0 && spill.size > 0)
		r = lseek(spill.fd, 0, SEEK_SET) < 0 ? -errno : choice_look_at(choice, spill.fd);
	fx_spill_close(&spill);
	return r;
}

static bool choice_is_packed(int fd)
{
	unsigned char bytes[4];

	return pread(fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes) &&
	       strcmp(fx_archive_compression(bytes), "plain") != 0;
}

int fx_choice_look(struct fx_choice *choice, const char *file)
{
	int fd, r;

	choice->has_calls = *choice->functions || choice->min_duration || choice->max_depth;
	if (!choice->has_calls)
		return 0;
	fx_runs_pool_init(&choice->pool);
	fx_runs_init(&choice->left_out, &choice->pool, &choice_places_kind);
	fd = fx_archive_open_fd(file);
	if (fd < 0)
		return fd;
	r = choice_is_packed(fd) ? choice_look_at_packed(choice, fd) : choice_look_at(choice, fd);
	fx_archive_close_fd(fd);
	return r;
}

int fx_choice_rewind(struct fx_choice *choice)
{
	int r;

	if (!choice->has_calls)
		return 0;
	if (choice->is_reading)
		fx_merge_end(&choice->merge);
	r = fx_merge_begin(&choice->merge, &choice->left_out);
	choice->is_reading = r == 0;
	choice->next = r == 0 ? fx_merge_first(&choice->merge) : NULL;
	return r;
}

bool fx_choice_leaves_out(struct fx_choice *choice, const struct fxt_record *record)
{
	uint64_t word = record->offset / sizeof(uint64_t);

	while (choice->next && *choice->next < word)
		choice->next = fx_merge_next(&choice->merge);
	return choice->next && *choice->next == word;
}

int fx_choice_error(const struct fx_choice *choice)
{
	return choice->is_reading ? choice->merge.error : 0;
}

void fx_choice_free(struct fx_choice *choice)
{
	if (choice->is_reading)
		fx_merge_end(&choice->merge);
	if (!choice->has_calls)
		return;
	fx_runs_release(&choice->left_out);
	fx_runs_pool_release(&choice->pool);
}
