/* SPDX-License-Identifier: MIT */
/* The lists of names.tbl, without what shows arguments by them: descriptors are told by some. */
#include "preload/show/names-headers.h"

#include "preload/names.h"
#include "preload/name-lists.inc"
