/* SPDX-License-Identifier: MIT */
/* Which MPI a program has, and what is preloaded for it. */
#ifndef FX_MANAGER_PROGRAM_MPI_H
#define FX_MANAGER_PROGRAM_MPI_H

#include <stddef.h>

/*
 * Looks at argv[0] and, since what starts ranks has the program as an argument, at the other words that name programs, and at what
 * the dynamic linker would load for them. If one has an MPI, and beside libfxtrace.so, which is `library`, lies what is for that
 * one: its path, which is `ret`; else NULL. What the user preloads by hand stays.
 */
const char *fx_program_mpi(char *const *argv, const char *library, char *ret, size_t size);

/* By what is in a list of libraries, as ld.so --list prints them: "openmpi", "mpich", or NULL. */
const char *fx_program_mpi_kind(const char *list);

#endif
