/* SPDX-License-Identifier: MIT */
#include "mpi/hooks.h"

#ifdef OPEN_MPI
#pragma weak ompi_mpi_comm_null
#endif

#define FX_MPI_WRAPPER __attribute__((visibility("default")))

#include "mpi/wrappers.inc"
