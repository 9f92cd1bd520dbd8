/* SPDX-License-Identifier: MIT */
#include "kernel/call-table.h"

#include <asm/unistd.h>
#include <stddef.h>

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
