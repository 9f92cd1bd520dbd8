/* SPDX-License-Identifier: MIT */
#include "manager/settings/functions.h"

#include "protocol/messages.h"
#include "symbols/patterns.h"

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
	return fx_patterns_have(list, "+-");
}

bool fx_functions_have_values(const char *list)
{
	return fx_patterns_have(list, "(=");
}

bool fx_functions_wanted(const char *list, const char *module, const char *name)
{
	return fx_patterns_allow(list, module, name);
}
