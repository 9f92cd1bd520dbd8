/* SPDX-License-Identifier: MIT */
#include "client/groups.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manager/settings/wanted.h"

#define FILE_NAME "fxtrace/categories"

static char error_text[PATH_MAX + 256];

static const char *wrong_at(const char *path, unsigned line, const char *what)
{
	if (line)
		snprintf(error_text, sizeof(error_text), "%s:%u: %s", path, line, what);
	else
		snprintf(error_text, sizeof(error_text), "%s: %s", path, what);
	return error_text;
}

/* --- One group ------------------------------------------------------------------------------- */

static void group_clear(struct fx_group *g)
{
	free(g->name);
	free(g->list);
	free(g->path);
}

/* NULL, or what is wrong. */
static const char *group_add(struct fx_groups *groups, const char *name, const char *list,
			     const char *path, unsigned line)
{
	struct fx_group *grown = realloc(groups->entries, (groups->count + 1) * sizeof(*grown));
	struct fx_group fresh = {strdup(name), strdup(list), path ? strdup(path) : NULL, line};

	if (grown)
		groups->entries = grown;
	if (!grown || !fresh.name || !fresh.list || (path && !fresh.path)) {
		group_clear(&fresh);
		return "out of memory";
	}
	grown[groups->count++] = fresh;
	return NULL;
}

const struct fx_group *fx_groups_find(const struct fx_groups *groups, const char *name,
				      size_t length)
{
	for (size_t i = 0; i < groups->count; i++) {
		const char *known = groups->entries[i].name;

		if (strncmp(known, name, length) == 0 && known[length] == 0)
			return &groups->entries[i];
	}
	return NULL;
}

/* --- A file ---------------------------------------------------------------------------------- */

static char *trim(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = text + strlen(text);
	while (end > text && isspace((unsigned char)end[-1]))
		*--end = 0;
	return text;
}

/* Takes the blanks around the words of a list away. NULL, or what is wrong with a word. */
static const char *tidy(char *list)
{
	const char *wrong = NULL;
	char *to = list, *comma;

	do {
		char *word;
		size_t length;

		comma = strchr(list, ',');
		if (comma)
			*comma = 0;
		word = trim(list);
		length = strlen(word);
		list = comma ? comma + 1 : NULL;
		if (!wrong && word[*word == '-'] != '#')
			wrong = fx_word_check(word, length);
		memmove(to, word, length);
		to += length;
		*to++ = ',';
	} while (comma);
	to[-1] = 0;
	return wrong;
}

static bool groups_is_name(const char *name)
{
	return *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789-_.")] == 0;
}

/* A line that is not empty. */
static const char *take_line(struct fx_groups *groups, char *text, const char *path, unsigned line)
{
	char *equals = strchr(text, '='), *name;
	const struct fx_group *before;
	const char *wrong;

	if (!equals)
		return "not NAME = LIST";
	*equals = 0;
	name = trim(text);
	if (!groups_is_name(name))
		return "the name of a group is made of letters, digits, '-', '_' and '.'";
	wrong = tidy(equals + 1);
	if (wrong)
		return wrong;
	before = fx_groups_find(groups, name, strlen(name));
	if (before && !before->path)
		return "this group is built in";
	if (before && strcmp(before->path, path) == 0)
		return "this group stands here twice";
	/* The file that was read before counts. */
	return before ? NULL : group_add(groups, name, equals + 1, path, line);
}

static const char *groups_take_lines(struct fx_groups *groups, FILE *file, const char *path)
{
	const char *wrong = NULL;
	size_t room = 0;
	char *text = NULL;
	unsigned line = 0;

	while (!wrong && getline(&text, &room, file) >= 0) {
		char *start = trim(text);

		line++;
		if (*start && *start != '#')
			wrong = take_line(groups, start, path, line);
	}
	if (!wrong && ferror(file)) {
		wrong = strerror(errno);
		line = 0;
	}
	free(text);
	return wrong ? wrong_at(path, line, wrong) : NULL;
}

const char *fx_groups_read_file(struct fx_groups *groups, const char *path)
{
	FILE *file = fopen(path, "re");
	const char *wrong;

	if (!file && (errno == ENOENT || errno == ENOTDIR))
		return NULL;
	if (!file)
		return wrong_at(path, 0, strerror(errno));
	wrong = groups_take_lines(groups, file, path);
	fclose(file);
	return wrong;
}

/* --- All ------------------------------------------------------------------------------------- */

/* Where the user's own file is; false if the user has no place for it. */
static bool user_path(char *ret, size_t size)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n = -1;

	if (config && config[0] == '/')
		n = snprintf(ret, size, "%s/" FILE_NAME, config);
	else if (home && home[0] == '/')
		n = snprintf(ret, size, "%s/.config/" FILE_NAME, home);
	return n > 0 && (size_t)n < size;
}

static int groups_by_name(const void *a, const void *b)
{
	return strcmp(((const struct fx_group *)a)->name, ((const struct fx_group *)b)->name);
}

const char *fx_groups_read(struct fx_groups *ret, const char *default_list)
{
	char path[PATH_MAX];
	const char *wrong;

	*ret = (struct fx_groups){0};
	wrong = group_add(ret, "default", default_list, NULL, 0);
	if (!wrong && user_path(path, sizeof(path)))
		wrong = fx_groups_read_file(ret, path);
	if (!wrong)
		wrong = fx_groups_read_file(ret, FX_SYSCONFDIR "/" FILE_NAME);
	qsort(ret->entries, ret->count, sizeof(*ret->entries), groups_by_name);
	return wrong;
}

void fx_groups_destroy(struct fx_groups *groups)
{
	for (size_t i = 0; i < groups->count; i++)
		group_clear(&groups->entries[i]);
	free(groups->entries);
	*groups = (struct fx_groups){0};
}
