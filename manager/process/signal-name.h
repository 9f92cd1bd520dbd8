/* SPDX-License-Identifier: MIT */
/* Names of signals, for libcs without sigabbrev_np() too (glibc before 2.32). */
#ifndef FX_MANAGER_PROCESS_SIGNAL_NAME_H
#define FX_MANAGER_PROCESS_SIGNAL_NAME_H

/* "SIGSEGV"; "SIG?" for one that has no name (real-time signals). */
const char *fx_signal_name(int number);

#endif
