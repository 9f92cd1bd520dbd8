#!/bin/bash
# SPDX-License-Identifier: MIT
# doc/TUTORIAL.md is true: its programs are made from it, its commands run, and what they print is what it shows.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
. "$FX_SRCDIR/tests/e2e/document.sh"
need python3 make
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || skip "before 3.11 Python's sleep is a select(), and the document has the other"

document_begin "$FX_SRCDIR/doc/TUTORIAL.md"
expect_equal 12 "$headlines" "questions"
[ "$files" -ge 8 ] && [ "$steps" -ge 20 ] || fail "the document has $files files and $steps commands"
document_run
expect_clean work/*.fxt
