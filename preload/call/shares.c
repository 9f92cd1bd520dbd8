/* SPDX-License-Identifier: MIT */
#include "preload/call/shares.h"

#include <fcntl.h>
#include <stdbool.h>

#include "base/syscall.h"
#include "preload/call/words.h"
#include "preload/host/self.h"
#include "preload/show/args-plain.h"

/* In place of a key: memory of this process alone, or a lock of which no more is told, */
#define PRIVATE 1u
/* and nobody could say. */
#define NOT_SAID 2u

/* In a key: whoever may open the file can have it mapped. */
#define PUBLIC 1u

/* In place of an address. */
#define IN_WORK 1u

#define BUCKETS 256u
#define WAYS	4u

/* By address; a newer one takes the place of an older. */
static struct share {
	uint64_t address; /* 0: none */
	uint64_t key;
} shares[BUCKETS][WAYS] FX_LARGE;

uint32_t fx_shares_are_known;

/* --- Mappings --------------------------------------------------------------------------------- */

struct maps {
	long fd;
	uint32_t at, filled;
	char text[256];
};

/* -1: there is no more. */
static int maps_char(struct maps *m)
{
	if (m->at == m->filled) {
		long n = fx_syscall3(SYS_read, m->fd, m->text, sizeof(m->text));

		m->at = 0;
		m->filled = n > 0 ? (uint32_t)n : 0;
		if (n <= 0)
			return -1;
	}
	return (unsigned char)m->text[m->at++];
}

static int maps_digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

/* A number, with the character behind it; blanks before it are no part of it. */
static uint64_t maps_number(struct maps *m, unsigned base)
{
	uint64_t n = 0;
	int c = maps_char(m);

	while (c == ' ')
		c = maps_char(m);
	for (; (unsigned)maps_digit(c) < base; c = maps_char(m))
		n = n * base + (uint64_t)maps_digit(c);
	return n;
}

static uint64_t maps_mix(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0x9e3779b97f4a7c15ull;
	key = (key ^ key >> 29) * 0xbf58476d1ce4e5b9ull;
	return key ^ key >> 32;
}

/* Texts of eight characters, and of five. */
#define MAPS_DELETED  0x64656c6574656429ull /* deleted) */
#define MAPS_SYSTEM_V 0x2f53595356ull	    /* /SYSV */

/* A line's path, behind which it ends: whether others than who inherit it can come to have it; and whether it is a segment of System V,
 * which have numbers of their own on the device of other memory. */
static bool maps_path(struct maps *m, bool *is_segment)
{
	uint64_t first = 0, last = 0;
	int c;

	do
		c = maps_char(m);
	while (c == ' ');
	for (unsigned i = 0; c >= 0 && c != '\n'; c = maps_char(m), i++) {
		last = last << 8 | (unsigned)c;
		if (i < 5)
			first = last;
	}
	*is_segment = first == MAPS_SYSTEM_V;
	return *is_segment || last != MAPS_DELETED;
}

/* One line: 7f0000000000-7f0000001000 rw-s 00000000 00:01 4711    /dev/zero (deleted). True: it is the one; *key is its, or PRIVATE. */
static bool maps_line(struct maps *m, uint64_t address, uint64_t *key)
{
	uint64_t begin = maps_number(m, 16), end = maps_number(m, 16), offset;
	bool is_shared = false, is_segment, is_public;
	int c;

	for (c = maps_char(m); c > ' '; c = maps_char(m))
		is_shared = c == 's';
	offset = maps_number(m, 16);
	*key = maps_number(m, 16) << 32;
	*key |= maps_number(m, 16);
	*key = maps_mix(*key, maps_number(m, 10));
	is_public = maps_path(m, &is_segment);
	if (address < begin || address >= end)
		return false;
	*key = maps_mix(*key, offset + (address - begin) + is_segment);
	*key = (*key & ~(uint64_t)PUBLIC) | (is_public ? PUBLIC : 0);
	if (!is_shared || *key <= NOT_SAID + PUBLIC)
		*key = PRIVATE;
	return true;
}

static uint64_t maps_key(uint64_t address)
{
	uint64_t key = NOT_SAID;
	struct maps m;

	/* (A program that may begin children anew may open files.) */
	if (!fx_engine_may(FX_ASK_CHILD))
		return NOT_SAID;
	m.at = m.filled = 0;
	m.fd = fx_syscall4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
	if (m.fd < 0)
		return NOT_SAID;
	while (!maps_line(&m, address, &key)) {
		key = NOT_SAID;
		if (m.filled == 0)
			break;
	}
	fx_syscall1(SYS_close, m.fd);
	return key;
}

/* --- Keys ------------------------------------------------------------------------------------- */

static struct share *share_bucket(uint64_t address)
{
	return shares[(address >> 3) * 0x9e3779b97f4a7c15ull >> 56];
}
_Static_assert(BUCKETS == 1u << (64 - 56), "the bits of a hash");

/* relaxed, here and below: a lock is used in an order that the program has to care for; threads that put two into one place at once leave
 * the address of neither, or see a key only with its address on both sides of it */
