/* SPDX-License-Identifier: MIT */
/* The kernel's folder of tracepoints, events/GROUP/NAME (tracefs). Where it is not mounted, root mounts it for this process alone. */
#ifndef FX_KERNEL_TRACEFS_H
#define FX_KERNEL_TRACEFS_H

#include <stdbool.h>
#include <stdio.h>

/* The path of events/, a static text. NULL, with errno: ENOENT there is none, EACCES it may not be read. */
const char *fx_tracefs_events(void);

/* A file of a tracepoint: "id", "format". NULL, with errno. */
FILE *fx_tracefs_open(const char *group, const char *name, const char *file);

/* Where a record has a field, by a line of "format": "\tfield:long args[6];\toffset:16;\tsize:48;\tsigned:0;". False: it is of none. */
bool fx_tracefs_field(const char *line, unsigned *offset, unsigned *size);

#endif
