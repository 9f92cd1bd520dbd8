/* SPDX-License-Identifier: MIT */
#include "manager/archive/share.h"

#include "manager/archive/own.h"

bool fx_share_has_waited(const struct fx_share_told *told)
{
	switch (told->kind) {
	case FX_SHARE_MEETS:
		return true;
	case FX_SHARE_WAKES:
		return !told->value;
	case FX_SHARE_INHERITS:
	case FX_SHARE_HAS:
	case FX_SHARE_TAKES:
	case FX_SHARE_READS:
	case FX_SHARE_WRITES:
		return told->looked;
	default:
		return false;
	}
}

void fx_share_leave(struct fx_shares *shares, const struct fx_share *share, size_t first,
		    enum fx_transfer_left why)
{
	for (size_t i = first; i < share->uses.count; i++)
		shares->counts.left[why] += fx_share_has_waited(&share->uses.items[i]);
}

void fx_share_arrow(struct fx_shares *shares, const struct fx_point *from, const char *by,
		    const struct fx_share_told *to)
{
	const struct fx_point end = {to->provider, to->pid, to->shown, to->end};
	const struct fxt_arg receiver = fx_own_pid("pid", to->pid),
			     sender = fx_own_pid("pid", from->pid);

	fx_arrow_draw_in(shares->arrows, "pthread", from, by, &receiver, &end, "gets", &sender);
	shares->counts.arrows++;
}
