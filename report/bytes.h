/* SPDX-License-Identifier: MIT */
/* Calls that move bytes of their descriptor `file', by name. */
#ifndef FX_REPORT_BYTES_H
#define FX_REPORT_BYTES_H

enum fx_bytes_way { FX_BYTES_NONE, FX_BYTES_READ, FX_BYTES_WRITTEN };

/* Those with two descriptors say themselves which is which, and are none. */
enum fx_bytes_way fx_bytes_of_name(const char *name);

#endif
