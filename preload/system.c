/* SPDX-License-Identifier: MIT */
/* Time, signals, identities, limits, terminals: wrappers of the generic shape. */
#include "preload/call.h"
#include "preload/real.h"

#include "preload/unit-system.inc"
