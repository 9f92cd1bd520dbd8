/* SPDX-License-Identifier: MIT */
#include "client/archive.h"

#include <string.h>
#include <unistd.h>

int fx_archive_open(const char *file, struct fxt_reader **ret)
{
	if (strcmp(file, "-") == 0)
		return fxt_reader_open_fd(STDIN_FILENO, ret);
	return fxt_reader_open_path(file, ret);
}
