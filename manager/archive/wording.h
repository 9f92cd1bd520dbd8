/* SPDX-License-Identifier: MIT */
/*
 * Words that the tracer's own events use for numbers which mean something: a thread by its id, a function or a lock by
 * its address. The provider tells the number, which costs it nothing; meanings.c says it in words.
 *
 *	CATEGORY  events of this category are the tracer's own; others' arguments are left alone
 *	CODE      a function's address
 *	CALLER    where a call returns to: the function that made it
 *	OBJECT    an address of the program's data
 *	THREAD    a thread's id, as its process calls it; it becomes the archive's
 *	TICKS     a length of time; it becomes nanoseconds
 *	WAKES     an event that is named after the thread that its `by' tells
 *	READS     an event that takes bytes from a descriptor; READS_MANY: messages; MOVES: and puts them into another one
 *	WRITES    one that puts them there; WRITES_MANY: messages; COPIES: from a descriptor that keeps them
 *	EITHER    one or the other
 *	CONNECTS  one that connects a descriptor; PAIRS: that makes a pair of them; POLLS: that waits until there is something to read
 *	FD, RET,  its arguments (manager/archive/transfers.h)
 *	...
 */
#ifndef FX_MANAGER_WORDING_H
#define FX_MANAGER_WORDING_H

#include <stdbool.h>
#include <stddef.h>

enum fx_meaning {
	FX_MEANING_NONE,
	FX_MEANING_CATEGORY,
	FX_MEANING_CODE,
	FX_MEANING_CALLER,
	FX_MEANING_OBJECT,
	FX_MEANING_THREAD,
	FX_MEANING_TICKS,
	FX_MEANING_WAKES,
	FX_MEANING_READS,
	FX_MEANING_READS_MANY,
	FX_MEANING_WRITES,
	FX_MEANING_WRITES_MANY,
	FX_MEANING_MOVES,
	FX_MEANING_COPIES,
	FX_MEANING_EITHER,
	FX_MEANING_PUTS, /* a message, into a queue */
	FX_MEANING_GETS,
	FX_MEANING_ADDS, /* to the number of an eventfd */
	FX_MEANING_TAKES,
	FX_MEANING_CONNECTS,
	FX_MEANING_PAIRS,
	FX_MEANING_SHUTS,
	FX_MEANING_SETS,  /* what a descriptor is like */
	FX_MEANING_MAKES, /* an eventfd */
	FX_MEANING_ACCEPTS,
	FX_MEANING_POLLS,
	FX_MEANING_FD,
	FX_MEANING_RET,
	FX_MEANING_SIZE,
	FX_MEANING_FLAGS,
	FX_MEANING_ERROR,
	FX_MEANING_ADDRESS,
	FX_MEANING_FILE,
	FX_MEANING_IN_FILE,
	FX_MEANING_OUT_FILE,
	FX_MEANING_CONNECTION,
	FX_MEANING_TOTAL_READ,
	FX_MEANING_TOTAL_WRITTEN,
	FX_MEANING_MESSAGES,
	FX_MEANING_READY,
	FX_MEANING_QUEUE,
	FX_MEANING_CHOICE, /* of messages: a priority, or a type */
	FX_MEANING_RECEIVED,
	FX_MEANING_VALUE, /* that is added or taken */
};

/* An event that moves bytes, or has to do with it. */
static inline bool fx_meaning_is_transfer(enum fx_meaning meaning)
{
	return meaning >= FX_MEANING_READS && meaning <= FX_MEANING_POLLS;
}

/* What such an event is asked for. */
static inline bool fx_meaning_is_of_transfer(enum fx_meaning meaning)
{
	return meaning >= FX_MEANING_FD;
}

/* The meaning of a word. */
enum fx_meaning fx_meaning_of_word(const char *word);

/* Arguments of one event that have a meaning; further ones stay without words. */
#define FX_MEANT_MAX 6u

struct fx_meant {
	size_t at;	  /* the word of its header */
	const char *word; /* what the provider called it; valid while the event is rewritten */
	enum fx_meaning meaning;
};

#endif
