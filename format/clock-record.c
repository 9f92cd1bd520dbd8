/* SPDX-License-Identifier: MIT */
#include "format/clock-record.h"

#include <string.h>

_Static_assert(sizeof(struct fx_clock_record) == 8 * FXT_WORD_SIZE, "words alone");

int fx_clock_record_encode(struct fx_encoder *encoder, const struct fx_clock_record *clock)
{
	struct fxt_record record = {.kind = FXT_KIND_BLOB};

	record.blob.type = FXT_BLOB_DATA;
	record.blob.name = fx_string_inline(FX_CLOCK_RECORD_NAME, strlen(FX_CLOCK_RECORD_NAME));
	record.blob.payload.data = clock;
	record.blob.payload.size = sizeof(*clock);
	return fx_record_encode(encoder, &record);
}

bool fx_clock_record_decode(const struct fxt_record *record, struct fx_clock_record *ret)
{
	if (record->kind != FXT_KIND_BLOB || record->blob.type != FXT_BLOB_DATA ||
	    record->blob.payload.size != sizeof(*ret) ||
	    !fxt_string_equals(&record->blob.name, FX_CLOCK_RECORD_NAME))
		return false;
	memcpy(ret, record->blob.payload.data, sizeof(*ret));
	return ret->version == FX_CLOCK_RECORD_VERSION;
}
