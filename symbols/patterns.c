/* SPDX-License-Identifier: MIT */
#include "symbols/patterns.h"

#include <fnmatch.h>
#include <string.h>

#include "symbols/recipes/wish.h"

/* The colon behind a module: alone, and not at the beginning. NULL: there is none. */
static char *module_end(char *text)
{
	for (char *p = text; (p = strchr(p, ':')); p += strspn(p, ":")) {
		if (p[1] != ':' && p > text)
			return p;
	}
	return NULL;
}

/* Values are wanted of what matches. */
static bool is_of_values(char sign)
{
	return sign == '(' || sign == '=';
}

static void pattern_split(struct fx_pattern *ret)
{
	char *at = is_of_values(ret->sign) ? strrchr(ret->text, '@') : NULL, *colon;

	ret->specs = NULL;
	if (at) {
		*at = 0;
		ret->specs = at + 1;
	}
	colon = module_end(ret->text);
	ret->module = "";
	ret->name = ret->text;
	if (!colon)
		return;
	*colon = 0;
	ret->module = ret->text;
	ret->name = colon + 1;
}

bool fx_pattern_next(const char **list, struct fx_pattern *ret)
{
	const char *end = strchr(*list, '\n');
	size_t length = end ? (size_t)(end - *list) : 0;

	if (length < 2 || length > sizeof(ret->text) || !strchr(FX_PATTERN_SIGNS, **list))
		return false;
	ret->sign = **list;
	memcpy(ret->text, *list + 1, length - 1);
	ret->text[length - 1] = 0;
	pattern_split(ret);
	*list = end + 1;
	return true;
}

const char *fx_pattern_check(char sign, const char *text)
{
	struct fx_pattern p = {.sign = sign};

	if (!*text)
		return "no name of functions";
	if (strlen(text) >= sizeof(p.text))
		return "longer than any name of a function";
	if (strchr(text, '\n'))
		return "more than one line";
	strcpy(p.text, text);
	pattern_split(&p);
	if (!*p.name)
		return *p.module ? "no name of functions behind the module"
				 : "no name of functions";
	if (p.specs && !fx_wishes_are_sound(p.specs))
		return "no list as `arg1/s,arg2/i32,retval' behind the @";
	return NULL;
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

bool fx_pattern_matches(const struct fx_pattern *p, const char *module, const char *name)
{
	char bare[FX_PATTERN_MAX];
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

bool fx_patterns_have(const char *list, const char *signs)
{
	struct fx_pattern p;

	while (list && fx_pattern_next(&list, &p)) {
		if (strchr(signs, p.sign))
			return true;
	}
	return false;
}

bool fx_patterns_allow(const char *list, const char *module, const char *name)
{
	bool chosen = false, chooses = false;
	struct fx_pattern p;

	while (fx_pattern_next(&list, &p)) {
		bool matches =
		    (p.sign == '-' || p.sign == '+') && fx_pattern_matches(&p, module, name);

		if (p.sign == '-' && matches)
			return false;
		chooses |= p.sign == '+';
		chosen |= p.sign == '+' && matches;
	}
	return chosen || !chooses;
}
