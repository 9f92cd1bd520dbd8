/* SPDX-License-Identifier: MIT */
/* An exporter that hands on all that it is told to two others, so that both see one walk through an archive. */
#ifndef FX_CONVERT_TEE_H
#define FX_CONVERT_TEE_H

#include "convert/export.h"

struct fx_tee {
	struct fx_exporter exporter;
	struct fx_exporter *first, *second; /* borrowed */
	/* Called when the first is finished, and the second is not. */
	void (*between)(void *opaque);
	void *opaque;
};

void fx_tee_init(struct fx_tee *tee, struct fx_exporter *first, struct fx_exporter *second);

#endif
