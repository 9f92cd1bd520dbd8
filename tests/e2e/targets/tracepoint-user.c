/* SPDX-License-Identifier: MIT */
/* Begins and ends to use a tracepoint, by its number, again and again until there is a file `stop'. Writes `began' when it has done so
 * once, and says how often it has. */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_TRACEPOINT,
	    .size = sizeof(attr),
	    .config = argc > 1 ? strtoull(argv[1], NULL, 10) : 0,
	    .disabled = 1,
	};
	unsigned count = 0;

	while (access("stop", F_OK) != 0) {
		int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

		if (fd < 0)
			return 77;
		close(fd);
		if (!count++)
			close(open("began", O_CREAT | O_WRONLY, 0600));
	}
	printf("%u\n", count);
	return 0;
}
