/* SPDX-License-Identifier: MIT */
/* What /proc/PID says of a process. */
#ifndef FX_ATTACH_PROC_H
#define FX_ATTACH_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* Fills `ret` with the path of /proc/PID/NAME, and returns it. */
const char *fx_proc_path(pid_t pid, const char *name, char *ret, size_t size);

/* The same, open for reading; NULL with errno. */
FILE *fx_proc_open(pid_t pid, const char *name);

/* Of the auxiliary vector (getauxval(3)). False: it has none. */
bool fx_proc_auxv(pid_t pid, uint64_t type, uint64_t *ret);

/* A line of /proc/PID/status, without its name; `name` with its colon. False: there is no such line. */
bool fx_proc_status(pid_t pid, const char *name, char *ret, size_t size);

/* The same as a number; 0, too, if there is none. */
long fx_proc_status_number(pid_t pid, const char *name);

#endif
