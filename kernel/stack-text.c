/* SPDX-License-Identifier: MIT */
#include "kernel/stack-text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kallsyms.h"
#include "kernel/unwind.h"
#include "symbols/store.h"
#include "symbols/symbols.h"

/* A line of a stack for what the kernel does on a thread's behalf; and how those of its functions end, as flame graphs have it. */
#define KERNEL_LINE   "[kernel]"
#define KERNEL_SUFFIX "_[k]"

/* No line begins behind so many bytes of text. */
#define STACK_TEXT_MAX 16000u

struct fx_stack_text {
	struct fx_kallsyms *kernel; /* NULL: not read yet, or not shown */
	bool is_kernel_read;
	char folder[FX_STORE_PATH_MAX]; /* where its names are kept; "" nowhere */
	size_t length;			/* of the text */
	char text[STACK_TEXT_MAX + FX_SYMBOL_TEXT_MAX + sizeof(KERNEL_SUFFIX) + 1];
};

struct fx_stack_text *fx_stack_text_create(const char *folder)
{
	struct fx_stack_text *t = calloc(1, sizeof(*t));

	if (t && folder)
		snprintf(t->folder, sizeof(t->folder), "%s", folder);
	return t;
}

void fx_stack_text_destroy(struct fx_stack_text *t)
{
	if (!t)
		return;
	fx_kallsyms_free(t->kernel);
	free(t);
}

/* Where the next line goes; there is room for any. */
static char *line_begin(struct fx_stack_text *t)
{
	if (t->length)
		t->text[t->length++] = '\n';
	return t->text + t->length;
}

static void line_add(struct fx_stack_text *t, const char *line)
{
	t->length += strlen(strcpy(line_begin(t), line));
}

static void frame_add(struct fx_stack_text *t, const struct fx_space *space,
		      struct fx_symspace *names, uint64_t address)
{
	const struct fx_mapping *mapping = fx_space_find(space, address);
	struct fx_symbol symbol;

	if (!mapping || !mapping->image)
		fx_symspace_want_made(names, address);
	fx_symspace_resolve(names, address, &symbol);
	if (mapping && mapping->image && fx_image_facts(mapping->image)->is_vdso)
		symbol.module = "[vdso]";
	if (symbol.kind == FX_SYMBOL_NAMED)
		line_add(t, symbol.name);
	else
		t->length += fx_symbol_format(&symbol, line_begin(t), FX_SYMBOL_TEXT_MAX);
}

static const char *kernel_name(struct fx_stack_text *t, uint64_t address)
{
	if (!t->is_kernel_read)
		t->kernel = fx_kallsyms_read(NULL, t->folder[0] ? t->folder : NULL);
	t->is_kernel_read = true;
	return t->kernel ? fx_kallsyms_find(t->kernel, address) : NULL;
}

/* The kernel's functions; what has no name, or may not be seen, is one line for all. */
static void kernel_add(struct fx_stack_text *t, const struct fx_caught *sample)
{
	for (uint64_t i = 0; i < sample->kernel_count && t->length < STACK_TEXT_MAX; i++) {
		const char *name =
		    sample->kernel[i] < FX_KERNEL_MARK ? kernel_name(t, sample->kernel[i]) : NULL;

		if (!name)
			continue;
		line_add(t, name);
		t->length += strlen(strcpy(t->text + t->length, KERNEL_SUFFIX));
	}
	if (t->length == 0)
		line_add(t, KERNEL_LINE);
}

const char *fx_stack_text_write(struct fx_stack_text *t, struct fx_space *space,
				struct fx_symspace *names, const struct fx_caught *sample,
				size_t *ret_length)
{
	uint64_t frames[FX_UNWIND_MAX];
	unsigned count = 0;
	bool whole;

	t->length = 0;
	if (sample->in_kernel)
		kernel_add(t, sample);
	if (!sample->in_kernel || sample->registers)
		count = fx_unwind(space, sample, frames, &whole);
	for (unsigned i = 0; i < count && t->length < STACK_TEXT_MAX; i++)
		frame_add(t, space, names, frames[i]);
	*ret_length = t->length;
	return t->text;
}
