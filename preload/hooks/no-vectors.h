/* SPDX-License-Identifier: MIT */
/* Between these two the compiler uses no vectors, for functions that others are in the middle of: includes too, whose functions are to be
 * inlined there. */
#ifndef FX_PRELOAD_NO_VECTORS_H
#define FX_PRELOAD_NO_VECTORS_H

#if defined(__x86_64__) && defined(__clang__)
#define FX_NO_VECTORS_PRAGMA(...) _Pragma(#__VA_ARGS__)
#define FX_NO_VECTORS_BEGIN                                                                        \
	FX_NO_VECTORS_PRAGMA(clang attribute push(__attribute__((target("general-regs-only"))),    \
						  apply_to = function))
#define FX_NO_VECTORS_END _Pragma("clang attribute pop")
#elif defined(__x86_64__)
#if __GNUC__ < 11
#define FX_NO_VECTORS_TARGET _Pragma("GCC target(\"no-sse\")")
#else
#define FX_NO_VECTORS_TARGET _Pragma("GCC target(\"general-regs-only\")")
#endif
#define FX_NO_VECTORS_BEGIN _Pragma("GCC push_options") FX_NO_VECTORS_TARGET
#define FX_NO_VECTORS_END   _Pragma("GCC pop_options")
#else
#define FX_NO_VECTORS_BEGIN
#define FX_NO_VECTORS_END
#endif

#endif
