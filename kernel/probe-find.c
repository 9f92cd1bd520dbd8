/* SPDX-License-Identifier: MIT */
#include "kernel/probe-find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/needed.h"
#include "symbols/probes.h"

/* To begin with each takes some 10 ms, and on every processor a descriptor. */
#define PROBES_MOST 256u

/* NAME, or NAME* for all that begin so. */
static bool probe_word_means(const char *word, size_t length, const char *category)
{
	if (length && word[length - 1] == '*')
		return strncmp(word, category, length - 1) == 0;
	return strlen(category) == length && memcmp(word, category, length) == 0;
}

/* Takes a word off a list. */
static size_t word_take(const char **at, const char **ret)
{
	size_t length = strcspn(*at, ",");

	*ret = *at;
	*at += length + ((*at)[length] == ',');
	return length;
}

/* One that takes in all probes by the way (`*', `s*') asks for none. */
static bool is_of_probes(const char *word, size_t length)
{
	return length > strlen(FX_PROBE_PREFIX) &&
	       strncmp(word, FX_PROBE_PREFIX, strlen(FX_PROBE_PREFIX)) == 0;
}

bool fx_probe_is_asked(const char *words, const char *category)
{
	bool is_asked = false;
	const char *word;

	while (*words) {
		size_t length = word_take(&words, &word);
		bool takes_away = *word == '-';

		if (takes_away && probe_word_means(word + 1, length - 1, category))
			is_asked = false;
		else if (is_of_probes(word, length) && probe_word_means(word, length, category))
			is_asked = true;
	}
	return is_asked;
}

bool fx_probe_word(const char **at, char *ret, size_t size)
{
	const char *word;

	while (**at) {
		size_t length = word_take(at, &word);

		if (!is_of_probes(word, length))
			continue;
		snprintf(ret, size, "%.*s", (int)length, word);
		return true;
	}
	return false;
}

/* --- Files -------------------------------------------------------------------------------------- */

struct probe_search {
	const char *words;
	struct fx_probe_list *list;
	const char *path; /* of the file at hand: the list's */
};

static int probe_take(void *opaque, const struct fx_probe_seen *seen)
{
	const struct probe_search *search = opaque;
	struct fx_probe_list *list = search->list;
	struct fx_probe *probe;
	char *category;

	if (asprintf(&category, FX_PROBE_PREFIX "%s:%s", seen->provider, seen->name) < 0)
		return -ENOMEM;
	if (!fx_probe_is_asked(search->words, category)) {
		free(category);
		return 0;
	}
	if (list->probes.count == PROBES_MOST || fx_vector_reserve(&list->probes, 1) < 0) {
		free(category);
		return list->probes.count == PROBES_MOST ? -E2BIG : -ENOMEM;
	}
	probe = &list->probes.items[list->probes.count++];
	*probe = (struct fx_probe){
	    .category = category,
	    .name = category + strlen(category) - strlen(seen->name),
	    .path = search->path,
	    .offset = seen->offset,
	    .semaphore = seen->semaphore,
	    .guard = -1,
	};
	probe->count = fx_probe_operands(seen, probe->arguments);
	return 0;
}

/* What is no file of this machine has none. */
static int file_take(void *opaque, const char *path)
{
	struct probe_search *search = opaque;
	char *copy = strdup(path);
	int r;

	if (!copy || fx_vector_reserve(&search->list->paths, 1) < 0) {
		free(copy);
		return -ENOMEM;
	}
	search->list->paths.items[search->list->paths.count++] = copy;
	search->path = copy;
	r = fx_probes_of_file(path, probe_take, search);
	return r == -ENOMEM || r == -E2BIG ? r : 0;
}

int fx_probe_find(const char *words, char *const *command, struct fx_probe_list *ret)
{
	struct probe_search search = {.words = words, .list = ret};

	*ret = (struct fx_probe_list){.probes = {0}};
	return fx_needed_files(command, file_take, &search);
}

int fx_probe_find_in(const char *words, const char *path, struct fx_probe_list *ret)
{
	struct probe_search search = {.words = words, .list = ret};

	*ret = (struct fx_probe_list){.probes = {0}};
	return file_take(&search, path);
}

void fx_probe_list_clear(struct fx_probe_list *list)
{
	for (size_t i = 0; i < list->probes.count; i++)
		free(list->probes.items[i].category);
	for (size_t i = 0; i < list->paths.count; i++)
		free(list->paths.items[i]);
	fx_vector_free(&list->probes);
	fx_vector_free(&list->paths);
}
