/* SPDX-License-Identifier: MIT */
/* What calls do with the object that they are about: the table is deeds.def. */
#ifndef FX_REPORT_DEEDS_H
#define FX_REPORT_DEEDS_H

#include "convert/export.h"
#include "lists/vector.h"

enum fx_deed {
	FX_DEED_NONE,
	FX_DEED_TAKE,
	FX_DEED_RELEASE,
	FX_DEED_WAIT,
	FX_DEED_OPEN,
	FX_DEED_OPEN_TWO,
	FX_DEED_OPEN_AT,
	FX_DEED_CLOSE,
};

/* What is remembered of names; all zeros is an empty one. */
struct fx_deeds {
	FX_VECTOR(uint8_t) items; /* by the number of a name: 1 + enum fx_deed; 0: not looked at */
};

/* What a call of this name does; the name is a number of these texts, or 0. */
enum fx_deed fx_deeds_of(struct fx_deeds *deeds, const struct fx_texts *texts, uint32_t name);

enum fx_deed fx_deeds_of_name(const char *name);

/* Whether a call that takes a lock has got it. The owner of a robust one may have died. */
bool fx_deeds_has_taken(const struct fx_event *event, bool is_unfinished);

void fx_deeds_free(struct fx_deeds *deeds);

#endif
