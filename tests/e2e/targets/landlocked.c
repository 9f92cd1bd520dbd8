/* SPDX-License-Identifier: MIT */
/* Gives up reading of all files but those in the folders that it is told, and starts others. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Landlock's, for headers before Linux 5.13. */
#define CREATE_RULESET 444
#define ADD_RULE       445
#define RESTRICT_SELF  446
#define PATH_BENEATH   1
#define EXECUTE_READ   5

struct beneath {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

int main(int argc, char **argv)
{
	const uint64_t handled = EXECUTE_READ;
	int rules = (int)syscall(CREATE_RULESET, &handled, sizeof(handled), 0);

	setvbuf(stdout, NULL, _IONBF, 0);
	if (rules < 0)
		return 77;
	for (int i = 1; i < argc; i++) {
		struct beneath beneath = {EXECUTE_READ, open(argv[i], O_PATH)};

		if (beneath.fd < 0)
			continue;
		if (syscall(ADD_RULE, rules, PATH_BENEATH, &beneath, 0))
			return 77;
		close(beneath.fd);
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(RESTRICT_SELF, rules, 0))
		return 77;
	close(rules);
	if (fork() == 0) {
		execlp("echo", "echo", "by exec", (char *)NULL);
		_exit(1);
	}
	wait(NULL);
	execl("/bin/sh", "sh", "-c", "echo at last", (char *)NULL);
	return 1;
}
