/* SPDX-License-Identifier: MIT */
/* The registers of a sample: which are asked for (asm/perf_regs.h), and where the unwinder finds its own among them. */
#ifndef FX_KERNEL_REGISTERS_H
#define FX_KERNEL_REGISTERS_H

#include <asm/perf_regs.h>
#include <stdint.h>

/* FX_REGISTERS(X): X(as libunwind calls it, as the kernel does), in the kernel's order. */
#if defined(__x86_64__)
#define FX_REGISTERS(X)                                                                            \
	X(UNW_X86_64_RAX, PERF_REG_X86_AX)                                                         \
	X(UNW_X86_64_RBX, PERF_REG_X86_BX)                                                         \
	X(UNW_X86_64_RCX, PERF_REG_X86_CX)                                                         \
	X(UNW_X86_64_RDX, PERF_REG_X86_DX)                                                         \
	X(UNW_X86_64_RSI, PERF_REG_X86_SI)                                                         \
	X(UNW_X86_64_RDI, PERF_REG_X86_DI)                                                         \
	X(UNW_X86_64_RBP, PERF_REG_X86_BP)                                                         \
	X(UNW_X86_64_RSP, PERF_REG_X86_SP)                                                         \
	X(UNW_X86_64_RIP, PERF_REG_X86_IP)                                                         \
	X(UNW_X86_64_R8, PERF_REG_X86_R8)                                                          \
	X(UNW_X86_64_R9, PERF_REG_X86_R9)                                                          \
	X(UNW_X86_64_R10, PERF_REG_X86_R10)                                                        \
	X(UNW_X86_64_R11, PERF_REG_X86_R11)                                                        \
	X(UNW_X86_64_R12, PERF_REG_X86_R12)                                                        \
	X(UNW_X86_64_R13, PERF_REG_X86_R13)                                                        \
	X(UNW_X86_64_R14, PERF_REG_X86_R14)                                                        \
	X(UNW_X86_64_R15, PERF_REG_X86_R15)
#elif defined(__aarch64__)
#define FX_REGISTERS(X)                                                                            \
	X(UNW_AARCH64_X0, PERF_REG_ARM64_X0)                                                       \
	X(UNW_AARCH64_X1, PERF_REG_ARM64_X1)                                                       \
	X(UNW_AARCH64_X2, PERF_REG_ARM64_X2)                                                       \
	X(UNW_AARCH64_X3, PERF_REG_ARM64_X3)                                                       \
	X(UNW_AARCH64_X4, PERF_REG_ARM64_X4)                                                       \
	X(UNW_AARCH64_X5, PERF_REG_ARM64_X5)                                                       \
	X(UNW_AARCH64_X6, PERF_REG_ARM64_X6)                                                       \
	X(UNW_AARCH64_X7, PERF_REG_ARM64_X7)                                                       \
	X(UNW_AARCH64_X8, PERF_REG_ARM64_X8)                                                       \
	X(UNW_AARCH64_X9, PERF_REG_ARM64_X9)                                                       \
	X(UNW_AARCH64_X10, PERF_REG_ARM64_X10)                                                     \
	X(UNW_AARCH64_X11, PERF_REG_ARM64_X11)                                                     \
	X(UNW_AARCH64_X12, PERF_REG_ARM64_X12)                                                     \
	X(UNW_AARCH64_X13, PERF_REG_ARM64_X13)                                                     \
	X(UNW_AARCH64_X14, PERF_REG_ARM64_X14)                                                     \
	X(UNW_AARCH64_X15, PERF_REG_ARM64_X15)                                                     \
	X(UNW_AARCH64_X16, PERF_REG_ARM64_X16)                                                     \
	X(UNW_AARCH64_X17, PERF_REG_ARM64_X17)                                                     \
	X(UNW_AARCH64_X18, PERF_REG_ARM64_X18)                                                     \
	X(UNW_AARCH64_X19, PERF_REG_ARM64_X19)                                                     \
	X(UNW_AARCH64_X20, PERF_REG_ARM64_X20)                                                     \
	X(UNW_AARCH64_X21, PERF_REG_ARM64_X21)                                                     \
	X(UNW_AARCH64_X22, PERF_REG_ARM64_X22)                                                     \
	X(UNW_AARCH64_X23, PERF_REG_ARM64_X23)                                                     \
	X(UNW_AARCH64_X24, PERF_REG_ARM64_X24)                                                     \
	X(UNW_AARCH64_X25, PERF_REG_ARM64_X25)                                                     \
	X(UNW_AARCH64_X26, PERF_REG_ARM64_X26)                                                     \
	X(UNW_AARCH64_X27, PERF_REG_ARM64_X27)                                                     \
	X(UNW_AARCH64_X28, PERF_REG_ARM64_X28)                                                     \
	X(UNW_AARCH64_X29, PERF_REG_ARM64_X29)                                                     \
	X(UNW_AARCH64_X30, PERF_REG_ARM64_LR)                                                      \
	X(UNW_AARCH64_SP, PERF_REG_ARM64_SP)                                                       \
	X(UNW_AARCH64_PC, PERF_REG_ARM64_PC)
#endif

/* Their places in a sample. */
#define FX_REGISTER_PLACE_(unwinder, kernel) FX_REGISTER_##unwinder,
enum fx_register_place { FX_REGISTERS(FX_REGISTER_PLACE_) FX_REGISTER_COUNT };

#define FX_REGISTER_BIT_(unwinder, kernel) | UINT64_C(1) << (kernel)
#define FX_REGISTER_MASK		   (UINT64_C(0) FX_REGISTERS(FX_REGISTER_BIT_))

#endif
