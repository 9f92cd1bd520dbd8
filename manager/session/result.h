/* SPDX-License-Identifier: MIT */
/* What a session was, as it is over. */
#ifndef FX_MANAGER_RESULT_H
#define FX_MANAGER_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "manager/archive/totals.h"

struct fx_session_result {
	int output_error;    /* first error of the archive, negative errno; 0 none */
	int wait_status;     /* of the program, as waitpid() gives it */
	bool has_status;     /* the program has ended */
	int signal;	     /* that ended the wait for the program; 0 none */
	uint32_t left_alive; /* traced processes that went on when the program had ended */
	uint32_t refused;    /* processes that could not be traced */
	uint64_t matched;    /* functions whose arguments or results were wanted, in all files */
	uint64_t left_out;   /* functions that are not recorded, the same */
	uint64_t unknown;    /* those of the former that nothing is known of */
	bool is_cut;	     /* there was no room for what is known of some */
	struct fx_totals totals;
};

#endif
