/* SPDX-License-Identifier: MIT */
/* The code of gate.h as LLVM's intermediate representation: what stands in functions, and what stands beside them. */
#ifndef FX_PLUGIN_CLANG_MODULE_H
#define FX_PLUGIN_CLANG_MODULE_H

#include <stdint.h>

#include <string>

namespace llvm
{
class Function;
class Module;
} // namespace llvm

/* Calls behind the gate at the function's entry and before each of its exits, and, if asked for, where an exception leaves it. */
void fx_module_insert(llvm::Function &function, bool with_exceptions);

/* A site. It goes where the function goes: out with its group, or with its section. */
void fx_module_add_site(llvm::Function &function, const std::string &file, unsigned line,
			unsigned size, uint32_t flags);

/* The module's word, and the note that says where it is. */
void fx_module_write_gate(llvm::Module &module);

#endif
