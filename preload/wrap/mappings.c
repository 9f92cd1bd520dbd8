/* SPDX-License-Identifier: MIT */
/* Mappings, and memory and messages that processes share: wrappers of the generic shape. */
#include "preload/call/call.h"
#include "preload/host/real.h"

#include "preload/unit-mappings.inc"
