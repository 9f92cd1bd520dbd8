/* SPDX-License-Identifier: MIT */
/* Says which release a libfxtrace.so is: `strings libfxtrace.so | grep '@(#)'`. */
#include "config.h"

__attribute__((used)) static const char ident[] = "@(#)libfxtrace.so of " PACKAGE_STRING;
