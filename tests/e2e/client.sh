#!/bin/bash
# SPDX-License-Identifier: MIT
# The command line as such: help, version, unknown words, the names it is called by.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

expect_ok "$FXTRACE" --version
expect_line '^fxtrace [0-9]+\.[0-9]+\.[0-9]+$' out
expect_ok "$FXTRACE" --help
expect_line '^Usage: fxtrace' out
expect_equal 0 "$(wc -c <err)" "bytes on stderr of --help"
cp out help
expect_ok "$FXTRACE" help
expect_same_file help out

expect_status 2 "$FXTRACE"
expect_line '^Usage: fxtrace' err
expect_one_error 2 "$FXTRACE" no-such-command
expect_line "'no-such-command'" err
expect_one_error 2 "$FXTRACE" --no-such-option
expect_line "'--no-such-option'" err
expect_one_error 2 "$FXTRACE" help nonsense

# Output that cannot be written is a failure.
"$FXTRACE" --help >/dev/full 2>err && fail "--help into a full device succeeds"
expect_line '^fxtrace: ' err

# Every command has --help and --version of its own.
sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p' help | grep -vx help >commands
while IFS= read -r command; do
	expect_ok "$FXTRACE" "$command" --help
	expect_line "^Usage: fxtrace $command" out
	expect_ok "$FXTRACE" "$command" --version
	expect_line '^fxtrace [0-9]' out
	expect_status 2 "$FXTRACE" "$command" --no-such-option
	expect_line '^fxtrace' err
done <commands

# An alias is its command.
for alias in "$FX_BUILDDIR"/fxtrace-*; do
	[ -L "$alias" ] || continue
	expect_ok "$alias" --help
	expect_line "^Usage: fxtrace ${alias##*/fxtrace-} " out
done
