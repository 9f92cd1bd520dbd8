/* SPDX-License-Identifier: MIT */
/*
 * What a manager answers, as the commands of the client read it. The first byte says which command, the
 * rest which messages come, in which sizes, with which bytes changed and with how many descriptors.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/commands.h"
#include "client/link.h"
#include "protocol/socket.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"

#define MESSAGES_MAX 12u

typedef int command(int argc, char **argv);

static const struct {
	command *run;
	const char *argument; /* beside --json; NULL none */
} commands[] = {
    {fx_cmd_status, NULL}, {fx_cmd_list_providers, NULL},	    {fx_cmd_list_categories, NULL},
    {fx_cmd_stop, NULL},   {fx_cmd_snapshot, "--output=/dev/null"}, {fx_cmd_terminate, NULL},
};

static const struct {
	uint16_t type;
	size_t size;
} answers[] = {
    {FX_MSG_RESULT, sizeof(struct fx_msg_result)},
    {FX_MSG_STATUS, sizeof(struct fx_msg_status)},
    {FX_MSG_PROVIDERS, sizeof(struct fx_msg_providers)},
    {FX_MSG_CATEGORIES, sizeof(struct fx_msg_categories)},
    {FX_MSG_ALERT, sizeof(struct fx_msg_alert)},
};

/* The end of the connection that the command gets. */
static int client_end;

int __wrap_fx_link_open(struct fx_link *ret, const char *name, const char *socket);

/* In place of the function that connects. */
int __wrap_fx_link_open(struct fx_link *ret, const char *name, const char *socket)
{
	(void)socket;
	*ret = (struct fx_link){.command = name, .fd = client_end};
	client_end = -1;
	return 0;
}

int __wrap_fx_hosts_snapshot(const char *list, const char *command, const char *output,
			     bool awaits);

/* In place of the function that asks other hosts, of which no command here tells. */
int __wrap_fx_hosts_snapshot(const char *list, const char *command, const char *output, bool awaits)
{
	(void)list, (void)command, (void)output, (void)awaits;
	return FX_EXIT_FAILURE;
}

void __wrap_fx_report(const char *format, ...);
void __wrap_fx_report_as(const char *who, const char *format, ...);

/* In place of the functions that print a line. */
void __wrap_fx_report(const char *format, ...)
{
	char line[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
}

void __wrap_fx_report_as(const char *who, const char *format, ...)
{
	char line[1024];
	va_list args;

	(void)who;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
}

static size_t message_take(struct input *in, union fx_message_any *ret)
{
	uint8_t how = input_u8(in);
	size_t which = how % (sizeof(answers) / sizeof(answers[0])), size = answers[which].size;

	memset(ret, 0, sizeof(*ret));
	ret->GET_STATUS.header = fx_message_header((enum fx_message_type)answers[which].type);
	for (unsigned patches = how / 8 % 8; patches--;) {
		size_t at = input_u16(in) % size, length = input_u8(in) % 64;

		if (length > size - at)
			length = size - at;
		input_take(in, (uint8_t *)ret + at, length);
	}
	return how >= 0xc0 ? input_u16(in) % sizeof(*ret) : size;
}

static void messages_send(struct input *in, int fd)
{
	static union fx_message_any m;

	for (unsigned i = 0; i < MESSAGES_MAX && !input_is_over(in); i++) {
		size_t size = message_take(in, &m), count = size % 5 % (FX_FD_COUNT + 1);
		const int fds[FX_FD_COUNT] = {fd, fd, fd};

		/* What has no room any more is lost. */
		fx_socket_send(fd, &m, size, fds, size % 7 ? 0 : count);
	}
	/* The command may still send; it finds the end behind the last message. */
	shutdown(fd, SHUT_WR);
}

/* Output goes nowhere. */
static void quiet(void)
{
	static FILE *nowhere;

	if (nowhere)
		return;
	nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		abort();
	stdout = stderr = nowhere;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, data + size};
	uint8_t what = input_u8(&in);
	size_t which = what % (sizeof(commands) / sizeof(commands[0]));
	char *argv[4] = {(char *)"fxtrace command"};
	int argc = 1, pair[2];

	quiet();
	if (what & 0x80)
		argv[argc++] = (char *)"--json";
	if (commands[which].argument)
		argv[argc++] = (char *)commands[which].argument;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	client_end = pair[0];
	messages_send(&in, pair[1]);
	commands[which].run(argc, argv);
	if (client_end >= 0)
		close(client_end);
	close(pair[1]);
	return 0;
}
