/* SPDX-License-Identifier: MIT */
/* list=FILE: which functions have the plugins' code, for people and tests. */
#ifndef FX_PLUGIN_LISTING_H
#define FX_PLUGIN_LISTING_H

#include <string>

/* The file is added to. False: it cannot be opened. */
bool fx_list_open(const char *path);

/* A line "NAME\tFILE:LINE" for the file, if there is one. */
void fx_list_add(const std::string &name, const std::string &file, unsigned line);

#endif
