/* SPDX-License-Identifier: MIT */
#include "preload/host/dwarf.h"

uint64_t fx_dwarf_encoded(struct fx_dwarf *c, uint8_t encoding, const uint8_t *data)
{
	uint64_t here = (uint64_t)(uintptr_t)c->at, value;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = fx_dwarf_bytes(c, 8);
		break;
	case DW_EH_PE_udata4:
		value = fx_dwarf_bytes(c, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int64_t)(int32_t)fx_dwarf_bytes(c, 4);
		break;
	case DW_EH_PE_udata2:
		value = fx_dwarf_bytes(c, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int64_t)(int16_t)fx_dwarf_bytes(c, 2);
		break;
	default:
		c->bad = true;
		return 0;
	}
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		value += here;
	else if ((encoding & 0x70) == DW_EH_PE_datarel)
		value += (uint64_t)(uintptr_t)data;
	else if (encoding & 0x70)
		c->bad = true;
	return value;
}
