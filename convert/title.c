/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "convert/title.h"
#include "convert/utf8.h"

/* Where the program's name begins in a command line, whose first word may be a path. */
static const char *title_program(const char *command)
{
	const char *name = command;

	for (const char *at = command; *at && *at != ' '; at++) {
		if (*at == '/' && at[1] && at[1] != ' ')
			name = at + 1;
	}
	return name;
}

static void title_copy(char ret[FX_TITLE_MAX], const char *text)
{
	static const char more[] = "...";
	size_t length = strlen(text), limit = FX_TITLE_MAX - sizeof(more);

	if (length < FX_TITLE_MAX) {
		memcpy(ret, text, length + 1);
		return;
	}
	while (limit > 0 && !fx_utf8_is_clean(text, limit))
		limit--;
	memcpy(ret, text, limit);
	memcpy(ret + limit, more, sizeof(more));
}

/* Where archives of several hosts were merged, names of processes end in theirs. */
static const char *title_host(const struct fx_process *process)
{
	const char *host = process->name ? strrchr(process->name->data, '@') : NULL;

	return host && host[1] ? host : NULL;
}

static void title_add(char ret[FX_TITLE_MAX], const char *text)
{
	size_t length = strlen(ret), more = strlen(text);

	if (length + more + 1 < FX_TITLE_MAX)
		snprintf(ret + length, FX_TITLE_MAX - length, " %s", text);
}

/* A name is a line. */
static void title_straighten(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = ' ';
	}
}

bool fx_title_of(const struct fx_process *process, char ret[FX_TITLE_MAX])
{
	const struct fx_text *title = process->about[FX_ABOUT_TITLE];
	const struct fx_text *command = process->about[FX_ABOUT_COMMAND];

	if (title)
		title_copy(ret, title->data);
	else if (command)
		title_copy(ret, title_program(command->data));
	else if (process->name)
		title_copy(ret, process->name->data);
	else
		return false;
	if ((title || command) && title_host(process))
		title_add(ret, title_host(process));
	title_straighten(ret);
	return true;
}