static uint64_t share_find(const struct share *bucket, uint64_t address)
{
	for (unsigned i = 0; i < WAYS; i++) {
		uint64_t key;

		if (fx_load_acquire(&bucket[i].address) != address) /* pairs with share_put() */
			continue;
		key = fx_load_acquire(&bucket[i].key);
		if (fx_load_relaxed(&bucket[i].address) == address)
			return key;
	}
	return 0;
}

/* The key of an address that has one becomes another. */
static void share_change(struct share *bucket, uint64_t address, uint64_t key)
{
	for (unsigned i = 0; i < WAYS; i++)
		if (fx_load_relaxed(&bucket[i].address) == address)
			fx_store_release(&bucket[i].key, key); /* pairs with share_find() */
}

static void share_put(struct share *bucket, uint64_t address, uint64_t key)
{
	struct share *place = &bucket[key % WAYS];
	uint64_t was;

	for (unsigned i = 0; i < WAYS; i++)
		if (!fx_load_relaxed(&bucket[i].address))
			place = &bucket[i];
	was = fx_load_relaxed(&place->address);
	if (was == IN_WORK || !fx_cas_acq_rel(&place->address, &was, IN_WORK))
		return; /* another thread is at it */
	fx_store_release(&place->key, key);
	fx_store_release(&place->address, address); /* pairs with share_find() */
	fx_store_relaxed(&fx_shares_are_known, 1);
}

static uint64_t share_key(const volatile void *object)
{
	uint64_t address = (uint64_t)(uintptr_t)object;
	struct share *bucket = share_bucket(address);
	uint64_t key = share_find(bucket, address);

	if (!key) {
		key = maps_key(address);
		share_put(bucket, address, key);
	}
	return key;
}

fx_cold void fx_share_drop(uint64_t begin, uint64_t end)
{
	for (unsigned i = 0; i < BUCKETS * WAYS; i++) {
		struct share *share = &shares[i / WAYS][i % WAYS];
		uint64_t address = fx_load_relaxed(&share->address);

		if (address > IN_WORK && address >= begin && address < end)
			fx_store_relaxed(&share->address, 0);
	}
}

/* --- Words ------------------------------------------------------------------------------------ */

/* So many words within so many ns are too many: what else the process records would have no room. */
#define MANY	65536u
#define MANY_NS UINT64_C(65536000)

static uint64_t told, told_since; /* so many, and when the count began anew */

/* relaxed: it is an estimate */
static bool are_too_many(void)
{
	uint64_t now, since;

	if (fx_add_relaxed(&told, 1) % MANY != MANY - 1)
		return false;
	now = fx_now();
	since = fx_load_relaxed(&told_since);
	fx_store_relaxed(&told_since, now);
	return since && now - since < MANY_NS * fx_engine.tick_step;
}

/*
 * Others may have part without being seen: those who have the file too, and threads that waited before this library came. Who holds a mutex is
 * seen mostly; who takes from a semaphore, reads or meets never is.
 */
static bool is_too_open(uint64_t key)
{
	return key & PUBLIC || fx_self_is_late();
}

static bool is_of_mutex(enum fx_share_kind kind)
{
	return kind == FX_SHARE_RELEASES || kind == FX_SHARE_HAS || kind == FX_SHARE_INHERITS;
}

fx_cold void fx_share_tell(struct fx_thread *t, const volatile void *object,
			   const struct fx_share_word *word)
{
	uint64_t key = share_key(object);
	bool is_silent = key > NOT_SAID && are_too_many();
	bool is_said =
	    !is_silent && key != NOT_SAID && (is_of_mutex(word->kind) || !is_too_open(key));
	enum fx_share_kind kind = is_said ? word->kind : FX_SHARE_NOT_SAID;
	uint32_t value = kind == FX_SHARE_RELEASES ? is_too_open(key) : (uint32_t)word->value;
	const uint64_t words[FX_SHARE_WORDS] = {
	    FXT_PUT(RECORD_TYPE, FXT_RECORD_KERNEL_OBJECT) | FXT_PUT(RECORD_SIZE, FX_SHARE_WORDS) |
		FXT_PUT(KERNEL_OBJECT_TYPE, FXT_OBJECT_PROCESS) | FXT_PUT(KERNEL_OBJECT_NARGS, 6),
	    0,
	    FX_ARG_HEADER(UINT64, 2, 0, 0),
	    word->end,
	    FX_ARG_HEADER(INT32, 1, 0, (uint32_t)kind),
	    FX_ARG_HEADER(INT32, 1, 0, value),
	    FX_ARG_HEADER(UINT64, 2, 0, 0),
	    word->begin,
	    FX_ARG_HEADER(UINT64, 2, 0, 0),
	    word->looked,
	    FX_ARG_HEADER(UINT64, 2, 0, 0),
	    key == NOT_SAID ? 0 : key & ~(uint64_t)PUBLIC};

	if (key == PRIVATE)
		return;
	fx_words_write(t, words, FX_SHARE_WORDS, words[0]);
	if (is_silent)
		share_change(share_bucket((uint64_t)(uintptr_t)object), (uint64_t)(uintptr_t)object,
			     PRIVATE);
}
