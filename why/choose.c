/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "why/why-internal.h"

static bool choose_passes(const struct fx_why *why, size_t thread)
{
	const struct fx_filter filter = {.processes = why->order->processes,
					 .threads = why->order->threads};

	return why->past.lives[thread].begin != UINT64_MAX &&
	       fx_filter_thread(&filter, why->timeline->threads.items[thread]);
}

static uint64_t choose_length(const struct fx_why *why, size_t thread)
{
	return why->past.lives[thread].end - why->past.lives[thread].begin;
}

/* The thread that was there longest; FX_WHY_NOBODY: none passes. */
static uint32_t choose_longest(struct fx_why *why)
{
	uint32_t found = FX_WHY_NOBODY;

	for (size_t i = 0; i < why->timeline->threads.count; i++) {
		if (!choose_passes(why, i))
			continue;
		why->others += found != FX_WHY_NOBODY;
		if (found == FX_WHY_NOBODY || choose_length(why, i) > choose_length(why, found))
			found = (uint32_t)i;
	}
	return found;
}

/* The process that began first. */
static const struct fx_process *choose_process(const struct fx_why *why)
{
	const struct fx_process *found = NULL;
	uint64_t begin = UINT64_MAX;

	for (size_t i = 0; i < why->timeline->threads.count; i++) {
		if (choose_passes(why, i) && why->past.lives[i].begin < begin) {
			begin = why->past.lives[i].begin;
			found = why->timeline->threads.items[i]->process;
		}
	}
	return found;
}

/* The first thread of a process, unless it is gone before others: then the last of those. */
static uint32_t choose_of_process(const struct fx_why *why, const struct fx_process *process)
{
	uint32_t found = FX_WHY_NOBODY, main_thread = FX_WHY_NOBODY;

	for (size_t i = 0; i < why->timeline->threads.count; i++) {
		const struct fx_thread *thread = why->timeline->threads.items[i];

		if (thread->process != process || why->past.lives[i].begin == UINT64_MAX)
			continue;
		if (thread->key.tid == thread->key.pid)
			main_thread = (uint32_t)i;
		else if (found == FX_WHY_NOBODY ||
			 why->past.lives[i].end > why->past.lives[found].end)
			found = (uint32_t)i;
	}
	if (main_thread == FX_WHY_NOBODY)
		return found;
	if (found != FX_WHY_NOBODY && why->past.lives[main_thread].exits > 0 &&
	    why->past.lives[found].end > why->past.lives[main_thread].exits)
		return found;
	return main_thread;
}

/* A time since the first event, as the archive has it. */
static uint64_t choose_moment(const struct fx_why *why, uint64_t since)
{
	uint64_t first = why->timeline->first_ts;

	return since < UINT64_MAX - first ? first + since : UINT64_MAX;
}

static bool choose_slice_passes(const struct fx_why *why, const struct fx_why_slice *slice)
{
	return choose_passes(why, slice->thread) &&
	       slice->begin >= choose_moment(why, why->order->from) &&
	       slice->begin <= choose_moment(why, why->order->to);
}

static int choose_slice(struct fx_why *why, const char **ret_wrong)
{
	const struct fx_why_slice *slice;
	uint64_t number = 0, longest = 0;
	struct fx_merge merge;
	bool found = false;
	int r = fx_merge_begin(&merge, &why->past.slices);

	if (r < 0)
		return r;
	slice = fx_merge_first(&merge);
	for (; slice; slice = fx_merge_next(&merge)) {
		if (!choose_slice_passes(why, slice))
			continue;
		number++;
		why->others = number - 1;
		if (why->order->number > 0 ? number != why->order->number
					   : found && slice->end - slice->begin <= longest)
			continue;
		found = true;
		longest = slice->end - slice->begin;
		why->thread = (uint32_t)slice->thread;
		why->from = slice->begin;
		why->to = slice->end;
	}
	r = merge.error;
	fx_merge_end(&merge);
	if (r < 0 || found)
		return r;
	*ret_wrong = number > 0 ? "there are not so many slices of this name"
				: "there is no slice of this name";
	return -ENOENT;
}

static int choose_range(struct fx_why *why, const char **ret_wrong)
{
	const struct fx_why_life *life = &why->past.lives[why->thread];
	uint64_t to = choose_moment(why, why->order->to);

	why->from = why->order->is_from_given ? choose_moment(why, why->order->from) : life->begin;
	why->to = to < life->end ? to : life->end;
	if (why->from < why->to)
		return 0;
	*ret_wrong = why->order->is_from_given || why->order->to != UINT64_MAX
			 ? "nothing of it lies between --from and --to"
			 : "nothing that takes time is recorded of it";
	return -ENOENT;
}

int fx_why_choose(struct fx_why *why, const char **ret_wrong)
{
	const struct fx_process *process;

	why->is_empty = true;
	for (size_t i = 0; i < why->timeline->threads.count; i++)
		why->is_empty &= why->past.lives[i].begin == UINT64_MAX;
	if (why->is_empty)
		return 0;
	if (why->order->slice)
		return choose_slice(why, ret_wrong);
	if (why->order->threads.count > 0) {
		why->thread = choose_longest(why);
	} else {
		process = choose_process(why);
		why->thread = process ? choose_of_process(why, process) : FX_WHY_NOBODY;
	}
	if (why->thread == FX_WHY_NOBODY) {
		*ret_wrong = "there is no such thread or process";
		return -ENOENT;
	}
	return choose_range(why, ret_wrong);
}
