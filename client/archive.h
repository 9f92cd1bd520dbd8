/* SPDX-License-Identifier: MIT */
/* Archives as they are named on a command line. */
#ifndef FX_CLIENT_ARCHIVE_H
#define FX_CLIENT_ARCHIVE_H

#include <fxtrace/reader.h>

/* Opens the archive at `file`, "-" for standard input. Returns 0 or -errno. */
int fx_archive_open(const char *file, struct fxt_reader **ret);

#endif
