/* SPDX-License-Identifier: MIT */
#include "manager/archive/vthread-line.h"

#include <string.h>

/* An end that nothing is open at ends nothing. */
static uint32_t line_after(uint32_t open, bool is_end)
{
	if (!is_end)
		return open + 1;
	return open ? open - 1 : 0;
}

/* At least so many slices were open where what is kept begins: what has begun late may have ended late, too. */
static uint32_t line_open(const struct fx_vthread_line *line)
{
	if (line->late >= 0)
		return line->open;
	return (int64_t)line->open > -line->late ? (uint32_t)(line->open + line->late) : 0;
}

int fx_vthread_line_note(struct fx_vthread_line *line, uint64_t ns, bool is_end)
{
	uint64_t step = ns << 1 | is_end;
	size_t at;

	if (ns < line->folded) {
		line->late += is_end ? -1 : 1;
		return 0;
	}
	if (fx_vector_reserve(&line->steps, 1) < 0) {
		fx_vthread_line_clear(line);
		line->folded = UINT64_MAX;
		return -ENOMEM;
	}
	for (at = line->steps.count++; at && line->steps.items[at - 1] > step; at--)
		line->steps.items[at] = line->steps.items[at - 1];
	line->steps.items[at] = step;
	return 0;
}

uint64_t fx_vthread_line_fold_ns(const struct fx_vthread_line *line, size_t keep)
{
	return line->steps.count > keep ? line->steps.items[line->steps.count - keep - 1] >> 1
					: line->folded;
}

void fx_vthread_line_fold(struct fx_vthread_line *line, size_t keep)
{
	uint64_t *steps = line->steps.items;
	size_t count = line->steps.count > keep ? line->steps.count - keep : 0;

	line->folded = fx_vthread_line_fold_ns(line, keep);
	line->open = line_open(line);
	if (line->late < 0)
		line->late = 0;
	for (size_t i = 0; i < count; i++)
		line->open = line_after(line->open, steps[i] & 1);
	line->steps.count -= count;
	if (line->steps.count)
		memmove(steps, steps + count, line->steps.count * sizeof(*steps));
}

bool fx_vthread_line_is_open(const struct fx_vthread_line *line, uint64_t ns, bool all)
{
	uint32_t open = line_open(line), then;
	size_t i = 0;

	if (ns < line->folded)
		return false;
	for (; i < line->steps.count && line->steps.items[i] >> 1 <= ns; i++)
		open = line_after(open, line->steps.items[i] & 1);
	then = open;
	for (; !all && i < line->steps.count && open >= then; i++)
		open = line_after(open, line->steps.items[i] & 1);
	return all ? then > 0 : open < then;
}

void fx_vthread_line_clear(struct fx_vthread_line *line)
{
	fx_vector_free(&line->steps);
	line->open = 0;
	line->late = 0;
}
