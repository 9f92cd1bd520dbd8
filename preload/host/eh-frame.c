/* SPDX-License-Identifier: MIT */
#include "preload/host/eh-frame.h"

/* Enters an entry behind its length; the cursor is bounded by it. */
static bool entry_enter(const uint8_t *at, struct fx_dwarf *ret)
{
	uint32_t length;

	memcpy(&length, at, sizeof length);
	*ret = (struct fx_dwarf){at + 4, at + 4 + length, false};
	return length != 0 && length != UINT32_MAX; /* 64-bit lengths do not occur */
}

static bool cie_augmentation(struct fx_cie *cie, const char *letters, struct fx_dwarf *c)
{
	uint64_t length = fx_dwarf_uleb(c);
	const uint8_t *end = c->at + length;

	if (length > (uint64_t)(c->end - c->at))
		return false;
	for (letters++; *letters; letters++) {
		switch (*letters) {
		case 'R':
			cie->pointer_encoding = (uint8_t)fx_dwarf_bytes(c, 1);
			break;
		case 'P':
			fx_dwarf_encoded(c, (uint8_t)fx_dwarf_bytes(c, 1) & 0x7f, NULL);
			break;
		case 'L':
			fx_dwarf_bytes(c, 1);
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* aarch64: which key signs return addresses, */
		case 'G': /* and that the frame is tagged memory */
			break;
		default:
			return false;
		}
	}
	c->at = end;
	cie->has_augmentation = true;
	return !c->bad;
}

static bool cie_read(const uint8_t *at, struct fx_cie *ret)
{
	const char *letters;
	struct fx_dwarf c;
	uint8_t version;

	*ret = (struct fx_cie){.pointer_encoding = DW_EH_PE_absptr};
	if (!entry_enter(at, &c) || fx_dwarf_bytes(&c, 4) != 0)
		return false;
	version = (uint8_t)fx_dwarf_bytes(&c, 1);
	letters = (const char *)c.at;
	c.at += strnlen(letters, (size_t)(c.end - c.at)) + 1;
	ret->code_align = fx_dwarf_uleb(&c);
	ret->data_align = fx_dwarf_sleb(&c);
	ret->return_register = version == 1 ? fx_dwarf_bytes(&c, 1) : fx_dwarf_uleb(&c);
	if (letters[0] == 'z' ? !cie_augmentation(ret, letters, &c) : letters[0] != 0)
		return false;
	ret->program = c;
	return !c.bad;
}

static bool fde_read(const uint8_t *at, struct fx_fde *ret)
{
	const uint8_t *cie;
	struct fx_dwarf c;

	if (!entry_enter(at, &c))
		return false;
	cie = c.at;
	cie -= fx_dwarf_bytes(&c, 4);
	if (!cie_read(cie, &ret->cie))
		return false;
	ret->start = fx_dwarf_encoded(&c, ret->cie.pointer_encoding, NULL);
	ret->size = fx_dwarf_encoded(&c, ret->cie.pointer_encoding & 0x0f, NULL);
	if (ret->cie.has_augmentation) {
		uint64_t length = fx_dwarf_uleb(&c);

		if (length > (uint64_t)(c.end - c.at))
			return false;
		c.at += length;
	}
	ret->program = c;
	return !c.bad;
}

/* The table that linkers write: pairs of 32-bit distances from the header, sorted by address. */
struct search_table {
	const uint8_t *header;
	const int32_t *pairs;
	uint64_t count;
};

static bool table_read(const uint8_t *header, struct search_table *ret)
{
	struct fx_dwarf c = {header + 4, header + 4 + 64, false};

	if (header[0] != 1 || header[2] != DW_EH_PE_udata4 ||
	    header[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return false;
	fx_dwarf_encoded(&c, header[1], header);
	ret->count = fx_dwarf_bytes(&c, 4);
	ret->pairs = (const int32_t *)c.at;
	ret->header = header;
	return !c.bad && ret->count != 0;
}

/* The last entry that begins at `pc` or before. */
static const uint8_t *table_search(const struct search_table *t, uint64_t pc)
{
	int64_t wanted = (int64_t)(pc - (uint64_t)(uintptr_t)t->header);
	uint64_t low = 0, high = t->count;

	if (wanted < t->pairs[0])
		return NULL;
	while (high - low > 1) {
		uint64_t middle = low + (high - low) / 2;

		if (t->pairs[2 * middle] <= wanted)
			low = middle;
		else
			high = middle;
	}
	return t->header + t->pairs[2 * low + 1];
}

bool fx_fde_find(const uint8_t *eh_frame_hdr, uint64_t pc, struct fx_fde *ret)
{
	struct search_table table;
	const uint8_t *entry;

	if (!table_read(eh_frame_hdr, &table))
		return false;
	entry = table_search(&table, pc);
	return entry && fde_read(entry, ret) && pc - ret->start < ret->size;
}

void fx_fde_starts(const uint8_t *eh_frame_hdr, void (*see)(void *opaque, uint64_t start),
		   void *opaque)
{
	struct search_table table;

	if (!table_read(eh_frame_hdr, &table))
		return;
	for (uint64_t i = 0; i < table.count; i++)
		see(opaque,
		    (uint64_t)(uintptr_t)table.header + (uint64_t)(int64_t)table.pairs[2 * i]);
}
