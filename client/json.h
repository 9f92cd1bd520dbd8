/* SPDX-License-Identifier: MIT */
/* What several commands print: texts as JSON and for the terminal, and the summary of a session as JSON. */
#ifndef FX_CLIENT_JSON_H
#define FX_CLIENT_JSON_H

#include <stdbool.h>

#include "manager/session/result.h"

/* A JSON string, with its quotation marks, on stdout; other bytes than UTF-8 are escaped (base/escape.h). */
void fx_json_print(const char *text);

/* The same for a terminal, control characters escaped too; blanks follow up to `width` bytes. */
void fx_text_print(const char *text, int width);

/* What fx_summary_print() says, on a line of stdout; `circular`: the session kept the newest alone. */
void fx_json_summary(const struct fx_session_config *config, const struct fx_session_result *result,
		     bool circular);

#endif
