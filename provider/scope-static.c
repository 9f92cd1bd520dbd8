/* SPDX-License-Identifier: MIT */
/* Of the static library. */
#include "provider/scope.h"

void fx_scope_widen(void)
{
}
