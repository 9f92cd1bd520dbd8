/* SPDX-License-Identifier: MIT */
/* A flame graph: a row of boxes for each depth of calls, as wide as what passed in them. */
#ifndef FX_CONVERT_PICTURES_FLAME_H
#define FX_CONVERT_PICTURES_FLAME_H

#include "convert/pictures/picture.h"

void fx_flame_write(struct fx_picture *picture);

#endif
