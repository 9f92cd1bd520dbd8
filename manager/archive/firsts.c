/* SPDX-License-Identifier: MIT */
#include "manager/archive/firsts.h"

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "format/encode.h"

static const struct {
	const char *function;
	const char *name;
	enum fxt_arg_type type;
} firsts[] = {
#define FX_FIRST(function, name, type) {function, name, FXT_ARG_##type},
#include "manager/archive/firsts.inc"
#undef FX_FIRST
};

static struct fxt_arg first_of(enum fxt_arg_type type, const char *name, uint64_t key)
{
	struct fxt_arg arg = {.type = type, .name = fx_string_inline(name, strlen(name))};

	if (type == FXT_ARG_INT32)
		arg.int32 = (int32_t)key;
	else
		arg.uint64 = key;
	return arg;
}

bool fx_first_arg(const char *function, uint64_t key, struct fxt_arg *ret)
{
	for (size_t i = 0; i < FX_ARRAY_LEN(firsts); i++) {
		if (strcmp(firsts[i].function, function) == 0) {
			*ret = first_of(firsts[i].type, firsts[i].name, key);
			return true;
		}
	}
	return false;
}
