/* SPDX-License-Identifier: MIT */
/* Where a writer's bytes go: a descriptor or a function, plain or compressed. */
#ifndef FX_FORMAT_OUTLET_H
#define FX_FORMAT_OUTLET_H

#include <stdbool.h>
#include <stddef.h>

#include <fxtrace/writer.h>

struct fx_outlet;

/* Each returns 0 or -errno. A descriptor is borrowed unless @own; it is then closed with it. */
int fx_outlet_open_fd(int fd, bool own, struct fx_outlet **ret);
int fx_outlet_open_function(fxt_write_function *write, void *opaque, struct fx_outlet **ret);

/* Before the first byte only. 0 or -errno. */
int fx_outlet_compress(struct fx_outlet *outlet, enum fxt_compression compression, int level);

/* Each returns 0 or the first error of this outlet. */
int fx_outlet_write(struct fx_outlet *outlet, const void *data, size_t size);
int fx_outlet_flush(struct fx_outlet *outlet);

/* Writes the rest and frees everything; 0, or the first error. */
int fx_outlet_close(struct fx_outlet *outlet);

#endif /* FX_FORMAT_OUTLET_H */
