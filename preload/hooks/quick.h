/* SPDX-License-Identifier: MIT */
/*
 * Calls of chosen functions, quickly: where all that is wanted of them is numbers, bools, enums and pointers, in registers that the
 * function keeps or close above on its own stack. What has been learned of a function at one of its hooks stands in an entry
 * that never changes and never goes; another session, or another module at its addresses, has others.
 */
#ifndef FX_PRELOAD_QUICK_H
#define FX_PRELOAD_QUICK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomic.h"
#include "engine/provider/engine.h"
#include "engine/provider/stash.h"
#include "preload/hooks/kept.h"
#include "preload/hooks/recipes.h"
#include "preload/host/caller.h"

#define FX_QUICK_VALUES 6u
#define FX_QUICK_WORDS	(2 * FX_QUICK_VALUES) /* at most */
_Static_assert(FX_QUICK_WORDS <= FX_STASH_PLACE_WORDS, "room for all values");
#define FX_QUICK_LOG2 11u

struct fx_quick_value {
	uint64_t header; /* of the argument, without its value */
	int32_t offset;	 /* from what is in the register */
	uint8_t base;	 /* the register's number */
	uint8_t cut;	 /* bits above the value */
	union {
		struct {
			uint8_t load; /* bytes; 0: it is in the register */
			uint8_t way;  /* enum fx_quick_way */
		};
		uint16_t how; /* both; 0 of most */
	};
};

enum fx_quick_way {
	FX_QUICK_HALF, /* it is the upper half of the header; */
	FX_QUICK_WORD, /* a word behind it; */
	/* the same half, but there is less of it */
	FX_QUICK_SIGNED,
	FX_QUICK_UNSIGNED,
	FX_QUICK_BOOL,
	FX_QUICK_FIXED, /* in the header already */
	/* the index of its name, see fx_quick_name() */
	FX_QUICK_ENUM,
	FX_QUICK_ENUM_SIGNED,
};

/* By what all values of an entry can be read: the last of these that does. */
enum fx_quick_form {
	FX_QUICK_ANY,	    /* fx_quick_read(); */
	FX_QUICK_PLAIN,	    /* fx_quick_read_plain(); */
	FX_QUICK_REGISTERS, /* fx_hooks_begin_registers(); */
	FX_QUICK_FRAME,	    /* fx_quick_read_frame() */
};

/* In a header: its record's type. Without that it lacks what the function returns. */
#define FX_QUICK_COMPLETE UINT64_C(4)

struct fx_quick {
	uint64_t function;
	uint64_t state;	 /* the word of it in which this was learned */
	uint32_t place;	 /* the hook's return address, lower half; 0: an exit by a jump */
	uint32_t serial; /* fx_callers_serial */
	uint64_t
	    header; /* of the record; at an entry of a function whose result is wanted, without its type */
	int32_t low;	/* of FX_QUICK_FRAME: the lowest offset, */
	uint32_t near;	/* and how far above a stack address it may lie, so that all are near */
	uint32_t index; /* of the function's name */
	uint16_t count;
	uint16_t form; /* enum fx_quick_form */
	struct fx_quick_value values[FX_QUICK_VALUES];
};

/* By fx_quick_slot(), or beside it. */
extern const struct fx_quick *fx_quick_table[1u << FX_QUICK_LOG2]
    __attribute__((visibility("hidden")));

fx_hot uint32_t fx_quick_slot(uint64_t function, uint32_t place)
{
	return (place ^ (uint32_t)(function >> 4)) & ((1u << FX_QUICK_LOG2) - 1);
}

fx_hot bool fx_quick_is(const struct fx_quick *q, uint64_t function, uint32_t place, uint64_t state)
{
	/* relaxed: a number; it changes before what it stands for is another's */
	return q && q->function == function && q->place == place && q->state == state &&
	       q->serial == fx_load_relaxed(&fx_callers_serial);
}

/* The same, in the other slot. */
fx_cold const struct fx_quick *fx_quick_find_beside(uint64_t function, uint32_t place,
						    uint64_t state);

/* NULL: nothing is known, unless it stands beside. */
fx_hot const struct fx_quick *fx_quick_find_first(uint64_t function, uint32_t place, uint64_t state)
{
	/* acquire: pairs with fx_quick_learn() */
	const struct fx_quick *q = fx_load_acquire(&fx_quick_table[fx_quick_slot(function, place)]);

	return fx_likely(fx_quick_is(q, function, place, state)) ? q : NULL;
}

fx_hot const struct fx_quick *fx_quick_find(uint64_t function, uint32_t place, uint64_t state)
{
	const struct fx_quick *q = fx_quick_find_first(function, place, state);

	return q ? q : fx_quick_find_beside(function, place, state);
}

/* What was found out of a function in the slow half. `recipe': of this place; NULL: nothing is wanted here. `is_entry': what it returns may
 * be wanted, too. */
fx_cold void fx_quick_learn(struct fx_thread *t, const struct fx_recipes_of *of, uint64_t function,
			    uint32_t place, const struct fx_recipe *recipe, bool is_entry);

