/* SPDX-License-Identifier: MIT */
/* Mappings, and memory and messages that processes share: wrappers of the generic shape. */
#include "preload/call.h"
#include "preload/real.h"

#include "preload/unit-memory.inc"
