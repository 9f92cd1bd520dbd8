/* SPDX-License-Identifier: MIT */
/* Stacks of samples as text: functions in lines, the innermost first, those of the kernel before the process's own. */
#ifndef FX_KERNEL_STACK_TEXT_H
#define FX_KERNEL_STACK_TEXT_H

#include <stddef.h>

#include "kernel/sample.h"
#include "kernel/space.h"

struct fx_stack_text;

/* Room for one of them, and the names of the kernel, which are kept in `folder' (kernel/kallsyms.h). NULL without memory. */
struct fx_stack_text *fx_stack_text_create(const char *folder);
void fx_stack_text_destroy(struct fx_stack_text *t);

/* The stack of a sample in `space', whose code has `names' (fx_space_names()). Valid until the next. */
const char *fx_stack_text_write(struct fx_stack_text *t, struct fx_space *space,
				struct fx_symspace *names, const struct fx_caught *sample,
				size_t *ret_length);

#endif
