/* SPDX-License-Identifier: MIT */
#include "preload/host/variables.h"

#include <string.h>
#include <unistd.h>

static fx_strings at_first;

void fx_environ_begin(fx_strings given)
{
	at_first = given;
}

bool fx_environ_is_first(fx_strings environment)
{
	return environment == at_first;
}

fx_strings fx_environ_now(void)
{
	return environ ? environ : at_first;
}

const char *fx_environ_value(const char *name)
{
	size_t length = strlen(name);

	for (fx_strings e = fx_environ_now(); e && *e; e++)
		if (strncmp(*e, name, length) == 0 && (*e)[length] == '=')
			return *e + length + 1;
	return NULL;
}
