/* SPDX-License-Identifier: MIT */
#include "symbols/patterns.h"

#include <fnmatch.h>
#include <stdlib.h>
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

/* The levels of calls that it says something of. */
static bool has_levels(char sign)
{
	return sign == '+' || sign == '>';
}

#define DEPTH_WORD "+depth="

/* The last of them: names have a plus, too. */
static char *depth_word(char *text)
{
	char *last = NULL;

	for (char *p = text; (p = strstr(p, DEPTH_WORD)); p++)
		last = p;
	return last;
}

/* 0: it is no number of levels. */
static uint16_t levels_of(const char *text)
{
	char *end;
	unsigned long levels = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

	return levels && !*end && levels <= FX_LEVELS_MAX ? (uint16_t)levels : 0;
}

static void levels_split(struct fx_pattern *ret)
{
	char *at = has_levels(ret->sign) ? depth_word(ret->text) : NULL;

	ret->levels = ret->sign == '>' ? FX_LEVELS_ALL : 0;
	if (!at)
		return;
	ret->levels = levels_of(at + strlen(DEPTH_WORD));
	*at = 0;
}

/* A number and nothing else. False: it is none. */
static bool pattern_number(const char *text, uint64_t *ret)
{
	char *end;

	*ret = 0;
	if (*text < '0' || *text > '9')
		return false;
	*ret = strtoull(text, &end, 10);
	return !*end;
}

static void number_split(struct fx_pattern *ret)
{
	char *at = ret->sign == '~' ? strrchr(ret->text, '=') : NULL;

	ret->number = 0;
	if (at) {
		pattern_number(at + 1, &ret->number);
		*at = 0;
	} else if (ret->sign == '#' || ret->sign == '!') {
		pattern_number(ret->text, &ret->number);
	}
}

/* A file's name has no slash. */
static void suppressed_split(struct fx_pattern *ret)
{
	char *slash = strchr(ret->text, '/');

	ret->module = slash ? ret->text : "";
	ret->name = slash ? slash + 1 : ret->text;
	if (slash)
		*slash = 0;
}

static void pattern_split(struct fx_pattern *ret)
{
	char *at = is_of_values(ret->sign) ? strrchr(ret->text, '@') : NULL, *colon;

	levels_split(ret);
	number_split(ret);
	ret->specs = NULL;
	ret->source = NULL;
	if (at) {
		*at = 0;
		ret->specs = at + 1;
	}
	ret->module = "";
	ret->name = ret->text;
	if (ret->sign == '^') {
		suppressed_split(ret);
		return;
	}
	if (*ret->text == '@' && !is_of_values(ret->sign)) {
		ret->source = ret->text + 1;
		return;
	}
	colon = module_end(ret->text);
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
	if (depth_word(p.text) && !has_levels(sign))
		return "+depth=N is of --filter and --when";
	if (depth_word(p.text) && !levels_of(depth_word(p.text) + strlen(DEPTH_WORD)))
		return "no number between 1 and 503 behind +depth=";
	pattern_split(&p);
	if (p.source && !*p.source)
		return "no name of source files behind the @";
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

/* Without a slash it means the name, else the path or the end of it behind any folder. */
static bool source_matches(const char *glob, const char *source)
{
	bool is_name = !strchr(glob, '/');

	for (const char *at = source; at; at = *at ? strchr(at + 1, '/') : NULL) {
		const char *part = at == source ? at : at + 1;

		if ((!is_name || !strchr(part, '/')) && fnmatch(glob, part, 0) == 0)
			return true;
	}
	return false;
}

bool fx_pattern_matches(const struct fx_pattern *p, const struct fx_pattern_subject *function)
{
	const char *module = function->module, *name = function->name;
	char bare[FX_PATTERN_MAX];
	size_t length = without_parameters(name);

	if (p->sign == '^')
		return module && strcmp(p->module, module) == 0 && strcmp(p->name, name) == 0;
	if (p->source)
		return source_matches(p->source, function->source);
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

/* A line that means the function. */
static void verdict_take(struct fx_pattern_verdict *verdict, const struct fx_pattern *p)
{
	switch (p->sign) {
	case '-':
		verdict->out = true;
		break;
	case '+':
		if (p->levels)
			verdict->kept = p->levels;
		else
			verdict->chosen = true;
		break;
	case '>':
		verdict->inside = p->levels;
		break;
	case '~':
		verdict->has_min = true;
		verdict->min_ns = p->number;
		break;
	}
}

struct fx_pattern_verdict fx_patterns_judge(const char *list,
					    const struct fx_pattern_subject *function)
{
	struct fx_pattern_verdict verdict = {.out = false};
	bool chooses = false, keeps = false;
	uint16_t suppressed = 0;
	struct fx_pattern p;

	while (fx_pattern_next(&list, &p)) {
		chooses |= p.sign == '+';
		keeps |= p.sign == '+' && p.levels;
		suppressed += p.sign == '^';
		if (p.sign == '#')
			verdict.out |= function->size && function->size < p.number;
		else if (p.sign == '^' && fx_pattern_matches(&p, function))
			verdict.suppressed = suppressed;
		else if (!is_of_values(p.sign) && fx_pattern_matches(&p, function))
			verdict_take(&verdict, &p);
	}
	verdict.out |= verdict.suppressed != 0;
	verdict.chosen |= !chooses;
	verdict.spare =
	    !verdict.inside && !verdict.kept && (verdict.out || (!verdict.chosen && !keeps));
	return verdict;
}

bool fx_patterns_need_sources(const char *list)
{
	struct fx_pattern p;

	while (list && fx_pattern_next(&list, &p)) {
		if (p.source)
			return true;
	}
	return false;
}

bool fx_patterns_nest(const char *list)
{
	struct fx_pattern p;

	while (list && fx_pattern_next(&list, &p)) {
		if (p.sign == '>' || (p.sign == '+' && p.levels))
			return true;
	}
	return false;
}

bool fx_patterns_scope(const char *list)
{
	struct fx_pattern p;
	bool has_when = false;

	while (list && fx_pattern_next(&list, &p)) {
		if (p.sign == '+' && p.levels)
			return false;
		has_when |= p.sign == '>';
	}
	return has_when;
}
