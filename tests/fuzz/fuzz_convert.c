/* SPDX-License-Identifier: MIT */
/*
 * Any bytes, as an archive that is converted to every format.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "convert/convert.h"
#include "convert/pictures/options.h"
#include "convert/indexer.h"
#include "tests/fuzz/fuzz.h"

static void progress(void *opaque, uint64_t done, uint64_t total)
{
	(void)opaque;
	if (total && done > total)
		abort();
}

/* Pictures are made a second time: the other kinds of each, of a part of the time, with few paths. */
static const struct fx_picture_options others = {
    .weight = FX_MEASURE_OFF_CPU,
    .grouping = FX_GROUP_BY_THREAD,
    .timeline = true,
    .from = 10,
    .to = UINT64_C(1) << 40,
    .paths = 5,
};

static void export(struct fx_timeline *timeline, const struct fx_format *format,
		   const struct fx_picture_options *options)
{
	struct fx_exporter *exporter;
	struct fx_sink *sink;

	if (fx_sink_open(open("/dev/null", O_WRONLY | O_CLOEXEC), FX_PACKING_NONE, &sink) < 0)
		abort();
	exporter = format->make(timeline, sink);
	if (!exporter)
		abort();
	exporter->picture = options;
	fx_convert(exporter, progress, NULL);
	format->free(exporter);
	if (fx_sink_close(sink) < 0)
		abort();
}

static void convert(int fd, const struct fx_format *format,
		    const struct fx_picture_options *options)
{
	struct fx_timeline timeline;

	lseek(fd, 0, SEEK_SET);
	if (fx_timeline_open(&timeline, fd, progress, NULL) == 0)
		export(&timeline, format, options);
	fx_timeline_close(&timeline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("archive", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	for (const struct fx_format *f = fx_formats; f->name; f++) {
		if (f->make)
			convert(fd, f, NULL);
		if (f->is_picture)
			convert(fd, f, &others);
	}
	close(fd);
	return 0;
}
