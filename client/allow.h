/* SPDX-License-Identifier: MIT */
/*
 * The words of --allow-users and --allow-group: names and numbers of users and groups.
 */
#ifndef FX_CLIENT_ALLOW_H
#define FX_CLIENT_ALLOW_H

#include "manager/settings/policy.h"

/* Adds the users of a comma list, or "all". NULL; else what is wrong, a static text. */
const char *fx_allow_users(struct fx_policy *policy, const char *list);

/* Sets the group. The same. */
const char *fx_allow_group(struct fx_policy *policy, const char *name);

#endif
