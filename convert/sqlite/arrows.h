/* SPDX-License-Identifier: MIT */
/* Flows: what links a slice has is noted as it comes, and becomes arrows in the end. */
#ifndef FX_CONVERT_SQLITE_ARROWS_H
#define FX_CONVERT_SQLITE_ARROWS_H

#include "convert/export.h"
#include "convert/flow-ends.h"
#include "convert/sqlite/database.h"

struct fx_sql_arrow_end {
	struct fx_flow_end end;	 /* first: what they are put in order by */
	uint32_t category, name; /* of the chain; numbers of texts, 0: empty */
};

struct fx_sql_arrows {
	FX_VECTOR(struct fx_sql_arrow_end) links;
};

void fx_sql_arrows_note(struct fx_sql_arrows *arrows, struct fx_sql_database *database,
			int64_t slice, const struct fx_event *event);
void fx_sql_arrows_end(struct fx_sql_arrows *arrows, struct fx_sql_database *database,
		       const struct fx_texts *strings);
void fx_sql_arrows_release(struct fx_sql_arrows *arrows);

#endif
