/* SPDX-License-Identifier: MIT */
/* Files and file systems: wrappers of the generic shape. */
#include "preload/call.h"
#include "preload/real.h"

#include "preload/unit-files.inc"
