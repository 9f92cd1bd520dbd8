/* SPDX-License-Identifier: MIT */
/*
 * Long text for people: through a pager, in colour, as wide as the terminal, as git does. The pager is $FXTRACE_PAGER,
 * else $PAGER, else less; an empty one or `cat' is none. less is told to leave at once when the text fits the screen
 * (LESS=FRX, unless it is set).
 */
#ifndef FX_CLIENT_PAGER_H
#define FX_CLIENT_PAGER_H

#include <stdbool.h>

/* If standard output is a terminal, all that is written to it from now on goes through the pager. A pager that cannot
 * be started is none. */
void fx_pager_start(void);

/* Waits until the user has left the pager. */
void fx_pager_end(void);

/* Whether to print in colour: `when' is "always", "never" or "auto", which looks at the terminal and NO_COLOR. To be
 * asked before the pager is started. */
bool fx_color_wanted(const char *when);

/* The value of a command's --color; wrong usage ends the program, named by `command'. */
const char *fx_color_option(const char *command, const char *when);

/* The columns of the terminal that is standard output, or those of COLUMNS; 0: it is none. To be asked before the
 * pager is started. */
unsigned fx_terminal_width(void);

#endif
