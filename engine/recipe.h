/* SPDX-License-Identifier: MIT */
/*
 * What a traced process is told of its functions: which of them are left out (--filter, --no-trace,
 * --auto-suppress), and how it has the
 * arguments and return values of those that were chosen (--args, --retval): recipes, one for each place where a function calls a
 * hook. The manager's readers make them of a module's file (symbols/recipes/); the process follows them at its hooks
 * (preload/hooks/), and knows nothing of what they come from.
 *
 *	control page ── book: which modules have a table, by their addresses
 *	                 └── table of a module: the functions that are left out; from a function's address to its places
 *	                                         └── recipe of a place: its values, each with its code
 *
 * The book grows at its end, and nothing in it changes: a table stands before it is counted. All offsets within a table are from
 * its begin, in bytes, and were checked by nobody: the code that follows them compares them with its size.
 *
 * Code says where a value is: a small stack machine upon what the hook finds, registers that the function keeps through the
 * call of the hook, and its memory. A byte is an operation, what it needs follows it.
 */
#ifndef FX_ENGINE_RECIPE_H
#define FX_ENGINE_RECIPE_H

#include <stdint.h>

#define FX_RECIPE_MODULES   256u
#define FX_RECIPE_SPACE	    (4u << 20) /* bytes of a process's book with all tables */
#define FX_RECIPE_TABLE_MAX (1u << 20) /* of one table */
#define FX_RECIPE_VALUES    14u	 /* of one place; with a result, an event has room for no more */
#define FX_RECIPE_TEXT_MAX  120u /* bytes of a text that are shown */
#define FX_RECIPE_CODE_MAX  64u	 /* bytes of one value's code */
#define FX_RECIPE_STACK	    8u	 /* of the machine */
#define FX_RECIPE_VECTORS   8u	 /* that are known at an entry */

/*
 * Of the calls of functions that drown the others a process records one of so many, on the average and at random, with
 * its one argument "calls": for how many it stands. Nobody sees these; the manager counts by them.
 */
#define FX_SUPPRESSED_PERIOD 1024u

struct fx_recipe_module {
	uint64_t start, end; /* run-time addresses of its code */
	uint64_t bias;	     /* run-time minus link-time address */
	uint32_t offset;     /* of its table, from the book */
	uint32_t size;
};

struct fx_recipe_book {
	uint32_t
	    serial; /* a futex: grows whenever modules were looked up; 0: none has been as yet */
	uint32_t count;	  /* of `modules'; they stand before it (release) */
	uint32_t first;	  /* those before it are of sessions that are over */
	uint32_t used;	  /* bytes of the book, with its tables */
	uint32_t version; /* the manager's: of the list of functions that it was made by */
	uint32_t reserved;
	struct fx_recipe_module modules[FX_RECIPE_MODULES];
};

struct fx_recipe_table {
	uint32_t size; /* bytes */
	uint32_t slots_log2;
	uint32_t left_out; /* of link-time addresses of functions, of 4 bytes each, rising; */
	uint32_t left_out_count;
	uint32_t
	    suppressed; /* the same of those that are left out but for one of FX_SUPPRESSED_PERIOD */
	uint32_t suppressed_count;
	uint32_t
	    is_scoped; /* what is left out is recorded in calls of all other functions, and what lies in these */
	uint32_t reserved;
	uint32_t slots
	    []; /* by fx_recipe_hash(): of a struct fx_recipe_function; 0 none, which ends a search */
};

/* What is wanted of a function. */
enum fx_recipe_flags {
	FX_RECIPE_ARGS = 1u << 0,
	FX_RECIPE_RESULT = 1u << 1,
};

struct fx_recipe_place {
	uint64_t address; /* link-time: where the hook returns to; 0: any other place */
	uint32_t recipe;  /* of a struct fx_recipe */
	uint32_t kind;	  /* FX_RECIPE_ARGS: it is entered here; FX_RECIPE_RESULT: left */
};

struct fx_recipe_function {
	uint64_t address; /* link-time: its first instruction */
	uint32_t flags;	  /* enum fx_recipe_flags */
	uint32_t count;
	struct fx_recipe_place places[]; /* those of any other place come last */
};

/* How a value is shown. */
enum fx_recipe_shape {
	FX_SHAPE_LOST,	 /* it is not there: optimised out */
	FX_SHAPE_SIGNED, /* `size' bytes */
	FX_SHAPE_UNSIGNED,
	FX_SHAPE_BOOL,
	FX_SHAPE_POINTER,
	FX_SHAPE_FLOAT, /* of 4 or 8 bytes; of 16, of which 10 count, the lower 8 on top of the stack */
	FX_SHAPE_TEXT,	/* the address of a text that ends with a NUL */
	FX_SHAPE_BYTES, /* the address of a text on top of its length */
	FX_SHAPE_ENUM,	/* `names': of a struct fx_recipe_names */
	FX_SHAPE_CHARACTER,
	FX_SHAPE_OTHER, /* it is there, but there are no words for it */
};

struct fx_recipe_value {
	uint32_t name; /* of a text that ends with a NUL */
	uint8_t shape; /* enum fx_recipe_shape */
	uint8_t size;
	uint16_t code_size;
	uint32_t code;
	uint32_t names; /* FX_SHAPE_ENUM */
};

struct fx_recipe {
	uint32_t count;
	uint32_t more; /* arguments beyond those */
	struct fx_recipe_value values[];
};

/* By rising value. */
struct fx_recipe_names {
	uint32_t count;
	uint32_t is_signed;
	struct {
		int64_t value;
		uint32_t name; /* as in struct fx_recipe_value */
		uint32_t reserved;
	} names[];
};

/*
 * Operations. Registers have DWARF's numbers. Of these, the hooks know those that a called function has to keep, the stack
 * pointer as it was at the call of the hook, and, at an entry, the lower halves of the vector registers that carry
 * arguments.
 */
enum fx_recipe_op {
	FX_OP_REGISTER = 1, /* u8 number */
	FX_OP_VECTOR,	    /* u8 number */
	FX_OP_CONST,	    /* i64 */
	FX_OP_ADDRESS,	    /* u64: a link-time address of the module */
	FX_OP_ADD_CONST,    /* i32 */
	FX_OP_LOAD,	    /* u8 bytes, 1, 2, 4 or 8: of the stack that the function is on */
	FX_OP_FOLLOW,	    /* the same of memory that may not be there */
	FX_OP_ZERO_EXTEND,  /* u8 bytes */
	FX_OP_SIGN_EXTEND,  /* u8 bytes */
	FX_OP_ADD,
	FX_OP_SUB,
	FX_OP_MUL,
	FX_OP_AND,
	FX_OP_OR,
	FX_OP_XOR,
	FX_OP_SHL, /* by less than 64 */
	FX_OP_SHR,
	FX_OP_SAR,
};

static inline uint32_t fx_recipe_hash(uint64_t address, uint32_t slots_log2)
{
	return (uint32_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - slots_log2));
}

#endif
