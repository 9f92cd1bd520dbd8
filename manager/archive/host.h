/* SPDX-License-Identifier: MIT */
/* The host record of an archive (format/host-record.h). */
#ifndef FX_MANAGER_HOST_H
#define FX_MANAGER_HOST_H

struct fx_archive;

/* Writes it into the section that is selected. `clock`: what times are read from, and why. */
void fx_host_write(struct fx_archive *archive, const char *clock);

#endif
