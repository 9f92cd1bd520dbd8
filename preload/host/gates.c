/* SPDX-License-Identifier: MIT */
#include "preload/host/gates.h"

#include <link.h>
#include <stdbool.h>
#include <string.h>

#define NOTE_ALIGN(size) (((size) + 3u) & ~3u)

/* Whether a module's segment that may be written has the word. */
static bool gates_is_within(const struct dl_phdr_info *info, uint64_t address)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && (p->p_flags & PF_W) && address % sizeof(void *) == 0 &&
		    address >= start && address - start + sizeof(void *) <= p->p_memsz)
			return true;
	}
	return false;
}

static void gate_open(const struct dl_phdr_info *info, const uint8_t *distance, const void *opened)
{
	const void **gate;
	uint64_t address;
	int32_t value;

	memcpy(&value, distance, sizeof(value));
	address = (uint64_t)(uintptr_t)distance + (uint64_t)(int64_t)value;
	gate = (const void **)(uintptr_t)address;
	/* The dynamic linker may have done it; and a program that has set it to something else meant that. */
	if (gates_is_within(info, address) && !*gate)
		*gate = opened;
}

/* A note: sizes of name and description, type, name, description, each padded to 4 bytes. */
static void gates_look_at_notes(const struct dl_phdr_info *info, const uint8_t *at, size_t size,
				const struct fx_gates *gates)
{
	const uint8_t *end = at + size;
	ElfW(Nhdr) note;

	while ((size_t)(end - at) >= sizeof(note)) {
		const uint8_t *name = at + sizeof(note), *description;
		size_t rest = (size_t)(end - name);

		memcpy(&note, at, sizeof(note));
		if (note.n_namesz > rest || NOTE_ALIGN(note.n_namesz) > rest ||
		    note.n_descsz > rest - NOTE_ALIGN(note.n_namesz))
			return;
		description = name + NOTE_ALIGN(note.n_namesz);
		if ((note.n_type == FXTRACE_NOTE_GATE || note.n_type == FXTRACE_NOTE_EVENTS) &&
		    note.n_descsz == sizeof(int32_t) &&
		    note.n_namesz == sizeof(FXTRACE_NOTE_OWNER) &&
		    memcmp(name, FXTRACE_NOTE_OWNER, sizeof(FXTRACE_NOTE_OWNER)) == 0)
			gate_open(info, description,
				  note.n_type == FXTRACE_NOTE_GATE ? (const void *)gates->calls
								   : gates->events);
		if (NOTE_ALIGN(note.n_descsz) > (size_t)(end - description))
			return;
		at = description + NOTE_ALIGN(note.n_descsz);
	}
}

static int gates_look_at_module(struct dl_phdr_info *info, size_t size, void *gates)
{
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		/* Notes of 8-byte alignment are .note.gnu.property's. */
		if (p->p_type == PT_NOTE && p->p_align <= 4)
			gates_look_at_notes(
			    info, (const uint8_t *)(uintptr_t)(info->dlpi_addr + p->p_vaddr),
			    p->p_memsz, gates);
	}
	return 0;
}

void fx_gates_open(const struct fx_gates *gates)
{
	dl_iterate_phdr(gates_look_at_module, (void *)gates);
}