/*
 * What lies so far above what a hook has saved is there: frames of callers. (What is saved lies right below the hook's own.)
 */
#define FX_QUICK_NEAR 4000u

fx_hot bool fx_quick_is_near(uint64_t address, const struct fx_kept *kept)
{
	return address - (uint64_t)(uintptr_t)kept <= FX_QUICK_NEAR;
}

fx_hot uint64_t fx_quick_load(uint64_t address, unsigned size)
{
	switch (size) {
	case 4:
		return *(const uint32_t *)(uintptr_t)address;
	case 8:
		return *(const uint64_t *)(uintptr_t)address;
	case 2:
		return *(const uint16_t *)(uintptr_t)address;
	default:
		return *(const uint8_t *)(uintptr_t)address;
	}
}

/* The values of most as words of a record: halves, words and fixed ones, of a register or of as many bytes. False: one is not close by. */
fx_hot bool fx_quick_read_plain(const struct fx_quick *q, const struct fx_kept *kept, uint64_t *to)
{
	const struct fx_quick_value *v = q->values, *end = v + q->count;

	do {
		uint64_t value = kept->registers[v->base] + (uint64_t)(int64_t)v->offset;

		if (fx_likely(v->how == 0)) {
			fx_store_relaxed(to++, v->header | value << 32);
			continue;
		}
		if (v->load) {
			if (fx_unlikely(!fx_quick_is_near(value, kept)))
				return false;
			value = v->load == 4 ? *(const uint32_t *)(uintptr_t)value
					     : *(const uint64_t *)(uintptr_t)value;
		}
		if (v->way == FX_QUICK_WORD) {
			fx_store_relaxed(to++, v->header);
			fx_store_relaxed(to++, value);
			continue;
		}
		if (v->way == FX_QUICK_FIXED)
			value = 0;
		fx_store_relaxed(to++, v->header | value << 32);
	} while (++v < end);
	return true;
}

_Static_assert(FX_QUICK_HALF == 0 && FX_QUICK_WORD == 1, "told by arithmetic");

/* A half or a word, without a branch. Returns where the next one goes; one word more is written than that. */
fx_hot uint64_t *fx_quick_put(uint64_t *to, const struct fx_quick_value *v, uint64_t value)
{
	uint64_t is_half = (uint64_t)v->way - 1;

	fx_store_relaxed(&to[0], v->header | (value & is_half) << 32);
	fx_store_relaxed(&to[1], value);
	return to + 1 + v->way;
}

_Static_assert(FX_QUICK_VALUES % 2 == 0 && FX_QUICK_WORDS < FX_STASH_PLACE_WORDS,
	       "two by two; room for one more");

/* Halves and words in memory that the frame pointer leads to, which is near. */
fx_hot void fx_quick_read_frame(const struct fx_quick *q, uint64_t frame, uint64_t *to)
{
	const struct fx_quick_value *v = q->values, *end = v + q->count;

	do {
		to = fx_quick_put(to, &v[0],
				  fx_quick_load(frame + (uint64_t)(int64_t)v[0].offset, 8));
		to = fx_quick_put(to, &v[1],
				  fx_quick_load(frame + (uint64_t)(int64_t)v[1].offset, 8));
		v += 2;
	} while (fx_unlikely(v < end));
}

/* In place of a header that has room for it in its upper half. */
fx_hot uint64_t fx_quick_half(const struct fx_quick_value *v, uint64_t value)
{
	uint64_t upper = value << v->cut;

	switch ((enum fx_quick_way)v->way) {
	case FX_QUICK_SIGNED:
		return v->header | (uint64_t)((int64_t)upper >> v->cut) << 32;
	case FX_QUICK_UNSIGNED:
		return v->header | upper >> v->cut << 32;
	case FX_QUICK_BOOL:
		return v->header | (uint64_t)(upper != 0) << 32;
	default:
		return v->header;
	}
}

/* The header of an enum's value that has a name; 0: it has none. (The upper half of v->header says where the names are.) */
uint64_t fx_quick_name(const struct fx_quick_value *v, uint64_t value);

/* The same of all. False: one is not close by, or has no name. */
fx_hot bool fx_quick_read(const struct fx_quick *q, const struct fx_kept *kept, uint64_t *to)
{
	const struct fx_quick_value *v = q->values, *end = v + q->count;

	for (; v < end; v++) {
		uint64_t value = kept->registers[v->base] + (uint64_t)(int64_t)v->offset;

		if (v->load) {
			if (fx_unlikely(!fx_quick_is_near(value, kept)))
				return false;
			value = fx_quick_load(value, v->load);
		}
		if (fx_likely(v->way == FX_QUICK_HALF)) {
			value = v->header | value << 32;
		} else if (v->way == FX_QUICK_WORD) {
			fx_store_relaxed(to++, v->header);
		} else if (v->way >= FX_QUICK_ENUM) {
			value = fx_quick_name(v, value);
			if (!value)
				return false;
		} else {
			value = fx_quick_half(v, value);
		}
		fx_store_relaxed(to++, value);
	}
	return true;
}

#endif
