/* SPDX-License-Identifier: MIT */
#include "manager/settings/functions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/messages.h"
_Static_assert(FX_FUNCTION_GLOB_MAX == FX_PATTERN_MAX, "a message has room for a pattern");

const char *fx_functions_check_glob(char sign, const char *glob)
{
	return fx_pattern_check(sign, glob);
}

bool fx_functions_are_sound(const char *list)
{
	struct fx_pattern p;

	while (*list) {
		if (!fx_pattern_next(&list, &p) || !*p.name)
			return false;
	}
	return true;
}

bool fx_functions_choose(const char *list)
{
	return fx_patterns_have(list, FX_PATTERN_CHOICES);
}

bool fx_functions_spare(const char *list)
{
	return fx_patterns_have(list, "+-#!^");
}

void fx_functions_options(const char *list, char *ret, size_t size)
{
	static const struct {
		const char *signs, *name;
	} options[] = {
	    {"+-", "--filter"},	 {"+-", "--no-trace"},	   {">", "--when"},
	    {"#", "--min-size"}, {"!", "--auto-suppress"},
	};
	const char *names[sizeof(options) / sizeof(options[0])] = {NULL};
	size_t count = 0, used = 0;

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (fx_patterns_have(list, options[i].signs))
			names[count++] = options[i].name;
	}
	*ret = 0;
	for (size_t i = 0; i < count && used < size; i++) {
		const char *before = i == 0 ? "" : i + 1 == count ? " or " : ", ";

		used += (size_t)snprintf(ret + used, size - used, "%s%s", before, names[i]);
	}
}

bool fx_functions_have_values(const char *list)
{
	return fx_patterns_have(list, "(=");
}

bool fx_functions_have_when(const char *list)
{
	return fx_patterns_have(list, ">");
}

bool fx_functions_nest(const char *list)
{
	return fx_patterns_nest(list);
}

bool fx_functions_scope(const char *list)
{
	return fx_patterns_scope(list);
}

bool fx_functions_wanted(const char *list, const struct fx_pattern_subject *function)
{
	struct fx_pattern_verdict verdict = fx_patterns_judge(list, function);

	return !verdict.out && !verdict.spare;
}

struct fx_pattern_verdict fx_functions_judge(const char *list,
					     const struct fx_pattern_subject *function)
{
	return fx_patterns_judge(list, function);
}

bool fx_functions_have_min(const char *list)
{
	return fx_patterns_have(list, "~");
}

uint64_t fx_functions_min(const char *list, uint64_t others)
{
	struct fx_pattern p;

	while (list && fx_pattern_next(&list, &p)) {
		if (p.sign == '~' && p.number < others)
			others = p.number;
	}
	return others;
}

bool fx_functions_have_only(const char *list, const char *signs)
{
	struct fx_pattern p;

	while (fx_pattern_next(&list, &p)) {
		if (!strchr(signs, p.sign))
			return false;
	}
	return true;
}

char *fx_functions_with(const char *list, const char *other, const char *signs)
{
	size_t used = strlen(list);
	char *ret = malloc(used + (other ? strlen(other) : 0) + 1);

	if (!ret)
		return NULL;
	memcpy(ret, list, used + 1);
	while (other && *other) {
		size_t length = strcspn(other, "\n") + 1;

		if (strchr(signs, *other)) {
			memcpy(ret + used, other, length);
			used += length;
			ret[used] = 0;
		}
		other += length;
	}
	return ret;
}

uint32_t fx_functions_crowd_share(const char *list)
{
	struct fx_pattern p;

	while (list && fx_pattern_next(&list, &p)) {
		if (p.sign == '!')
			return (uint32_t)p.number;
	}
	return 0;
}

bool fx_functions_know_some(const char *list)
{
	return fx_patterns_have(list, "+-#(=^>");
}

bool fx_functions_need_sources(const char *list)
{
	return fx_patterns_need_sources(list);
}

struct fx_function_scope fx_functions_outside(const char *list)
{
	return (struct fx_function_scope){
	    .inside = fx_patterns_have(list, ">") ? 0 : FX_LEVELS_ALL,
	};
}

static void level_take(uint16_t *levels)
{
	*levels -= *levels && *levels != FX_LEVELS_ALL;
}

bool fx_functions_enter(const struct fx_pattern_verdict *verdict, uint32_t max_levels,
			struct fx_function_scope *scope)
{
	bool chosen, recorded;

	if (verdict->inside == FX_LEVELS_ALL && max_levels)
		scope->inside = (uint16_t)max_levels;
	else if (verdict->inside)
		scope->inside = verdict->inside;
	if (verdict->kept)
		scope->kept = verdict->kept;
	chosen = !verdict->out && (verdict->chosen || scope->kept);
	recorded = chosen && scope->inside;
	if (!verdict->out)
		level_take(&scope->kept);
	if (chosen)
		level_take(&scope->inside);
	return recorded;
}
