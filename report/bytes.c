/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "report/bytes.h"

#include <fnmatch.h>
#include <stddef.h>

enum fx_bytes_way fx_bytes_of_name(const char *name)
{
	static const struct {
		const char *pattern;
		enum fx_bytes_way way;
	} patterns[] = {
	    {"read", FX_BYTES_READ},	   {"readv", FX_BYTES_READ},
	    {"pread*", FX_BYTES_READ},	   {"recv", FX_BYTES_READ},
	    {"recvfrom", FX_BYTES_READ},   {"recvmsg", FX_BYTES_READ},
	    {"write", FX_BYTES_WRITTEN},   {"writev", FX_BYTES_WRITTEN},
	    {"pwrite*", FX_BYTES_WRITTEN}, {"send", FX_BYTES_WRITTEN},
	    {"sendto", FX_BYTES_WRITTEN},  {"sendmsg", FX_BYTES_WRITTEN},
	    {"dprintf", FX_BYTES_WRITTEN},
	};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		if (fnmatch(patterns[i].pattern, name, 0) == 0)
			return patterns[i].way;
	}
	return FX_BYTES_NONE;
}
