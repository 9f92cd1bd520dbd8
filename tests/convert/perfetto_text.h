/* SPDX-License-Identifier: MIT */
/*
 * A Perfetto trace as text, one line for each packet that says something: tracks as they are
 * described, events with their track, absolute time, category:name, arguments, and flows.
 */
#ifndef TESTS_CONVERT_PERFETTO_TEXT_H
#define TESTS_CONVERT_PERFETTO_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* Returns 0; -1: it is malformed, or uses what it has not described. */
int perfetto_print(FILE *out, const unsigned char *data, size_t size);

#endif
