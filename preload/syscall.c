/* SPDX-License-Identifier: MIT */
/* The wrappers of unit syscall: all of the generic shape. */
#include "preload/call.h"
#include "preload/real.h"

#include "preload/unit-syscall.inc"
