/* SPDX-License-Identifier: MIT */
#include "manager/process/ending.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "manager/process/kin.h"

/* The first version of the kernel's struct pidfd_info, which not every libc of today has. */
struct info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t numbers[11];
	int32_t exit_code;
};

#define INFO_EXIT (UINT64_C(1) << 3)
#define GET_INFO  _IOWR(0xff, 11, struct info)

/* Lines of the log that are looked at. */
#define LINES_MAX 20000u

/* Once its parent has been told. */
static bool status_of_gone(int pidfd, int *ret)
{
	struct info info = {.mask = INFO_EXIT};

	if (ioctl(pidfd, GET_INFO, &info) != 0 || !(info.mask & INFO_EXIT))
		return false;
	*ret = info.exit_code;
	return true;
}

/* Its parent may be told between two looks. */
static bool ending_status_of(int pidfd, pid_t pid, int *ret)
{
	return status_of_gone(pidfd, ret) || fx_kin_status(pid, ret) || status_of_gone(pidfd, ret);
}

/* What stands behind the thread's name and its number in brackets, architecture by architecture. */
static const struct form {
	const char *words; /* then a number with base 16 */
	const char *then;  /* and these words and another; NULL: there is none */
	bool has_address;  /* the first number is one, and not the instruction's */
} forms[] = {
    {"]: segfault at ", " ip ", true},			 /* x86 */
    {"] general protection fault ip:", NULL, false},	 /* x86: "traps: " comes first */
    {"] trap stack segment ip:", NULL, false},		 /* x86 */
    {"]: segfault (11) at ", " nip ", true},		 /* powerpc */
    {"]: bus error (7) at ", " nip ", true},		 /* powerpc */
    {"]: unhandled signal 11 code 0x1 at ", NULL, true}, /* riscv: no mapping there */
    {"]: unhandled signal 11 code 0x2 at ", NULL, true}, /* riscv: one that forbids it */
};

static bool parse_hex(const char **at, uint64_t *ret)
{
	const char *digits = *at + (strncmp(*at, "0x", 2) == 0 ? 2 : 0);
	size_t length = strspn(digits, "0123456789abcdef");

	*at = digits + length;
	*ret = 0;
	return length > 0 && length <= 16 && sscanf(digits, "%16" SCNx64, ret) == 1;
}

/* The number in brackets that ends at `end`. */
static bool parse_tid(const char *line, const char *end, uint32_t *ret)
{
	const char *at = end;

	while (at > line && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at > line && at[-1] == '[' && end - at >= 1 && end - at <= 9 &&
	       sscanf(at, "%" SCNu32, ret) == 1;
}

static bool parse_form(const char *line, const char *at, const struct form *form,
		       struct fx_ending *ret)
{
	struct fx_ending found = *ret;
	uint64_t first, second = 0;

	if (!parse_tid(line, at, &found.tid))
		return false;
	at += strlen(form->words);
	if (!parse_hex(&at, &first))
		return false;
	if (form->then) {
		if (strncmp(at, form->then, strlen(form->then)) != 0)
			return false;
		at += strlen(form->then);
		if (!parse_hex(&at, &second))
			return false;
	}
	found.has_address = form->has_address;
	found.has_code = form->then || !form->has_address;
	found.address = form->has_address ? first : 0;
	found.code = form->has_address ? second : first;
	*ret = found;
	return true;
}

/* A thread may be called like a part of such a line: then another place of it is looked at. */
bool fx_ending_parse(const char *line, struct fx_ending *ret)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		for (const char *at = line; (at = strstr(at, forms[i].words)); at++) {
			if (parse_form(line, at, &forms[i], ret))
				return true;
		}
	}
	return false;
}

/* The newest line of one of its threads. The log is the kernel's; a manager that may not read it hears nothing. */
static void fault_find(struct fx_ending *ending, bool (*is_thread)(void *opaque, uint32_t tid),
		       void *opaque)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char line[2048];
	ssize_t n;

	for (unsigned i = 0; fd >= 0 && i < LINES_MAX; i++) {
		struct fx_ending found = *ending;

		n = read(fd, line, sizeof(line) - 1);
		if (n <= 0)
			break;
		line[n] = 0;
		if (!fx_ending_parse(line, &found) || !is_thread(opaque, found.tid))
			continue;
		*ending = found;
		ending->has_fault = true;
	}
	if (fd >= 0)
		close(fd);
}

void fx_ending_learn(struct fx_ending *ret, int pidfd, pid_t pid,
		     bool (*is_thread)(void *opaque, uint32_t tid), void *opaque)
{
	ret->is_death = true;
	ret->is_known = ret->is_known || ending_status_of(pidfd, pid, &ret->wait_status);
	if (ret->is_known && WIFSIGNALED(ret->wait_status) &&
	    (WTERMSIG(ret->wait_status) == SIGSEGV || WTERMSIG(ret->wait_status) == SIGBUS))
		fault_find(ret, is_thread, opaque);
}
