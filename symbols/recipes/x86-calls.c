/* SPDX-License-Identifier: MIT */
/* What is in which register as a function is called, and which code calls one. */
#include "symbols/recipes/x86-internal.h"

#if defined(__x86_64__)

#include <string.h>

bool fx_step_is_kept(unsigned number)
{
	return number == RBX || number == RBP || number == RSP || (number >= 12 && number <= 15);
}

void fx_step_call_over(struct fx_state *s)
{
	for (unsigned i = 0; i < FX_STATE_REGISTERS; i++) {
		if (!fx_step_is_kept(i))
			fx_state_set(s, i, FX_NODE_UNKNOWN, 8);
	}
}

int fx_step_argument(unsigned index)
{
	static const int numbers[] = {RDI, RSI, RDX, RCX, R8, R9};

	return index < sizeof(numbers) / sizeof(numbers[0]) ? numbers[index] : -1;
}

int fx_step_vector_argument(unsigned index)
{
	return index < 8 ? (int)(X86_VECTOR + index) : -1;
}

int fx_step_result(unsigned index)
{
	return index == 0 ? RAX : index == 1 ? RDX : -1;
}

int fx_step_vector_result(unsigned index)
{
	return index < 2 ? (int)(X86_VECTOR + index) : -1;
}

bool fx_step_is_known(void)
{
	return true;
}

unsigned fx_step_stack_register(void)
{
	return RSP;
}

unsigned fx_step_frame_register(void)
{
	return RBP;
}

/* Behind the return address. */
int64_t fx_step_stack_above(void)
{
	return 8;
}

bool fx_step_is_call(const uint8_t *code, size_t size, uint64_t pc, struct fx_step *ret)
{
	size_t at = size > 2 && (code[0] & 0xf0) == 0x40 ? 1 : 0;
	unsigned mode, rm;

	*ret = (struct fx_step){.kind = FX_STEP_CALL};
	if (size >= 5 && code[0] == 0xe8) {
		int32_t distance;

		memcpy(&distance, code + 1, sizeof(distance));
		ret->next = pc + 5;
		ret->target = ret->next + (uint64_t)(int64_t)distance;
		return true;
	}
	if (size < at + 7 || code[at] != 0xff || (code[at + 1] >> 3 & 7) != 2)
		return false;
	mode = code[at + 1] >> 6;
	rm = code[at + 1] & 7;
	ret->next = pc + at + 2;
	if (mode == 3)
		return true;
	if (mode == 0 && rm == 5) {
		int32_t distance;

		memcpy(&distance, code + at + 2, sizeof(distance));
		ret->next += 4;
		ret->slot = ret->next + (uint64_t)(int64_t)distance;
		return true;
	}
	ret->next += (rm == 4) + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
	return mode != 0 || rm != 4 || (code[at + 2] & 7) != 5;
}

bool fx_step_is_stub(const uint8_t *code, size_t size, uint64_t pc, uint64_t *ret_slot)
{
	static const uint8_t begin[] = {0xf3, 0x0f, 0x1e, 0xfa}; /* endbr64 */
	size_t at = size > 4 && memcmp(code, begin, 4) == 0 ? 4 : 0;
	int32_t distance;

	if (at < size && code[at] == 0xf2) /* bnd */
		at++;
	if (at + 6 > size || code[at] != 0xff || code[at + 1] != 0x25)
		return false;
	memcpy(&distance, code + at + 2, sizeof(distance));
	*ret_slot = pc + at + 6 + (uint64_t)(int64_t)distance;
	return true;
}

#endif
