/* SPDX-License-Identifier: MIT */
/* GCC's own headers, in the order that they need, for all files of the plugin. */
#ifndef FX_PLUGIN_COMPILER_H
#define FX_PLUGIN_COMPILER_H

#include <gcc-plugin.h>

#include <tree.h>
#include <tree-pass.h>
#include <context.h>
#include <function.h>
#include <basic-block.h>
#include <cfgloop.h>
#include <gimple.h>
#include <gimple-iterator.h>
#include <gimple-predict.h>
#include <gimple-walk.h>
#include <gimplify.h>
#include <cfghooks.h>
#include <cfganal.h>
#include <tree-cfg.h>
#include <tree-inline.h>
#include <ssa.h>
#include <tree-into-ssa.h>
#include <cgraph.h>
#include <stringpool.h>
#include <attribs.h>
#include <diagnostic-core.h>
#include <langhooks.h>
#include <options.h>
#include <opts.h>
#include <output.h>
#include <predict.h>

#endif
