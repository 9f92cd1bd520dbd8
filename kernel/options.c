/* SPDX-License-Identifier: MIT */
#include "kernel/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernel/asked.h"
#include "protocol/kernel-ready.h"

static const char usage[] =
    "Usage: fxtrace-kernel --socket PATH [--pid PID] [--everyone] [--sample HZ] [--switches] "
    "[--calls] [--machine] [--alone] [--session] "
    "[--categories LIST] [--ready FD] [--probes LIST] [-- COMMAND...]\n"
    "Tells the manager at PATH what the kernel says of process PID and of what it starts, or of "
    "all that are traced.\n"
    "It is started by `fxtrace run --sample' and `--kernel', and ends by SIGTERM.\n";

static _Noreturn void usage_end(FILE *to, int status)
{
	fputs(usage, to);
	exit(status);
}

static long option_number(const char *name, const char *text, long most)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || end == text || *end || number < 0 || number > most) {
		fprintf(stderr, FX_KERNEL_NAME ": --%s: not a number from 0 to %ld: %s\n", name,
			most, text);
		exit(2);
	}
	return number;
}

void fx_kernel_options_take(int argc, char **argv, struct fx_kernel_options *ret)
{
	static const struct option table[] = {
	    {"socket", required_argument, NULL, 's'}, {"pid", required_argument, NULL, 'p'},
	    {"sample", required_argument, NULL, 'f'}, {"switches", no_argument, NULL, 'w'},
	    {"alone", no_argument, NULL, 'a'},	      {"calls", no_argument, NULL, 'c'},
	    {"everyone", no_argument, NULL, 'e'},     {"machine", no_argument, NULL, 'm'},
	    {"session", no_argument, NULL, 't'},      {"categories", required_argument, NULL, 'k'},
	    {"probes", required_argument, NULL, 'q'}, {"ready", required_argument, NULL, 'r'},
	    {"help", no_argument, NULL, 'h'},	      {NULL, 0, NULL, 0},
	};
	int key;

	*ret = (struct fx_kernel_options){.ready = -1, .categories = ""};
	while ((key = getopt_long(argc, argv, "", table, NULL)) >= 0) {
		switch (key) {
		case 's':
			ret->socket = optarg;
			break;
		case 'p':
			ret->wish.pid = (pid_t)option_number("pid", optarg, INT32_MAX);
			break;
		case 'f':
			ret->wish.hz = (uint32_t)option_number("sample", optarg, 1000000);
			break;
		case 'w':
			ret->wish.switches = true;
			break;
		case 'c':
			ret->calls = true;
			break;
		case 'e':
			ret->wish.everyone = true;
			break;
		case 'm':
			ret->wish.machine = true;
			break;
		case 't':
			ret->session = true;
			break;
		case 'k':
			ret->categories = optarg;
			break;
		case 'a':
			ret->alone = true;
			break;
		case 'q':
			ret->probes = optarg;
			break;
		case 'r':
			ret->ready = (int)option_number("ready", optarg, INT32_MAX);
			break;
		case 'h':
			usage_end(stdout, 0);
		default:
			usage_end(stderr, 2);
		}
	}
	ret->command = argv + optind;
	if (!ret->socket || !(ret->wish.pid || ret->wish.everyone) ||
	    (!ret->probes && optind < argc))
		usage_end(stderr, 2);
}

uint32_t fx_kernel_options_sets(const struct fx_kernel_options *options)
{
	uint32_t sets = fx_asked_sets(options->categories);

	if (options->wish.switches)
		sets |= FX_KERNEL_WAKEUPS;
	if (options->wish.machine)
		sets |= FX_KERNEL_MIGRATIONS;
	if (options->calls)
		sets |= FX_KERNEL_CALLS | FX_KERNEL_TEXTS;
	if (options->probes)
		sets |= FX_KERNEL_PROBES;
	return sets;
}
