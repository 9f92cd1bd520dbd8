/* SPDX-License-Identifier: MIT */
/*
 * Fuzz targets. Each is a file fuzz_NAME.c that defines this function, with inputs worth keeping
 * in corpus/NAME. `make check' replays the corpus; tests/fuzz/run.sh NAME searches for more with
 * clang's libFuzzer.
 */
#ifndef FX_TESTS_FUZZ_H
#define FX_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif /* FX_TESTS_FUZZ_H */
