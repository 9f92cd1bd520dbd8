/* SPDX-License-Identifier: MIT */
/*
 * What a session says at its end: the archive, what is in it, what is not and what would help.
 */
#ifndef FX_MANAGER_SUMMARY_H
#define FX_MANAGER_SUMMARY_H

#include "manager/settings/settings.h"
#include "manager/session/result.h"

/* Lines on stderr. `program` is argv[0] of what was run, NULL if nothing was. With `quiet`, only what
 * went wrong is told. */
void fx_summary_print(const struct fx_session_config *config,
		      const struct fx_session_result *result, const char *program, bool quiet);

#endif
