/* SPDX-License-Identifier: MIT */
#include "preload/events/engines.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>

#include "base/atomic.h"
#include "base/syscall.h"
#include "engine/provider/category.h"
#include "engine/provider/observer.h"
#include "preload/host/gates.h"
#include "preload/host/notes.h"

/* How often it is seen whether another thread has registered the process. */
#define NAP_NS 200000l

static void engine_yield(const struct fxtrace_events *to)
{
	if (FXTRACE_HAS(to, describe))
		fx_categories_say(to->describe);
	if (FXTRACE_HAS(to, observe))
		fx_observers_move((int (*)(struct fx_observer *))to->observe);
}

__attribute__((used, visibility("hidden"))) struct fx_engine_entry fx_engine_own = {
    .size = sizeof(fx_engine_own),
    .events = &fx_events_table,
    .yield = engine_yield,
};
/* Owner and type: FXTRACE_NOTE_OWNER, FXTRACE_NOTE_ENGINE of gate.h. */
__asm__(".pushsection .note.fxtrace.engine,\"a\",%note\n"
	"\t.balign 4\n"
	"\t.long 8, 4, 3\n"
	"\t.asciz \"fxtrace\"\n"
	"\t.long fx_engine_own - .\n"
	"\t.popsection\n");

/* --- A table becomes a copy of another --------------------------------------------------------- */

struct guarded {
	uint64_t address, start, end;
};

/* The pages in which an address lies that the dynamic linker has made read-only. */
static int guarded_find(struct dl_phdr_info *info, size_t size, void *opaque)
{
	struct guarded *g = opaque;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_GNU_RELRO || g->address < start ||
		    g->address - start >= p->p_memsz)
			continue;
		g->start = start;
		g->end = start + p->p_memsz;
		return 1;
	}
	return 0;
}

static void table_copy(struct fxtrace_events *to, const struct fxtrace_events *from)
{
	uint64_t words[sizeof(*from) / 8];
	size_t size = from->size < to->size ? from->size : to->size;

	if (size > sizeof(words))
		size = sizeof(words);
	memcpy(words, from, size);
	words[0] = size;
	/* Macros may be reading it: word by word, and `control`, which has them ask the others, at last. */
	for (size_t i = size / 8; i-- > 0;)
		fx_store_release((uint64_t *)to + i, words[i]);
}
_Static_assert(offsetof(struct fxtrace_events, size) == 0 &&
		   offsetof(struct fxtrace_events, control) == 8,
	       "the words that are stored last");

static void table_become(const struct fxtrace_events *to, const struct fxtrace_events *from)
{
	struct guarded g = {.address = (uint64_t)(uintptr_t)to};
	const uint64_t page = getauxval(AT_PAGESZ);

	if (to == from || to->control == from->control)
		return;
	dl_iterate_phdr(guarded_find, &g);
	/* A last page that is not whole has stayed as it was. */
	g.start &= ~(page - 1);
	g.end &= ~(page - 1);
	if (g.address >= g.end)
		g.end = g.start;
	if (g.start < g.end &&
	    fx_syscall3(SYS_mprotect, g.start, g.end - g.start, PROT_READ | PROT_WRITE) != 0)
		return;
	table_copy((struct fxtrace_events *)to, from);
	if (g.start < g.end)
		fx_syscall3(SYS_mprotect, g.start, g.end - g.start, PROT_READ);
}

/* --- Who has it ----------------------------------------------------------------------------------- */

/* Other engines, as far as one look sees. */
struct others {
	uint32_t pid; /* the process; 0: not asked for */
	struct fx_engine_entry *has;
	bool one_tries;
	bool lower_tries; /* one whose entry lies below ours */
};

static struct fx_engine_entry *engine_entry_of(uint32_t type, void *target, size_t room)
{
	struct fx_engine_entry *entry = target;

	if (type != FXTRACE_NOTE_ENGINE || entry == &fx_engine_own || room < sizeof(*entry) ||
	    entry->size < sizeof(*entry))
		return NULL;
	return entry;
}

static void others_see(void *opaque, uint32_t type, void *target, size_t room)
{
	struct fx_engine_entry *entry = engine_entry_of(type, target, room);
	struct others *others = opaque;
	uint32_t claim, pid;

	if (!entry)
		return;
	claim = fx_load_acquire(&entry->claim); /* pairs with claim_set() */
	pid = claim >> FX_CLAIM_PID_SHIFT;
	if ((claim & FX_CLAIM_MASK) == FX_CLAIM_HAS) {
		others->has = entry;
	} else if (claim && (!pid || !others->pid || pid == others->pid)) {
		others->one_tries = true;
		others->lower_tries |= entry < &fx_engine_own;
	}
}

static void claim_set(uint32_t claim)
{
	fx_store_release(&fx_engine_own.claim, claim);
	fx_fence(); /* what others claim is looked at behind it */
}

static struct others others_look(int pid)
{
	struct others others = {.pid = (uint32_t)pid};

	fx_notes_walk(others_see, &others);
	return others;
}

/* Another thread registers the process, which takes a while. */
static void claim_nap(void)
{
	struct timespec nap = {.tv_nsec = NAP_NS};

	fx_syscall6(SYS_ppoll, 0, 0, (long)&nap, 0, 0, 0);
}

/* Of two that try the one whose entry lies lower goes on trying; the other may have looked before, and has it then. The one that
 * has it; NULL: we go on trying, and nobody else does. */
static struct fx_engine_entry *claim_against(int pid)
{
	const uint32_t tries = FX_CLAIM_TRIES | (uint32_t)pid << FX_CLAIM_PID_SHIFT;
	struct others others;

	for (;;) {
		claim_set(tries);
		others = others_look(pid);
		if (!others.has && !others.one_tries)
			return NULL;
		if (others.has || others.lower_tries)
			claim_set(FX_CLAIM_NONE);
		while (!others.has && others.one_tries) {
			claim_nap();
			others = others_look(pid);
			if (others.lower_tries) /* it has come since, and waits for us */
				claim_set(FX_CLAIM_NONE);
		}
		if (others.has)
			break;
	}
	claim_set(FX_CLAIM_NONE);
	return others.has;
}

bool fx_engines_claim(int pid)
{
	struct fx_engine_entry *other = fx_engines_is_ours() ? NULL : claim_against(pid);

	if (!other)
		return true;
	engine_yield(other->events);
	table_become(&fx_events_table, other->events);
	fx_gates_open(&(struct fx_gates){.events = &fx_events_table});
	return false;
}

static void others_become_ours(void *opaque, uint32_t type, void *target, size_t room)
{
	struct fx_engine_entry *entry = engine_entry_of(type, target, room);

	(void)opaque;
	if (!entry)
		return;
	entry->yield(&fx_events_table);
	table_become(entry->events, &fx_events_table);
}

void fx_engines_settle(void)
{
	claim_set(FX_CLAIM_HAS);
	fx_notes_walk(others_become_ours, NULL);
}

void fx_engines_waive(void)
{
	claim_set(FX_CLAIM_NONE);
}

bool fx_engines_is_ours(void)
{
	return fx_load_acquire(&fx_engine_own.claim) == FX_CLAIM_HAS;
}
