/* SPDX-License-Identifier: MIT */
/* A record that goes into the archive later than it comes, as it is whenever it is written. */
#ifndef FX_MANAGER_HELD_H
#define FX_MANAGER_HELD_H

#include <stdbool.h>
#include <stdint.h>

struct fx_held_record {
	uint64_t *words; /* owned by whoever holds it */
	uint32_t size;	 /* of them */
	bool unclean;	 /* its texts have to be escaped */
};

#endif
