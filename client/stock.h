/* SPDX-License-Identifier: MIT */
/* fxtrace convert -f fxt: an archive for readers that know the oldest text of the format alone. */
#ifndef FX_CLIENT_STOCK_H
#define FX_CLIENT_STOCK_H

/* Converts the archive on a descriptor, which is called `in`. Says what is wrong; returns the exit status. */
int fx_stock_convert(const char *program, int fd, const char *in, const char *out);

#endif
