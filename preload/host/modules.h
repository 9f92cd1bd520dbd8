/* SPDX-License-Identifier: MIT */
/*
 * The process's modules (executable, shared objects): path, build-id and where their code is mapped, as
 * Profiler module and mmap records in the durable area. With them an address can be named when the
 * process is long gone.
 *
 * The records of all modules known so far are kept encoded, so that a forked child writes them into its
 * own buffer by one copy, without asking the dynamic linker anything.
 */
#ifndef FX_PRELOAD_MODULES_H
#define FX_PRELOAD_MODULES_H

#include <stdint.h>

/* Collects what is loaded, the first time, before any thread can see more. `program`: the main program's path; empty: not
 * known. */
void fx_modules_collect(const char *program);

/* Writes all that is known into the durable area of the buffer just attached. */
void fx_modules_write(void);

/* A code address seen for the first time: adds the module that was loaded with it, if it is new.
 * Lock-free: asks the dynamic linker through _dl_find_object(). */
void fx_modules_see(uint64_t address);

/* After a dlclose(): forgets the modules that went with it, and the names of what lay there, since the next
 * dlopen() uses the same addresses. As lock-free. */
void fx_modules_forget(void);

#endif
