/* SPDX-License-Identifier: MIT */
#include "kernel/call-table.h"

#include <asm/unistd.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct fx_call_shape shapes[] = {
#define ARG(name, kind)		{#name, #kind},
#define CALL(name, count, args) [__NR_##name] = {#name, count, {args}},
#include "kernel/call-table.inc"
#undef CALL
#undef ARG
};

const struct fx_call_shape *fx_call_shape(int64_t number)
{
	const size_t count = sizeof(shapes) / sizeof(shapes[0]);

	return number >= 0 && (uint64_t)number < count && shapes[number].name ? &shapes[number]
									      : NULL;
}

const char *fx_call_name(int64_t number)
{
	const struct fx_call_shape *shape = fx_call_shape(number);

	return shape ? shape->name : NULL;
}

static bool is_text_kind(const char *kind)
{
	static const char *const kinds[] = {"path", "late_path", "name", "text"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	}
	return false;
}

uint32_t fx_call_texts(int64_t number)
{
	const struct fx_call_shape *shape = fx_call_shape(number);
	uint32_t texts = 0;

	for (unsigned i = 0; shape && i < shape->count && i < FX_CALL_TEXT_ARGS; i++)
		texts |= (uint32_t)is_text_kind(shape->args[i].kind) << i;
	return texts;
}
