/* SPDX-License-Identifier: MIT */
#include "client/kernel-categories.h"

#include <string.h>

#include "manager/process/kernel-rights.h"
#include "protocol/kernel-ready.h"

static const struct {
	const char *name;
	enum fx_kernel_part part;
	const char *help;
	unsigned bytes;
	const char *when;
} kernel_categories[] = {
#define FX_KERNEL_CATEGORY(name, part, help, bytes, when)                                          \
	{name, FX_KERNEL_OF_##part, help, bytes, when},
#include "client/kernel-categories.def"
#undef FX_KERNEL_CATEGORY
};

static const char *kernel_help(const char *name)
{
	static const struct {
		const char *name, *help;
	} sets[] = {
#define SET_(sym, bit, category, help) {category, help},
	    FX_KERNEL_SETS(SET_)
#undef SET_
	};

	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		if (sets[i].help && strcmp(sets[i].name, name) == 0)
			return sets[i].help;
	}
	return "";
}

bool fx_kernel_category(size_t index, struct fx_kernel_category *ret)
{
	int right;

	if (index >= sizeof(kernel_categories) / sizeof(kernel_categories[0]))
		return false;
	right = fx_kernel_right(kernel_categories[index].part);
	*ret = (struct fx_kernel_category){
	    .name = kernel_categories[index].name,
	    .help = kernel_categories[index].help ? kernel_categories[index].help
						  : kernel_help(kernel_categories[index].name),
	    .bytes = kernel_categories[index].bytes,
	    .when = kernel_categories[index].when,
	    .cure = right < 0 ? fx_kernel_cure(kernel_categories[index].part, right) : NULL,
	};
	return true;
}
