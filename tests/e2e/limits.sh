#!/bin/bash
# SPDX-License-Identifier: MIT
# doc/LIMITS.md is true: each of its commands runs, and prints what it shows.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/document.sh"
need perl python3 make
not_sanitized "what a sanitizer's program costs is its own affair"

document_begin "$FX_SRCDIR/doc/LIMITS.md"
[ "$files" -ge 2 ] && [ "$steps" -ge 14 ] || fail "the document has $files files and $steps commands"
document_run
