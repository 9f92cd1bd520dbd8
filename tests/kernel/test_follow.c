/* SPDX-License-Identifier: MIT */
/* Programs that follow a process: they are whole, in the first pid namespace and in another; and where the kernel has what they read,
 * by its own description, whole and cut. */
#include "kernel/follow-code.h"
#include "kernel/follow-point.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>

/* A jump whose end is unknown, or a program that has no room, would not be loaded. */
static void code_check(const struct fx_insns *code)
{
	cr_assert_lt(code->count, FX_INSNS_MAX);
	cr_expect_eq(code->list[code->count - 1].code, BPF_JMP | BPF_EXIT);
	for (unsigned i = 0; i + 1 < code->count; i++) {
		const struct bpf_insn *insn = &code->list[i];

		if (BPF_CLASS(insn->code) == BPF_JMP)
			cr_expect_lt(i + (unsigned)insn->off, code->count - 1);
	}
}

Test(follow, programs_are_whole)
{
	struct fx_tracepoints points = {.sets = 0};
	struct fx_follow_terms terms = {
	    .maps = {1, 2, 3, 4, 5, 6, 7}, .points = &points, .stack_bytes = 16384};
	struct fx_insns code;
	unsigned programs = 0;

	for (unsigned i = 0; i < FX_FIELD_COUNT; i++)
		points.fields[i] = (struct fx_tracepoint_place){8, 8, 1, false};
	for (unsigned is_other = 0; is_other < 2; is_other++) {
		terms.inode = is_other;
		for (unsigned i = 0; i < FX_TRACEPOINT_COUNT; i++) {
			int r = fx_follow_code(&terms, i, &code);

			cr_assert(r == 0 || r == -ENOTSUP);
			if (r < 0)
				continue;
			programs++;
			code_check(&code);
		}
	}
	cr_expect_eq(programs, 12);
}

/* A record may be longer than its fields, and no longer than there is room for. */
Test(follow, programs_of_points_are_whole)
{
	const struct fx_follow_terms terms = {.maps = {1, 2, 3, 4, 5, 6, 7}};
	const struct fx_point_shape shapes[] = {
	    {.size = 8},
	    {.size = FX_FOLLOW_RECORD_MAX},
	    {24, {{8, false}, {12, true}}, 2, false},
	    {.size = 64, .is_cut = true},
	};
	struct fx_point_shape large = {.size = FX_FOLLOW_RECORD_MAX + 1};
	struct fx_insns code;

	for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		cr_expect_eq(fx_follow_point_code(&terms, 7, &shapes[i], &code), 0);
		code_check(&code);
	}
	cr_expect_eq(fx_follow_point_code(&terms, 7, &large, &code), -E2BIG);
}

/* --- Where the kernel has it ---------------------------------------------------------------------- */

/* A description as the kernel has one: names are offsets into `texts'. */
struct description {
	uint8_t bytes[512];
	size_t size;
};

static uint32_t text_of(const char *texts, size_t size, const char *text)
{
	for (size_t i = 0; i < size; i += strlen(texts + i) + 1) {
		if (strcmp(texts + i, text) == 0)
			return (uint32_t)i;
	}
	return 0;
}

static void description_put(struct description *d, const void *what, size_t size)
{
	memcpy(d->bytes + d->size, what, size);
	d->size += size;
}

/* What is in front of the threads has a tail of its own; places are in bits. */
static void description_make(struct description *d)
{
	static const char texts[] =
	    "\0int\0thread_info\0flags\0cpu\0task_struct\0pid\0stack\0state";
#define TEXT_(text)	   text_of(texts, sizeof(texts), text)
#define KIND_(kind, count) ((uint32_t)(kind) << 24 | (count))
	const struct btf_type number = {TEXT_("int"), KIND_(BTF_KIND_INT, 0), {4}},
			      info = {TEXT_("thread_info"), KIND_(BTF_KIND_STRUCT, 2), {8}},
			      sizes = {TEXT_("flags"), KIND_(19, 2), {8}},
			      task = {TEXT_("task_struct"),
				      UINT32_C(1) << 31 | KIND_(BTF_KIND_STRUCT, 3),
				      {64}};
	const struct btf_member in_info[] = {{TEXT_("flags"), 1, 0}, {TEXT_("cpu"), 1, 32}},
				in_task[] = {{TEXT_("thread_info"), 2, 8 * 8},
					     {TEXT_("stack"), 1, 24 * 8},
					     {TEXT_("pid"), 1, 40 * 8 | 32u << 24}};
	struct btf_header header = {.magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(header)};

	d->size = sizeof(header);
	description_put(d, &number, sizeof(number));
	description_put(d, "\0\0\0", 4);
	description_put(d, &info, sizeof(info));
	description_put(d, in_info, sizeof(in_info));
	description_put(d, &sizes, sizeof(sizes));
	d->size += 24;
	description_put(d, &task, sizeof(task));
	description_put(d, in_task, sizeof(in_task));
	header.type_len = (uint32_t)(d->size - sizeof(header));
	header.str_off = header.type_len;
	header.str_len = sizeof(texts);
	memcpy(d->bytes, &header, sizeof(header));
	description_put(d, texts, sizeof(texts));
}

Test(follow, layout)
{
	struct description d = {.size = 0};
	struct fx_task_layout layout;

	description_make(&d);
	cr_assert_eq(fx_task_layout_find(d.bytes, d.size, &layout), 0);
	cr_expect_eq(layout.tid, 40);
	cr_expect_eq(layout.stack, 24);
	cr_expect_eq(layout.cpu, 8 + 4);
	for (size_t cut = 0; cut < d.size; cut++)
		cr_expect_eq(fx_task_layout_find(d.bytes, cut, &layout), -EBADMSG);
}

/* Whatever stands there, nothing beyond it is read. */
Test(follow, layout_of_anything)
{
	struct description d = {.size = 0}, other;
	struct fx_task_layout layout;

	description_make(&d);
	for (size_t i = 0; i < d.size; i++) {
		for (unsigned value = 0; value < 256; value += 51) {
			other = d;
			other.bytes[i] = (uint8_t)value;
			fx_task_layout_find(other.bytes, other.size, &layout);
		}
	}
}
