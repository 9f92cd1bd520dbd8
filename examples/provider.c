/* SPDX-License-Identifier: MIT */
/*
 * A program that is traced whenever somebody wants to know, without being started by fxtrace: it is linked with
 * libfxtrace-provider.
 *
 *	cc -o provider provider.c $(pkg-config --cflags --libs fxtrace-provider)
 *	fxtrace manager &
 *	./provider 5 &
 *	fxtrace record -o provider.fxt		(Ctrl-C ends it)
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fxtrace/event.h>
#include <fxtrace/provider.h>

static void changed(void *data, enum fxtrace_phase phase)
{
	static const char *const phases[] = {"has stopped", "has started", "is being stopped"};

	(void)data;
	fprintf(stderr, "tracing %s\n", phases[phase]);
}

static unsigned answer(unsigned question)
{
	TRACE_DURATION("answers", "answer", "question", TA_UINT32(question));
	usleep(1000 * (question % 5));
	return question * question;
}

int main(int argc, char **argv)
{
	static const struct fxtrace_provider_category categories[] = {
	    {"answers", "what is asked and answered"}};
	struct fxtrace_provider_options options = FXTRACE_PROVIDER_OPTIONS_INIT;
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	struct fxtrace_provider *provider;
	unsigned count = (unsigned)(seconds * 400), sum = 0;
	int r;

	options.name = "answers";
	options.categories = categories;
	options.category_count = 1;
	options.changed = changed;
	options.buffer_size = 32u << 20;
	r = fxtrace_provider_create(&provider, &options);
	if (r < 0) /* it does its work all the same */
		fprintf(stderr, "this is not traced: %s\n", strerror(-r));
	for (unsigned i = 0; i < count; i++) {
		sum += answer(i);
		TRACE_COUNTER("answers", "sum", 0, "sum", TA_UINT32(sum));
	}
	printf("%u questions\n", count);
	fxtrace_provider_destroy(provider);
	return 0;
}
