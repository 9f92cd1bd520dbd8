/* SPDX-License-Identifier: MIT */
#include "manager/process/signal-name.h"

#include <signal.h>
#include <stddef.h>

#define NAME(number) [number] = #number

static const char *const names[] = {
    NAME(SIGHUP),  NAME(SIGINT),    NAME(SIGQUIT), NAME(SIGILL),   NAME(SIGTRAP),   NAME(SIGABRT),
    NAME(SIGBUS),  NAME(SIGFPE),    NAME(SIGKILL), NAME(SIGUSR1),  NAME(SIGSEGV),   NAME(SIGUSR2),
    NAME(SIGPIPE), NAME(SIGALRM),   NAME(SIGTERM), NAME(SIGCHLD),  NAME(SIGSTKFLT), NAME(SIGCONT),
    NAME(SIGSTOP), NAME(SIGTSTP),   NAME(SIGTTIN), NAME(SIGTTOU),  NAME(SIGURG),    NAME(SIGXCPU),
    NAME(SIGXFSZ), NAME(SIGVTALRM), NAME(SIGPROF), NAME(SIGWINCH), NAME(SIGPOLL),   NAME(SIGPWR),
    NAME(SIGSYS)};

const char *fx_signal_name(int number)
{
	const char *name = NULL;

	if (number > 0 && (size_t)number < sizeof names / sizeof names[0])
		name = names[number];
	return name ? name : "SIG?";
}
