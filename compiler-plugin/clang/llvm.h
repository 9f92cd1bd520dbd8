/* SPDX-License-Identifier: MIT */
/* LLVM's own headers, for all files of the plugin. They are not written for our warnings. */
#ifndef FX_PLUGIN_CLANG_LLVM_H
#define FX_PLUGIN_CLANG_LLVM_H

/* libtool defines it; LLVM has members of that name. */
#undef PIC

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <llvm/Analysis/CFG.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/EscapeEnumerator.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>
#pragma GCC diagnostic pop

#endif
