/* SPDX-License-Identifier: MIT */
#include "manager/settings/functions.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "protocol/messages.h"

/* A pattern, and the module that it is for; "" any. */
struct pattern {
	char text[FX_FUNCTION_GLOB_MAX];
	const char *module, *name;
};

/* The colon behind a module: alone, and not at the beginning. NULL: there is none. */
static char *module_end(char *text)
{
	for (char *p = text; (p = strchr(p, ':')); p += strspn(p, ":")) {
		if (p[1] != ':' && p > text)
			return p;
	}
	return NULL;
}

static void pattern_split(struct pattern *ret)
{
	char *colon = module_end(ret->text);

	ret->module = "";
	ret->name = ret->text;
	if (!colon)
		return;
	*colon = 0;
	ret->module = ret->text;
	ret->name = colon + 1;
}

/* Takes the next line of the list, its sign too. false: there is none, or it is none. */
static bool pattern_next(const char **list, char *ret_sign, struct pattern *ret)
{
	const char *end = strchr(*list, '\n');
	size_t length = end ? (size_t)(end - *list) : 0;

	if (length < 2 || length > sizeof(ret->text) || (**list != '+' && **list != '-'))
		return false;
	*ret_sign = **list;
	memcpy(ret->text, *list + 1, length - 1);
	ret->text[length - 1] = 0;
	pattern_split(ret);
	*list = end + 1;
	return true;
}

const char *fx_functions_check_glob(const char *glob)
{
	struct pattern p;

	if (!*glob)
		return "no name of functions";
	if (strlen(glob) >= sizeof(p.text))
		return "longer than any name of a function";
	if (strchr(glob, '\n'))
		return "more than one line";
	strcpy(p.text, glob);
	pattern_split(&p);
	return *p.name ? NULL : "no name of functions behind the module";
}

bool fx_functions_are_sound(const char *list)
{
	struct pattern p;
	char sign;

	while (*list) {
		if (!pattern_next(&list, &sign, &p) || !*p.name)
			return false;
	}
	return true;
}

/* How much of a name stands before its parameters, and what is behind them (" const", " [clone .cold]"). */
static size_t without_parameters(const char *name)
{
	const char *close = strrchr(name, ')');
	unsigned depth = 0;

	for (const char *p = close; p && p > name; p--) {
		depth += *p == ')';
		depth -= *p == '(';
		if (depth == 0)
			return (size_t)(p - name);
	}
	return strlen(name);
}

static bool pattern_matches(const struct pattern *p, const char *module, const char *name)
{
	char bare[FX_FUNCTION_GLOB_MAX];
	size_t length = without_parameters(name);

	if (*p->module && (!module || fnmatch(p->module, module, 0) != 0))
		return false;
	if (fnmatch(p->name, name, 0) == 0)
		return true;
	if (length >= sizeof(bare))
		return false;
	memcpy(bare, name, length);
	bare[length] = 0;
	return fnmatch(p->name, bare, 0) == 0;
}

bool fx_functions_wanted(const char *list, const char *module, const char *name)
{
	bool chosen = false, chooses = false;
	struct pattern p;
	char sign;

	while (pattern_next(&list, &sign, &p)) {
		bool matches = pattern_matches(&p, module, name);

		if (sign == '-' && matches)
			return false;
		chooses |= sign == '+';
		chosen |= sign == '+' && matches;
	}
	return chosen || !chooses;
}
