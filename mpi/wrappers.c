/* SPDX-License-Identifier: MIT */
#include "mpi/hooks.h"

#ifdef OPEN_MPI
#pragma weak ompi_mpi_comm_null
#endif

/*
 * MPI's functions, which go on to the wrapper if there is a tracer and the MPI is the one that this library is for, and else to
 * MPI's own by a jump: handles of another MPI, which may be wider, pass through as they are.
 */
#if defined(__x86_64__)
#define FX_MPI_JUMPS(name)                                                                         \
	"\tcmpb $0, fx_mpi_is_ours(%rip)\n"                                                        \
	"\tje 1f\n"                                                                                \
	"\tjmp fx_mpi_wrap_" #name "\n"                                                            \
	"1:\tjmp *PMPI_" #name "@GOTPCREL(%rip)\n"
#else
#define FX_MPI_JUMPS(name)                                                                         \
	"\tadrp x16, fx_mpi_is_ours\n"                                                             \
	"\tldrb w16, [x16, :lo12:fx_mpi_is_ours]\n"                                                \
	"\tcbz w16, 1f\n"                                                                          \
	"\tb fx_mpi_wrap_" #name "\n"                                                              \
	"1:\tadrp x16, :got:PMPI_" #name "\n"                                                      \
	"\tldr x16, [x16, :got_lo12:PMPI_" #name "]\n"                                             \
	"\tbr x16\n"
#endif

#define FX_MPI_WAY(name)                                                                           \
	__asm__(".pushsection .text\n"                                                             \
		"\t.globl MPI_" #name "\n"                                                         \
		"\t.type MPI_" #name ", %function\n"                                               \
		"\t.balign 16\n"                                                                   \
		"MPI_" #name ":\n"                                                                 \
		"\t.cfi_startproc\n" FX_MPI_JUMPS(name) "\t.cfi_endproc\n"                         \
							"\t.size MPI_" #name ", . - MPI_" #name    \
							"\n"                                       \
							"\t.popsection\n");

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* they are called from there alone */
#define FX_MPI_WRAPPER __attribute__((used))

#include "mpi/wrappers.inc"
