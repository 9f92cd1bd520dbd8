/* SPDX-License-Identifier: MIT */
/* Which calls wait, and for what. */
#ifndef FX_CONVERT_PICTURES_CAUSES_H
#define FX_CONVERT_PICTURES_CAUSES_H

/* What a thread in this call waits for, as "[lock]"; NULL: the call is not known to wait. */
const char *fx_cause_of(const char *category, const char *name);

#endif
