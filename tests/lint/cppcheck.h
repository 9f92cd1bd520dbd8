/* SPDX-License-Identifier: MIT */
/*
 * What cppcheck must know of system headers, which it does not read. Included by no code.
 */
#ifndef FX_LINT_CPPCHECK_H
#define FX_LINT_CPPCHECK_H

/* A macro of uthash.h that assigns its third argument. */
#define HASH_ITER(hh, head, el, tmp) for ((el) = (tmp) = (head); (el); (el) = (tmp) = (el)->hh.next)

/* Types of the machine's own class, of link.h. */
#define ElfW(type) Elf64_##type

/* A macro of slurm/spank.h that defines what Slurm looks for. */
#define SPANK_PLUGIN(name, version)

#endif
