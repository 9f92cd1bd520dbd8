/* SPDX-License-Identifier: MIT */
#include "preload/host/notes.h"

#include <link.h>
#include <string.h>

#include <fxtrace/gate.h>

#define NOTE_ALIGN(size) (((size) + 3u) & ~3u)

struct walk {
	fx_note_seen seen;
	void *opaque;
};

/* Bytes from an address on that lie in a segment of the module's that may be written; 0: none, or no word can stand there. */
static size_t notes_room_at(const struct dl_phdr_info *info, uint64_t address)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && (p->p_flags & PF_W) && address % sizeof(void *) == 0 &&
		    address >= start && address - start + sizeof(void *) <= p->p_memsz)
			return p->p_memsz - (address - start);
	}
	return 0;
}

static void note_follow(const struct walk *walk, const struct dl_phdr_info *info, uint32_t type,
			const uint8_t *distance)
{
	uint64_t address;
	size_t room;
	int32_t value;

	memcpy(&value, distance, sizeof(value));
	address = (uint64_t)(uintptr_t)distance + (uint64_t)(int64_t)value;
	room = notes_room_at(info, address);
	if (room)
		walk->seen(walk->opaque, type, (void *)(uintptr_t)address, room);
}

/* A note: sizes of name and description, type, name, description, each padded to 4 bytes. */
static void notes_of_segment(const struct walk *walk, const struct dl_phdr_info *info,
			     const uint8_t *at, size_t size)
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
		if (note.n_descsz == sizeof(int32_t) &&
		    note.n_namesz == sizeof(FXTRACE_NOTE_OWNER) &&
		    memcmp(name, FXTRACE_NOTE_OWNER, sizeof(FXTRACE_NOTE_OWNER)) == 0)
			note_follow(walk, info, note.n_type, description);
		if (NOTE_ALIGN(note.n_descsz) > (size_t)(end - description))
			return;
		at = description + NOTE_ALIGN(note.n_descsz);
	}
}

static int notes_of_module(struct dl_phdr_info *info, size_t size, void *walk)
{
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		/* Notes of 8-byte alignment are .note.gnu.property's. */
		if (p->p_type == PT_NOTE && p->p_align <= 4)
			notes_of_segment(walk, info,
					 (const uint8_t *)(uintptr_t)(info->dlpi_addr + p->p_vaddr),
					 p->p_memsz);
	}
	return 0;
}

void fx_notes_walk(fx_note_seen seen, void *opaque)
{
	struct walk walk = {seen, opaque};

	dl_iterate_phdr(notes_of_module, &walk);
}
