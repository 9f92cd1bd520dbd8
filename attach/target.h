/* SPDX-License-Identifier: MIT */
/*
 * A running process that is to get libfxtrace.so: whether that can be, and what lies where in it. Nothing of it is touched; /proc and
 * its memory are read.
 */
#ifndef FX_ATTACH_TARGET_H
#define FX_ATTACH_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lists/vector.h"

/* What code is of. */
enum fx_target_kind {
	FX_TARGET_NONE,	   /* of no file */
	FX_TARGET_PROGRAM, /* the program, and libraries that are nobody's below */
	FX_TARGET_LIBC,
	FX_TARGET_LINKER,
	FX_TARGET_ALLOCATOR, /* has a malloc() of its own */
	FX_TARGET_OURS,	     /* libfxtrace.so */
};

/* Addresses that belong together. */
struct fx_target_module {
	uint64_t start, end;
	enum fx_target_kind kind;
	char *path;
};

/* A mapping that can be read and written and is of no file; `stack`: the first thread's, or memory that cannot be accessed lies
 * right below, as below a thread's stack. */
struct fx_target_memory {
	uint64_t start, end;
	bool stack;
};

struct fx_target_function {
	uint64_t start, end;
	const char *name;
};

struct fx_target {
	pid_t pid;
	FX_VECTOR(struct fx_target_module) modules; /* in order of addresses */
	FX_VECTOR(struct fx_target_memory) memory;
	FX_VECTOR(struct fx_target_function) functions; /* that libc exports, in order */
	char *names;					/* of theirs */
	uint64_t program, libc;				/* where they begin */
	uint64_t ours; /* where libfxtrace.so begins; 0: it is not there */
	uint64_t dlopen;
	uint64_t sigreturn;   /* the instructions that a handler returns to */
	uint64_t syscall;     /* the instruction, and `ret' */
	int64_t errno_offset; /* from the thread pointer */
};

/* Frees what is in it; fx_target_open() (attach/open.h) fills it. */
void fx_target_close(struct fx_target *target);

/* What is mapped has changed: it is looked at again. 0 or -errno. */
int fx_target_look(struct fx_target *target);

enum fx_target_kind fx_target_kind_of(const struct fx_target *target, uint64_t address);

/* The program's own code, whatever else it is: malloc() may be in it. */
bool fx_target_is_program(const struct fx_target *target, uint64_t address);
bool fx_target_program_allocates(const struct fx_target *target);

/* Bytes of stack below `sp`, if it is a thread's stack as it was made; else 0. */
uint64_t fx_target_stack_below(const struct fx_target *target, uint64_t sp);

#endif
