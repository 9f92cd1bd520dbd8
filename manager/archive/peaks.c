/* SPDX-License-Identifier: MIT */
#include "manager/archive/peaks.h"

void fx_peaks_note(struct fx_peaks *peaks, uint64_t ns, uint32_t level)
{
	struct fx_peak *items = peaks->items.items;
	size_t count = peaks->items.count;

	if (count && items[count - 1].ns > ns)
		ns = items[count - 1].ns;
	while (count && items[count - 1].level <= level)
		count--;
	peaks->items.count = count;
	if (fx_vector_reserve(&peaks->items, 1) == 0)
		peaks->items.items[peaks->items.count++] = (struct fx_peak){ns, level};
	else if (count)
		items[count - 1].ns = ns; /* a deeper one in its place */
}

uint32_t fx_peaks_since(const struct fx_peaks *peaks, uint64_t ns)
{
	const struct fx_peak *items = peaks->items.items;
	uint32_t level = 0;

	for (size_t i = peaks->items.count; i && items[i - 1].ns >= ns; i--)
		level = items[i - 1].level;
	return level;
}

void fx_peaks_clear(struct fx_peaks *peaks)
{
	fx_vector_free(&peaks->items);
}
