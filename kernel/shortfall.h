/* SPDX-License-Identifier: MIT */
/* What programs of BPF may not have seen. */
#ifndef FX_KERNEL_SHORTFALL_H
#define FX_KERNEL_SHORTFALL_H

struct fx_follow;

/* Says it at the end, on standard error and in the trace; NULL, or where there is nothing: nothing. */
void fx_shortfall_tell(const struct fx_follow *follow);

#endif
