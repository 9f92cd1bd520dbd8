/* SPDX-License-Identifier: MIT */
/* The host record of an archive (format/host_record.h). */
#ifndef FX_MANAGER_HOST_H
#define FX_MANAGER_HOST_H

struct fx_archive;

/* Writes it into the section that is selected. */
void fx_host_write(struct fx_archive *archive);

#endif
