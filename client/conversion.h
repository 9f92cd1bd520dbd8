/* SPDX-License-Identifier: MIT */
/* What commands that convert an archive share: reading it, writing it to a sink, and what is said on the way. */
#ifndef FX_CLIENT_CONVERSION_H
#define FX_CLIENT_CONVERSION_H

#include "convert/convert.h"

struct fx_conversion {
	const char *program; /* the name to print, "fxtrace convert" */
	const char *in;	     /* the archive's name; "-": standard input */
	const struct fx_format *format;
	const struct fx_picture_options *picture; /* NULL: the defaults */
};

/* Opens the archive: a descriptor or -errno. Standard input is not to be closed. */
int fx_conversion_open(const struct fx_conversion *conversion);

/*
 * Reads the archive from `fd' (borrowed). Returns FX_EXIT_OK, or FX_EXIT_FAILURE, and then why is said. The timeline
 * must be closed either way.
 */
int fx_conversion_read(const struct fx_conversion *conversion, int fd,
		       struct fx_timeline *timeline);

/* Writes it. Returns 0 or -errno; errors of the output stay in the sink. */
int fx_conversion_write(const struct fx_conversion *conversion, struct fx_timeline *timeline,
			struct fx_sink *sink);

/* Says what could not be shown, and what is damaged. Returns the exit status. */
int fx_conversion_report(const struct fx_conversion *conversion,
			 const struct fx_timeline *timeline);

/* Says what is wrong with `path'. Returns FX_EXIT_FAILURE. */
int fx_conversion_fail(const struct fx_conversion *conversion, const char *path, int error);

/*
 * The name of the archive without the endings of archives and of compression, with `extension' behind it, to be freed;
 * NULL: no memory.
 */
char *fx_conversion_name(const char *in, const char *extension);

#endif
