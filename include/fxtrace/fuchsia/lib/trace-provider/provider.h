/* SPDX-License-Identifier: MIT */
/* For sources that were written for Fuchsia: -I.../include/fxtrace/fuchsia. */
#include <trace-provider/provider.h>
