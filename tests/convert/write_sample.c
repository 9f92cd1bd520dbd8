/* SPDX-License-Identifier: MIT */
/* write_sample: the names of all samples; write_sample NAME: that archive on standard output. */
#include <stdio.h>

#include "tests/convert/sample.h"

static int list_samples(void)
{
#define SAMPLE_NAME(name) puts(#name);
	SAMPLES(SAMPLE_NAME)
#undef SAMPLE_NAME
	return 0;
}

int main(int argc, char **argv)
{
	struct sample sample;
	size_t written;

	if (argc < 2)
		return list_samples();
	sample = sample_make(argv[1]);
	if (!sample.words) {
		fprintf(stderr, "write_sample: unknown sample '%s'\n", argv[1]);
		return 2;
	}
	written = fwrite(sample.words, 1, sample.size, stdout);
	if (written != sample.size || fflush(stdout) != 0) {
		perror("write_sample");
		return 1;
	}
	sample_free(&sample);
	return 0;
}
