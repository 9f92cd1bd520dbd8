/* SPDX-License-Identifier: MIT */
/*
 * Lines for the person at the terminal: on stderr, each whole and in one write, since the traced
 * program uses the same terminal.
 */
#ifndef FX_MANAGER_REPORT_H
#define FX_MANAGER_REPORT_H

/* One line: "fxtrace: TEXT". Control characters and bytes that are no UTF-8 are escaped (base/escape.h). */
void fx_report(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same of a subcommand: "WHO: TEXT". */
void fx_report_as(const char *who, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What -error means, and what may help, if that is known. */
const char *fx_report_why(int error);

#endif
