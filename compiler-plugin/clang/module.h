/* SPDX-License-Identifier: MIT */
/* The code of gate.h as LLVM's intermediate representation: what stands in functions, and what stands beside them. */
#ifndef FX_PLUGIN_CLANG_MODULE_H
#define FX_PLUGIN_CLANG_MODULE_H

#include <stdint.h>

#include <string>
#include <vector>

namespace llvm
{
class Function;
class GlobalValue;
class Module;
} // namespace llvm

/* Calls behind the gate at the function's entry and before each of its exits, and, if asked for, where an exception leaves it. */
void fx_module_insert(llvm::Function &function, bool with_exceptions);

/* A site. It goes where the function goes: out with its group, or with its section. */
llvm::GlobalValue *fx_module_add_site(llvm::Function &function, const std::string &file,
				      unsigned line, unsigned size, uint32_t flags);

/* The note that says where the module's word is, and that it and the sites stay. False: no function has code. */
bool fx_module_write(llvm::Module &module, std::vector<llvm::GlobalValue *> sites);

#endif
