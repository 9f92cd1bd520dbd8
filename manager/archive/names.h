/* SPDX-License-Identifier: MIT */
/*
 * One provider's strings: from the references in its buffer to those in the archive.
 *
 * Below FX_STRING_LOCAL an index means the same in both; its text goes into the archive before its
 * first use. From there on an index means something else in every chunk; the archive's indices of
 * that range are given out by text, and given anew in turn when there are no more.
 *
 * A string may be a code address; its text is then the function's name, found at its first use. Or a
 * stack of return addresses: then it has a line for each function, the innermost first.
 */
#ifndef FX_MANAGER_NAMES_H
#define FX_MANAGER_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/builtin.h"
#include "engine/layout.h"
#include "manager/archive/archive.h"
#include "manager/archive/known.h"
#include "manager/archive/modules.h"
#include "manager/settings/functions.h"

enum fx_name_kind {
	FX_NAME_NONE = 0,
	FX_NAME_TEXT,
	FX_NAME_ADDRESS,
	FX_NAME_NUMBER, /* a text that there was no memory for */
	FX_NAME_STACK,
	FX_NAME_CALLER, /* an address that a call returns to: the function that it lies in */
};

struct fx_name {
	union {
		char *text; /* owned */
		uint64_t address;
		uint64_t number;
		uint64_t *frames; /* owned; `length` bytes of return addresses */
	};
	uint32_t
	    moment; /* of an address and a stack: which modules there were (fx_modules_moment()) */
	uint16_t length;
	uint8_t kind;		 /* enum fx_name_kind */
	uint8_t told : 1;	 /* stands in the archive */
	uint8_t is_category : 1; /* was added to the known ones */
	uint8_t
	    unwanted : 1; /* of no use, wherever it is; the rest as in struct fx_pattern_verdict */
	uint8_t out : 1;
	uint8_t chosen : 1;
	uint8_t has_min : 1;
	uint8_t borrowed : 1; /* the text is of the builtin strings */
	uint8_t meaning;      /* enum fx_meaning */
	uint16_t judged; /* by which version of the list of functions; 0: by none. It says of it: */
	uint16_t inside, kept, suppressed;
	uint64_t min_ns;
};

/* A string of one chunk. */
struct fx_local_name {
	struct fx_name name;
	uint32_t slot;	     /* archive index, if the slot's generation is still this one */
	uint32_t generation; /* 0: never had one */
};

/* The strings that one chunk has defined so far. */
struct fx_locals {
	struct fx_local_name *entries; /* [i]: index FX_STRING_LOCAL + i */
	uint32_t count, room;
};

struct fx_upper;

struct fx_names {
	struct fx_archive *archive; /* borrowed */
	struct fx_modules *modules; /* borrowed */
	struct fx_known_set *known; /* borrowed */
	uint32_t made;		    /* entries of it that this provider brought in */
	struct fx_name *table;	    /* [i]: index i */
	uint32_t count;
	uint32_t redefined; /* how often an index of the table came to stand for something else */
	uint64_t held;	    /* bytes that the strings take */
	uint64_t limit;	    /* that they may take */
	uint64_t numbered;  /* strings that are shown as numbers, since they would take more */
	const struct fx_function_list
	    *functions;		/* borrowed; NULL: all are recorded, as without a text */
	struct fx_upper *upper; /* the archive's upper indices; made when first needed */
};

/* The builtin strings as providers have them that know the same ones, read once for all providers. */
struct fx_builtin_names {
	const struct fx_builtin *strings; /* that these are; borrowed; NULL: not read yet */
	struct fx_name *table;		  /* [i]: index i; `is_category` where it names one */
	uint32_t count;
	char *texts; /* of them all */
};

/* Reads `strings`, unless that was done. 0 or -ENOMEM. */
int fx_builtin_names_read(struct fx_builtin_names *builtin, const struct fx_builtin *strings);
void fx_builtin_names_destroy(struct fx_builtin_names *builtin);

/* Strings that would take more than `limit` bytes are shown as numbers, and counted. */
void fx_names_init(struct fx_names *ret, struct fx_archive *archive, struct fx_modules *modules,
		   struct fx_known_set *known, uint64_t limit);
void fx_names_destroy(struct fx_names *names);

/* Takes a String Record that fx_record_check() has passed. `locals` is the chunk's, NULL outside
 * of chunks. 0, -EINVAL if this is no place for such an index, -EDQUOT, -ENOMEM. */
int fx_names_define(struct fx_names *names, struct fx_locals *locals, const uint64_t *record);

/* The same for all of the builtin strings, which are to outlive the names. 0 or -ENOMEM. */
int fx_names_take_builtin(struct fx_names *names, const struct fx_builtin_names *builtin);

/* The archive's reference; -ENOENT for one that was never defined. The text has been written. */
int fx_names_ref_slow(struct fx_names *names, struct fx_locals *locals, uint32_t ref);

/* The same; inline and empty strings are their own references. */
static inline int fx_names_ref(struct fx_names *names, struct fx_locals *locals, uint32_t ref)
{
	if (ref < names->count && names->table[ref].told)
		return (int)ref;
	if (ref == FXT_STRING_EMPTY || (ref & FXT_STRING_INLINE))
		return (int)ref;
	return fx_names_ref_slow(names, locals, ref);
}

/* The function whose calls may not be recorded, with what the list says of it; NULL: there is no list, or it is no
 * function's. Its name need not have been told. */
const struct fx_name *fx_names_judge_slow(struct fx_names *names, struct fx_locals *locals,
					  uint32_t ref);

static inline const struct fx_name *fx_names_judge(struct fx_names *names, struct fx_locals *locals,
						   uint32_t ref)
{
	return names->functions && names->functions->text ? fx_names_judge_slow(names, locals, ref)
							  : NULL;
}

/* What was said of one that was judged. */
static inline struct fx_pattern_verdict fx_name_verdict(const struct fx_name *name)
{
	return (struct fx_pattern_verdict){
	    .out = name->out,
	    .chosen = name->chosen,
	    .inside = name->inside,
	    .kept = name->kept,
	    .spare = name->unwanted,
	    .has_min = name->has_min,
	    .min_ns = name->min_ns,
	    .suppressed = name->suppressed,
	};
}

/* A reference of the archive to a text of the manager's own, valid for the record in work; -errno. */
int fx_names_say(struct fx_names *names, const char *text);

/* The same of a name that is kept by the caller, and was none of a chunk. */
int fx_names_say_local(struct fx_names *names, struct fx_local_name *local);

/* What a reference stands for, NULL if it was never defined. */
const struct fx_name *fx_names_find(const struct fx_names *names, const struct fx_locals *locals,
				    uint32_t ref);

/* Events have this reference for their category. `text` is that of an inline one. */
void fx_names_category(struct fx_names *names, struct fx_locals *locals, uint32_t ref,
		       const void *text);

/* Forgets a chunk's strings; the memory is kept for the next. */
void fx_locals_clear(struct fx_names *names, struct fx_locals *locals);
void fx_locals_destroy(struct fx_names *names, struct fx_locals *locals);

#endif
