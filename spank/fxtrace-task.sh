#!/bin/sh
# SPDX-License-Identifier: MIT
# What a rank of `srun --fxtrace' becomes (plugin.c): fxtrace, and by it the program, whose environment has nothing of this. The
# options are words, in which nothing is expanded.
program=$FXTRACE_SPANK_PROGRAM
command=$FXTRACE_SPANK_COMMAND
options=$FXTRACE_SPANK_OPTIONS
unset FXTRACE_SPANK_PROGRAM FXTRACE_SPANK_COMMAND FXTRACE_SPANK_OPTIONS
set -f
# shellcheck disable=SC2086 # words
exec "$command" run $options -- "$program" "$@"
