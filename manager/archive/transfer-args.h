/* SPDX-License-Identifier: MIT */
/* What a record in work says of a call that moves bytes: see transfers.h. */
#ifndef FX_MANAGER_TRANSFER_ARGS_H
#define FX_MANAGER_TRANSFER_ARGS_H

#include <stdint.h>

/* The words of its arguments, 0: it has none. */
struct fx_transfer_args {
	uint8_t way; /* enum fx_meaning of its name; 0: it moves no bytes */
	uint8_t nargs;
	uint16_t fd, ret, size, flags, total_read, total_written, addr, error, messages, ready,
	    queue, choice, received, value;
	uint32_t file, in_file, out_file,
	    connection; /* references to strings, as the provider wrote them */
	uint32_t flags_ref, error_ref, addr_ref, messages_ref, ready_ref;
};

#endif
