#!/bin/bash
# SPDX-License-Identifier: MIT
# Each command that reads archives, by the table in hard_ends.py: archives that are cut or have other bytes, readers that
# go away, an interrupt while it waits for its input. It ends, by itself or the signal, says one line or gives a result, and
# leaves nothing beside its output.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3

target leaf leaf.c
cat >work.sh <<'END'
./leaf 1 2 3
i=0
while [ $i -lt 20 ]; do (:); [ -e "x$i" ]; i=$((i + 1)); done
END
expect_ok "$FXTRACE" run -q -o whole.fxt -- sh work.sh
expect_clean whole.fxt
expect_ok "$FXTRACE" run -q -o other.fxt -- sh work.sh

python3 "$FX_SRCDIR/tests/e2e/hard_ends.py" "$FXTRACE" "${FX_HARD_ENDS:-12}" || fail "a command did not end well"
