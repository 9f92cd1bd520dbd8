/* SPDX-License-Identifier: MIT */
/* What kind of call a slice is, by its category: enum fx_call_kind. */
#ifndef FX_REPORT_KINDS_H
#define FX_REPORT_KINDS_H

/* X(NAME, "category"): the categories of our own library, without their ":all". */
#define FX_CALL_KINDS(X)                                                                           \
	X(FUNCTION, "function")                                                                    \
	X(SYSCALL, "syscall")                                                                      \
	X(PTHREAD, "pthread")                                                                      \
	X(MALLOC, "malloc")                                                                        \
	X(PROCESS, "process")                                                                      \
	X(STDIO, "stdio")                                                                          \
	X(LIBC, "libc")                                                                            \
	X(DL, "dl")                                                                                \
	X(HEAP, "heap")

#define FX_ENUM_CALL_KIND_(name, text) FX_CALL_##name,
enum fx_call_kind {
	FX_CALL_OTHER, /* the program's own */
	FX_CALL_KINDS(FX_ENUM_CALL_KIND_) FX_CALL_KIND_COUNT
};

/* Sets of kinds. */
#define FX_KIND(name) (1u << FX_CALL_##name)

/* `category' is terminated. What stands behind a colon does not count. */
enum fx_call_kind fx_call_kind_of(const char *category);

#endif
