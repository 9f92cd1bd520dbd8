/* SPDX-License-Identifier: MIT */
/* The options of `fxtrace convert' that say what a picture shows. */
#ifndef FX_CLIENT_PICTURES_H
#define FX_CLIENT_PICTURES_H

#include "client/usage.h"
#include "convert/pictures/options.h"

struct fx_picture_choice {
	struct fx_picture_options options;
	const char *given; /* the last option of them that was given; NULL: none */
};

/* Their keys, behind which those of a command may begin. */
enum {
	FX_PICTURE_WEIGHT = FX_USAGE_KEYS,
	FX_PICTURE_GROUP,
	FX_PICTURE_TIMELINE,
	FX_PICTURE_FROM,
	FX_PICTURE_TO,
	FX_PICTURE_MAX_PATHS,
};

/* For a command's table. */
/* clang-format off */
#define FX_PICTURE_OPTIONS                                                                         \
	{"weight", FX_PICTURE_WEIGHT, "WHAT", 0,                                                   \
	 "What a path of calls weighs: wall (time that passed), on-cpu, off-cpu (waiting, by "     \
	 "cause), alloc (bytes allocated), inuse (and not freed), count (calls) (wall)", 0},       \
	{"group", FX_PICTURE_GROUP, "name|process|thread", 0,                                      \
	 "Merge processes of one name, or keep each process or each thread apart (name)", 0},      \
	{"timeline", FX_PICTURE_TIMELINE, NULL, 0, "Of svg: draw the threads over time", 0},       \
	{"from", FX_PICTURE_FROM, "TIME", 0,                                                       \
	 "Show what happens from this time on, counted from the first event", 0},                  \
	{"to", FX_PICTURE_TO, "TIME", 0, "Show what happens up to this time", 0},                  \
	{"max-paths", FX_PICTURE_MAX_PATHS, "N", 0,                                                \
	 "Tell this many paths of calls apart, and merge further ones (500000)", 0}
/* clang-format on */

/* Takes one of them; a bad value is wrong usage. False: the key is none of theirs. */
bool fx_picture_option(struct fx_picture_choice *choice, const char *command, int key,
		       const char *value);

#endif
