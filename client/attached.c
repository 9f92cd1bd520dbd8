/* SPDX-License-Identifier: MIT */
#include "client/attached.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "attach/inject.h"
#include "client/commands.h"
#include "client/usage.h"
#include "manager/settings/report.h"

pid_t fx_attached_pid(const char *command, const char *text)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || pid <= 0 || pid > INT_MAX)
		fx_usage_error(command, text, "not a process id");
	return (pid_t)pid;
}

int fx_attached_end(const char *command, pid_t pid, const char *name, bool verbose)
{
	char why[FX_TARGET_WHY];
	struct fx_injected injected;
	int r = fx_inject_end(pid, FX_ATTACHED_PATIENCE, &injected, why);

	if (r < 0 && r != -ESRCH) {
		fx_report_as(command,
			     "%d: %s; what leads to libfxtrace.so in it does so still, and does "
			     "nothing there: fxtrace detach %d tries again",
			     (int)pid, why, (int)pid);
		return FX_EXIT_FAILURE;
	}
	if (r == 0 && (verbose || injected.left))
		fx_report("%u words of %s are put back, %u could not be", injected.words, name,
			  injected.left);
	return 0;
}
