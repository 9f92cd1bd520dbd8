/* SPDX-License-Identifier: MIT */
/*
 * Any bytes, as an archive that is converted to every format.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/convert.h"
#include "convert/indexer.h"
#include "tests/fuzz/fuzz.h"

static void progress(void *opaque, uint64_t done, uint64_t total)
{
	(void)opaque;
	if (total && done > total)
		abort();
}

static void export(struct fx_timeline *timeline, const struct fx_format *format)
{
	struct fx_exporter *exporter;
	struct fx_sink *sink;

	if (fx_sink_open(open("/dev/null", O_WRONLY | O_CLOEXEC), false, &sink) < 0)
		abort();
	exporter = format->make(timeline, sink);
	if (!exporter)
		abort();
	fx_convert(exporter, progress, NULL);
	format->free(exporter);
	if (fx_sink_close(sink) < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	for (const struct fx_format *f = fx_formats; f->name; f++) {
		struct fx_timeline timeline;

		lseek(fd, 0, SEEK_SET);
		if (fx_timeline_open(&timeline, fd, progress, NULL) == 0)
			export(&timeline, f);
		fx_timeline_close(&timeline);
	}
	close(fd);
	return 0;
}
