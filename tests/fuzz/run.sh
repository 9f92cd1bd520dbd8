#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh NAME [SECONDS] [LIBFUZZER-OPTION...]: builds tests/fuzz/fuzz_NAME.c with clang and its
# sanitizers in a folder of its own, and runs it for SECONDS (60). New inputs go to the folder
# fuzz-NAME under the current one; what fails is left there too, and belongs into corpus/NAME
# once mended.
set -eu

name=${1:?"usage: run.sh NAME [SECONDS] [LIBFUZZER-OPTION...]"}
seconds=${2:-60}
shift
[ $# -eq 0 ] || shift
src=$(cd "$(dirname "$0")/../.." && pwd)
work=$PWD/fuzz-$name
mkdir -p "$work/found"

# What a target is linked with: folders, and libraries.
case $name in
archive) folders=format libs='-lz -lzstd' ;;
*) echo "run.sh: no target '$name'" >&2 && exit 2 ;;
esac

sources=$(for folder in $folders; do ls "$src/$folder"/*.c; done)
# shellcheck disable=SC2086 # lists of files and of libraries
clang -g -O1 -std=gnu11 -D_GNU_SOURCE -I"$src" -I"$src/include" \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	"$src/tests/fuzz/fuzz_$name.c" $sources $libs -o "$work/fuzz"
cd "$work"
exec ./fuzz -max_total_time="$seconds" "$@" found "$src/tests/fuzz/corpus/$name"
