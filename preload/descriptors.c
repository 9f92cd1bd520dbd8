/* SPDX-License-Identifier: MIT */
/* Descriptors that are waited for, and sockets: wrappers of the generic shape. */
#include "preload/call.h"
#include "preload/real.h"

#include "preload/unit-descriptors.inc"
