/* SPDX-License-Identifier: MIT */
/* What a picture is to show: the options of `fxtrace convert' for profiles and drawings. */
#ifndef FX_CONVERT_PICTURES_OPTIONS_H
#define FX_CONVERT_PICTURES_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What is measured for each path of calls, without the calls below it:
 * X(NAME, type, unit, category)   type and unit as pprof calls them; a measure of a category is only shown of
 *                                 archives that have it
 */
#define FX_MEASURES(X)                                                                             \
	X(WALL, "wall", "nanoseconds", NULL)                                                       \
	X(CALLS, "calls", "count", NULL)                                                           \
	X(ON_CPU, "on_cpu", "nanoseconds", "sched")                                                \
	X(OFF_CPU, "off_cpu", "nanoseconds", NULL)                                                 \
	X(ALLOC_OBJECTS, "alloc_objects", "count", "malloc")                                       \
	X(ALLOC_SPACE, "alloc_space", "bytes", "malloc")                                           \
	X(INUSE_OBJECTS, "inuse_objects", "count", "malloc")                                       \
	X(INUSE_SPACE, "inuse_space", "bytes", "malloc")                                           \
	X(SAMPLES, "samples", "count", "sample")

#define FX_ENUM_MEASURE_(name, type, unit, category) FX_MEASURE_##name,
enum fx_measure { FX_MEASURES(FX_ENUM_MEASURE_) FX_MEASURE_COUNT };

struct fx_measure_info {
	const char *type;
	const char *unit;
	const char *category; /* NULL: any */
};

extern const struct fx_measure_info fx_measure_infos[FX_MEASURE_COUNT];

/* What --weight may say. X(name, measure, help) */
#define FX_WEIGHTS(X)                                                                              \
	X("wall", WALL, "the time that passed")                                                    \
	X("on-cpu", ON_CPU, "the time on a processor")                                             \
	X("off-cpu", OFF_CPU, "the time of waiting")                                               \
	X("alloc", ALLOC_SPACE, "bytes allocated")                                                 \
	X("inuse", INUSE_SPACE, "bytes allocated and not freed")                                   \
	X("count", CALLS, "calls")                                                                 \
	X("samples", SAMPLES, "samples of running threads")

/* False: there is none of this name. */
bool fx_weight_find(const char *name, enum fx_measure *ret);

/* What stands below one root of the tree. X(name, NAME) */
#define FX_GROUPINGS(X)                                                                            \
	X("name", NAME)	      /* processes of one name */                                          \
	X("process", PROCESS) /* a process */                                                      \
	X("thread", THREAD)   /* a thread, below its process */

#define FX_ENUM_GROUPING_(name, id) FX_GROUP_BY_##id,
enum fx_grouping { FX_GROUPINGS(FX_ENUM_GROUPING_) FX_GROUPING_COUNT };

bool fx_grouping_find(const char *name, enum fx_grouping *ret);

struct fx_picture_options {
	enum fx_measure weight;
	enum fx_grouping grouping;
	bool timeline;	/* svg: threads over time */
	uint64_t from;	/* ns after the first event */
	uint64_t to;	/* UINT64_MAX: to the end */
	uint32_t paths; /* the most that are told apart */
};

/* The defaults. */
extern const struct fx_picture_options fx_picture_defaults;

#endif
