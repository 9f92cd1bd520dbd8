/* SPDX-License-Identifier: MIT */
/*
 * A run as one of many: the rank that it has in a job, and names of archives that tell one run from the others.
 *
 * What starts the ranks says which they are, by variables of theirs: Slurm (srun), PMIx and Open MPI (mpirun), and PMI
 * (MPICH). The first of SLURM_PROCID, PMIX_RANK, OMPI_COMM_WORLD_RANK and PMI_RANK that is a number counts; of
 * SLURM_JOB_ID, PBS_JOBID and LSB_JOBID the first that is set is the job.
 */
#ifndef FX_CLIENT_JOB_H
#define FX_CLIENT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* False: no variable says it: FX_JOB_NO_RANK. */
#define FX_JOB_NO_RANK                                                                             \
	"this process has no rank (SLURM_PROCID, PMIX_RANK, OMPI_COMM_WORLD_RANK and PMI_RANK "    \
	"are not set)"
bool fx_job_rank(uint64_t *ret);

/* `list`: ranks and ranges of them, divided by commas: 0,7,100-103. False: it is not. */
bool fx_job_ranks_parse(const char *list);

/* Whether `rank` is one of such a list. */
bool fx_job_ranks_have(const char *list, uint64_t rank);

struct fx_job_run {
	const char *program; /* as it is started; NULL: there is none */
	pid_t pid;
};

/*
 * Writes the name that `pattern' stands for: %h the host, %j the job, %n the program's name without its folder, %p the
 * process id, %r the rank, %% a percent sign. What is put in has '_' in place of '/' and of what is not printable. Where there
 * are signs, folders of the name that are not there are made. NULL, or what is wrong, a static text.
 */
const char *fx_job_name(const char *pattern, const struct fx_job_run *run, char *ret, size_t size);

#endif
