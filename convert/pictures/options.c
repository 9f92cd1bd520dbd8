/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <string.h>

#include "convert/pictures/options.h"

enum { DEFAULT_PATHS = 500000 };

const struct fx_measure_info fx_measure_infos[FX_MEASURE_COUNT] = {
#define MEASURE_INFO(name, type, unit, category) {type, unit, category},
    FX_MEASURES(MEASURE_INFO)
#undef MEASURE_INFO
};

const struct fx_picture_options fx_picture_defaults = {
    .weight = FX_MEASURE_WALL,
    .grouping = FX_GROUP_BY_NAME,
    .to = UINT64_MAX,
    .paths = DEFAULT_PATHS,
};

bool fx_weight_find(const char *name, enum fx_measure *ret)
{
	static const struct {
		const char *name;
		enum fx_measure measure;
	} weights[] = {
#define WEIGHT_(name, measure, help) {name, FX_MEASURE_##measure},
	    FX_WEIGHTS(WEIGHT_)
#undef WEIGHT_
	};

	for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
		if (strcmp(weights[i].name, name) == 0) {
			*ret = weights[i].measure;
			return true;
		}
	}
	return false;
}

bool fx_grouping_find(const char *name, enum fx_grouping *ret)
{
	static const char *const names[] = {
#define GROUPING_(name, id) name,
	    FX_GROUPINGS(GROUPING_)
#undef GROUPING_
	};

	for (size_t i = 0; i < FX_GROUPING_COUNT; i++) {
		if (strcmp(names[i], name) == 0) {
			*ret = (enum fx_grouping)i;
			return true;
		}
	}
	return false;
}
