/* SPDX-License-Identifier: MIT */
/*
 * What a viewer calls a process, whose number it puts beside it: the title that the process has given itself; else its
 * command line, without the folder of its program; else its name. In one line.
 */
#ifndef FX_CONVERT_TITLE_H
#define FX_CONVERT_TITLE_H

#include "convert/timeline.h"

/* Bytes; what is longer is cut between two characters, and ends in "...". */
#define FX_TITLE_MAX 128u

/* False, and no title: nothing is known of it. */
bool fx_title_of(const struct fx_process *process, char ret[FX_TITLE_MAX]);

#endif
