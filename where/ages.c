/* SPDX-License-Identifier: MIT */
#include "where/ages.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <fxtrace/format.h>

#include "base/clock.h"
#include "engine/layout.h"
#include "preload/strings.h"

/* Smallest id of a frame that is the header of a record, and no function's address. */
#define HEADER_LEAST (UINT64_C(1) << 48)

/* What a process has mapped; 0: it has not. */
struct ages_memory {
	uint64_t buffer;
	enum fx_clock_kind clock;
	uint64_t slots;
};

struct fx_ages_clock fx_ages_clock_now(void)
{
	return (struct fx_ages_clock){fx_ticks(FX_CLOCK_COUNTER), fx_boottime_ns()};
}

static bool ages_read(pid_t pid, uint64_t address, void *ret, size_t size)
{
	struct iovec to = {ret, size}, from = {(void *)(uintptr_t)address, size};

	return process_vm_readv(pid, &to, 1, &from, 1, 0) == (ssize_t)size;
}

/* What begins at a mapping of ours: the buffer, of a library that has the same strings as this program, or the page that says which clock it is by. */
static void memory_take(pid_t pid, uint64_t start, struct ages_memory *ret)
{
	struct fx_buffer_header *header =
	    aligned_alloc(_Alignof(struct fx_buffer_header), sizeof(*header));
	struct {
		uint64_t magic;
		uint32_t version, clock_kind;
	} control = {0}; /* as struct fx_control begins */

	if (header && ages_read(pid, start, header, sizeof(*header)) &&
	    header->magic == FX_BUFFER_MAGIC && header->version == FX_LAYOUT_VERSION &&
	    header->builtin_id == fx_builtin.id && header->pid == (uint32_t)pid &&
	    header->threads_used <= FX_THREADS_MAX) {
		ret->buffer = start;
		ret->slots = header->threads_used;
	} else if (ages_read(pid, start, &control, sizeof(control)) &&
		   control.magic == FX_CONTROL_MAGIC) {
		ret->clock =
		    control.clock_kind == FX_CLOCK_COUNTER ? FX_CLOCK_COUNTER : FX_CLOCK_BOOTTIME;
	}
	free(header);
}

static void memory_find(pid_t pid, struct ages_memory *ret)
{
	char path[32], line[512];
	FILE *file;

	*ret = (struct ages_memory){0};
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, " /memfd:fxtrace-"))
			memory_take(pid, strtoull(line, NULL, 16), ret);
	}
	if (file)
		fclose(file);
}

/* Begin of the innermost call that is open in a slot, in ticks, if it is one of the library's; 0: it is not, or there is none. */
static uint64_t slot_begin(const struct fx_thread_slot *slot)
{
	unsigned last = 0;

	while (last + 1 < FX_FRAMES && slot->frames[last + 1].start)
		last++;
	/* The sentinel, a function, or a duration of the program's own: what it waits in is not recorded. */
	if (last == 0 || slot->frames[last].id < HEADER_LEAST ||
	    FXT_GET(slot->frames[last].id, EVENT_NAME) >= fx_builtin.next)
		return 0;
	return slot->frames[last].start;
}

static uint64_t age_of(const struct ages_memory *memory, const struct fx_ages_clock *began,
		       uint64_t ticks)
{
	struct fx_ages_clock now = fx_ages_clock_now();

	if (memory->clock == FX_CLOCK_BOOTTIME)
		return ticks < now.ns ? now.ns - ticks : 0;
	if (ticks >= now.ticks || now.ticks <= began->ticks)
		return 0;
	return (uint64_t)((double)(now.ticks - ticks) * (double)(now.ns - began->ns) /
			  (double)(now.ticks - began->ticks));
}

void fx_ages_find(pid_t pid, const struct fx_ages_clock *began, struct fx_where_thread *threads,
		  size_t count)
{
	struct fx_thread_slot *slot = aligned_alloc(_Alignof(struct fx_thread_slot), sizeof(*slot));
	struct ages_memory memory;
	uint64_t at;

	memory_find(pid, &memory);
	at = memory.buffer + sizeof(struct fx_buffer_header) + FX_BUILTIN_SIZE;
	for (uint64_t i = 0; slot && memory.buffer && i < memory.slots; i++, at += sizeof(*slot)) {
		uint64_t begin;

		if (!ages_read(pid, at, slot, sizeof(*slot)))
			break;
		begin = slot->tid ? slot_begin(slot) : 0;
		for (size_t j = 0; begin && j < count; j++) {
			if (threads[j].in_call && threads[j].tid == (pid_t)slot->tid)
				threads[j].age_ns = age_of(&memory, began, begin);
		}
	}
	free(slot);
}
