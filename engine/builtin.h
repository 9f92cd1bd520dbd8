/* SPDX-License-Identifier: MIT */
#ifndef FX_ENGINE_BUILTIN_H
#define FX_ENGINE_BUILTIN_H

#include <stdint.h>

/* The strings that a provider knows from the beginning. A manager that knows the same ones says so in its control page,
 * and then they are not copied into the buffer. */
struct fx_builtin {
	const uint64_t
	    *records; /* whole String Records of the indices from 1 on, less than FX_BUILTIN_SIZE */
	uint32_t words; /* of them all */
	uint32_t next;	/* the first index for other strings */
	uint64_t id;	/* a checksum of the records; 0: nobody else knows them */
};

#endif
