/* SPDX-License-Identifier: MIT */
/* Types, as the debug information has them: how values of them are shown, and how they are handed on. */
#ifndef FX_SYMBOLS_TYPES_H
#define FX_SYMBOLS_TYPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

enum fx_type_kind {
	FX_TYPE_NOTHING, /* void */
	FX_TYPE_SIGNED,
	FX_TYPE_UNSIGNED,
	FX_TYPE_BOOL,
	FX_TYPE_CHARACTER,
	FX_TYPE_FLOAT,
	FX_TYPE_ENUM,
	FX_TYPE_POINTER,
	FX_TYPE_TEXT,	   /* a pointer to characters */
	FX_TYPE_REFERENCE, /* to another type */
	FX_TYPE_STRUCT,
	FX_TYPE_STRING, /* std::string: a pointer and a length at its begin */
	FX_TYPE_VIEW,	/* std::string_view: a length and a pointer */
	FX_TYPE_OTHER,	/* that has no words here */
};

struct fx_type {
	enum fx_type_kind kind;
	unsigned size;	/* bytes; 0: not known */
	bool is_signed; /* of an enum */
	Dwarf_Die die;	/* without its qualifiers and aliases */
};

/* The type that a die has (DW_AT_type, its own or inherited). */
void fx_type_of(Dwarf_Die *die, struct fx_type *ret);

/* A member of a struct. */
struct fx_member {
	const char *name;
	struct fx_type type;
	unsigned offset; /* bytes */
	unsigned bits;	 /* of a bit field: so many, */
	unsigned shift;	 /* from this one on of what stands at `offset'; `bits' 0: it is none */
};

/* The members in their order: goes on behind *at, which is NULL at first. False: there are no more. */
bool fx_type_next_member(const struct fx_type *type, Dwarf_Die *at, bool *begun,
			 struct fx_member *ret);

/* An eighth of what a value takes: in which kind of register it goes. */
enum fx_class {
	FX_CLASS_NONE,
	FX_CLASS_GENERAL,
	FX_CLASS_VECTOR,
	FX_CLASS_MEMORY, /* on the stack; or, returned, where a pointer says that the caller has handed on */
	FX_CLASS_ADDRESS, /* an object of which the address is handed on; returned as above */
	FX_CLASS_UNSURE,  /* the debug information does not tell */
};

/* How a language hands values on. */
enum fx_convention {
	FX_CONVENTION_OTHER, /* not known here */
	FX_CONVENTION_C,
	FX_CONVENTION_CXX, /* objects with a life of their own are told by their addresses */
};

/* How a value is returned, or handed on: the classes of its first 8 bytes, and of the next. */
void fx_type_classify(const struct fx_type *type, enum fx_convention convention,
		      enum fx_class ret[2]);

/* Whether what is returned is where a pointer says that the caller has handed on before all arguments. */
bool fx_type_is_returned_in_memory(const struct fx_type *type, enum fx_convention convention);

#endif
