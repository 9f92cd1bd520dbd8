/* SPDX-License-Identifier: MIT */
/* Machines whose instructions are not known here: nothing can be told of their functions' values. */
#include "symbols/recipes/step.h"

#if !defined(__x86_64__)

bool fx_step_is_known(void)
{
	return false;
}

void fx_step(struct fx_state *s, const uint8_t *code, size_t size, uint64_t pc, struct fx_step *ret)
{
	(void)s;
	(void)code;
	(void)size;
	*ret = (struct fx_step){.kind = FX_STEP_STUCK, .next = pc};
}

void fx_step_call_over(struct fx_state *s)
{
	for (unsigned i = 0; i < FX_STATE_REGISTERS; i++)
		fx_state_set(s, i, FX_NODE_UNKNOWN, 8);
}

bool fx_step_is_kept(unsigned number)
{
	(void)number;
	return false;
}

int fx_step_argument(unsigned index)
{
	(void)index;
	return -1;
}

int fx_step_vector_argument(unsigned index)
{
	(void)index;
	return -1;
}

int fx_step_result(unsigned index)
{
	(void)index;
	return -1;
}

int fx_step_vector_result(unsigned index)
{
	(void)index;
	return -1;
}

unsigned fx_step_stack_register(void)
{
	return 31;
}

unsigned fx_step_frame_register(void)
{
	return 29;
}

int64_t fx_step_stack_above(void)
{
	return 0;
}

bool fx_step_is_call(const uint8_t *code, size_t size, uint64_t pc, struct fx_step *ret)
{
	(void)code;
	(void)size;
	*ret = (struct fx_step){.kind = FX_STEP_STUCK, .next = pc};
	return false;
}

bool fx_step_is_stub(const uint8_t *code, size_t size, uint64_t pc, uint64_t *ret_slot)
{
	(void)code;
	(void)size;
	*ret_slot = pc;
	return false;
}

#endif
