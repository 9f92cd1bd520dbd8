/* SPDX-License-Identifier: MIT */
#include "client/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/commands.h"

int fx_archive_open(const char *file, struct fxt_reader **ret)
{
	if (strcmp(file, "-") == 0)
		return fxt_reader_open_fd(STDIN_FILENO, ret);
	return fxt_reader_open_path(file, ret);
}

int fx_archive_complain(const char *program, const char *file, int error,
			const struct fxt_fault *fault)
{
	char text[160];

	if (fault && fault->kind != FXT_FAULT_NONE && (error == 0 || error == -EBADMSG)) {
		fxt_fault_format(fault, text, sizeof(text));
		fprintf(stderr, "%s: %s: offset 0x%" PRIx64 ": %s\n", program, file, fault->offset,
			text);
	} else {
		fprintf(stderr, "%s: %s: %s\n", program, file, strerror(-error));
	}
	return FX_EXIT_FAILURE;
}

bool fx_archive_is_same(const char *file, const char *other)
{
	struct stat a, b;

	return stat(file, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}
