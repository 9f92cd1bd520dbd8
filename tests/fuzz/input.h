/* SPDX-License-Identifier: MIT */
/*
 * A fuzzer's input, read from its beginning as numbers and bytes. What is beyond its end is zero.
 */
#ifndef FX_TESTS_FUZZ_INPUT_H
#define FX_TESTS_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct input {
	const uint8_t *at, *end;
};

static inline bool input_is_over(const struct input *in)
{
	return in->at == in->end;
}

/* Takes at most `size` bytes, zeroes for those that are not there. Returns how many were. */
static inline size_t input_take(struct input *in, void *ret, size_t size)
{
	size_t there = (size_t)(in->end - in->at);

	memset(ret, 0, size);
	if (there > size)
		there = size;
	memcpy(ret, in->at, there);
	in->at += there;
	return there;
}

static inline uint8_t input_u8(struct input *in)
{
	uint8_t value;

	input_take(in, &value, sizeof(value));
	return value;
}

static inline uint16_t input_u16(struct input *in)
{
	uint16_t value;

	input_take(in, &value, sizeof(value));
	return value;
}

static inline uint64_t input_u64(struct input *in)
{
	uint64_t value;

	input_take(in, &value, sizeof(value));
	return value;
}

/* 0 .. limit-1 */
static inline uint32_t input_below(struct input *in, uint32_t limit)
{
	return limit <= 256 ? input_u8(in) % limit : input_u16(in) % limit;
}

#endif /* FX_TESTS_FUZZ_INPUT_H */
