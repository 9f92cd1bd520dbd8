/* SPDX-License-Identifier: MIT */
#include "tests/manager/shared.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/manager/records.h"

void shared_begin(struct fx_stream_shared *ret, struct fx_ties *ties)
{
	struct fx_output *out;

	memset(ret, 0, sizeof(*ret));
	ret->max_strings = 1 << 20;
	cr_assert_eq(fx_output_open(archive_path(), &out), 0);
	cr_assert_eq(fx_output_begin(out), 0);
	cr_assert_eq(fx_symbol_cache_create(NULL, &ret->symbols), 0);
	fx_archive_begin(&ret->archive, out);
	fx_ties_init(ties, &ret->archive);
	ret->ties = ties;
	fx_timebase_init(&ret->timebase, FX_CLOCK_BOOTTIME, (struct fx_anchor){1, 1});
}
