#!/bin/sh
# SPDX-License-Identifier: MIT
# The lints find what they are there to find: each is shown a small tree that is good, then the
# same with one fault.
. "$(dirname "$0")/lib.sh"

tree=$lint_tmp/tree
mkdir -p "$tree/base" "$tree/doc" "$tree/engine" "$tree/format" "$tree/preload" "$tree/protocol" \
	"$tree/tests/lint"
licence='/* SPDX-License-Identifier: MIT */'

good_tree() {
	rm -rf "${tree:?}"/*/*
	mkdir "$tree/tests/lint"
	{
		printf '# SPDX-License-Identifier: MIT\n'
		printf 'may base\nmay format base\nmay engine/.\nmay preload/. base\nmay preload/host\n'
		printf 'may protocol\nmay tests base\n'
		printf 'only elfutils/* symbols\nnever stdio.h base preload\n'
	} >"$tree/tests/lint/deps.tbl"
	printf '%s\n#include <stdint.h>\n' "$licence" >"$tree/base/a.h"
	printf '%s\n#include "base/a.h"\n#include <stdio.h>\nstatic int b(void)\n{\n\treturn 0;\n}\n' "$licence" >"$tree/format/b.c"
	printf '%s\n#include "base/a.h"\n' "$licence" >"$tree/preload/c.c"
	printf '%s\n#define FX_A 1\nstruct fx_a {\n\tlong x;\n\tlong y;\n};\n' "$licence" >"$tree/engine/layout.h"
	printf '%s\n' "$licence" >"$tree/protocol/messages.h"
	printf '%s\n#include "base/a.h"\n' "$licence" >"$tree/base/clock.h"
	printf '`struct fx_a`\n| 0 | 8 | `x` | |\n' >"$tree/doc/PROTOCOL.md"
	printf '`struct fx_a`\n| 8 | 8 | `y` | |\n| `FX_A` | 0x1 |\n' >"$tree/doc/BUFFER.md"
	{
		printf '# SPDX-License-Identifier: MIT\nx = base/a.h base/clock.h format/b.c preload/c.c preload/host/d.c preload/host/asks.def tests/lint/deps.tbl\n'
		printf 'y = doc/BUFFER.md doc/PROTOCOL.md engine/layout.h protocol/messages.h\n'
		printf 'TESTS += tests/e\ne_SOURCES = tests/e.c\nz_tests = tests/f.sh tests/conformance.tbl\n'
	} >"$tree/base/Makemodule.am"
	printf '%s\nTest(suite, one)\n{\n}\n' "$licence" >"$tree/tests/e.c"
	printf '# SPDX-License-Identifier: MIT\ntwo() {\n\techo\n}\ntwo\n' >"$tree/tests/f.sh"
	{
		printf '# SPDX-License-Identifier: MIT\n'
		printf 'area | line | tests/e.c one, tests/f.sh two\n'
	} >"$tree/tests/conformance.tbl"
	mkdir -p "$tree/preload/host"
	printf "%s\nFX_ASK(SELF, gettid, -1, 0)\n" "$licence" >"$tree/preload/host/asks.def"
	printf '%s\nint x = SYS_gettid;\n' "$licence" >"$tree/preload/host/d.c"
	cp "$lint_here/../../.clang-format" "$tree"
}

# expect STATUS LINT: the lint ends so on the tree.
expect() {
	sh "$lint_here/$2" "$tree" >"$lint_tmp/out" 2>&1
	status=$?
	[ "$status" -eq 77 ] && return
	[ "$status" -eq "$1" ] || {
		echo "$2: status $status instead of $1 ($fault)"
		sed 's/^/    /' "$lint_tmp/out"
	} >>"$lint_tmp/bad"
}

# fault LINT FILE LINE: the lint finds this line, put at the end of the file.
fault() {
	good_tree
	fault="$2 with: $3"
	printf '%s\n' "$3" >>"$tree/$2"
	expect 1 "$1"
}

: >"$lint_tmp/bad"
fault="no fault"
good_tree
for lint in asks.sh circles.sh deps.sh names.sh format.sh text.sh spdx.sh dist.sh tables.sh conformance.sh; do
	expect 0 "$lint"
done
fault asks.sh preload/c.c 'int y = SYS_getpid;'
fault asks.sh preload/host/asks.def 'FX_ASK(LOOK, statx, -1, 0)'
fault circles.sh base/a.h '#include "base/clock.h"'
fault names.sh preload/c.c "$(printf 'static int b(void)\n{\n\treturn 1;\n}')"
fault names.sh base/a.h "$(printf 'fx_hot int b(void)\n{\n\treturn 1;\n}')"
fault names.sh base/a_b.h '/* SPDX-License-Identifier: MIT */'
fault deps.sh base/a.h '#include "format/b.h"'
fault deps.sh preload/c.c '#include <stdio.h>'
fault deps.sh preload/c.c '# include "symbols/d.h"'
fault deps.sh format/b.c '#include <elfutils/libdwfl.h>'
fault deps.sh format/b.c '#include "b.h"'
fault deps.sh tests/lint/deps.tbl 'may preload/. base format'
fault format.sh format/b.c 'int  x ;'
fault text.sh format/b.c "/* TO""DO */"
fault text.sh format/b.c "/* /ho""me/someone */"
fault text.sh format/b.c '/* blank */ '
fault spdx.sh format/d.c 'int x;'
fault dist.sh format/d.c 'int x;'
fault tables.sh doc/PROTOCOL.md '| 4 | 8 | `x` | |'
fault tables.sh doc/PROTOCOL.md '| 0 | 4 | `x` | |'
fault tables.sh doc/PROTOCOL.md '| 8 | 8 | `z` | |'
fault tables.sh doc/BUFFER.md '| `FX_A` | 2 | |'
fault tables.sh engine/layout.h "$(printf 'struct fx_b {\n\tlong z;\n};')"
fault tables.sh engine/layout.h "$(printf 'enum fx_c {\n\tFX_C = 1,\n};')"
fault tables.sh protocol/messages.h "$(printf '#define FX_MESSAGES(X) \\\\\n\tX(HELLO, 1, "")')"
fault conformance.sh tests/conformance.tbl 'area | another'
fault conformance.sh tests/conformance.tbl 'area | line | tests/e.c one'
fault conformance.sh tests/conformance.tbl 'area | another | tests/e.c other'
fault conformance.sh tests/conformance.tbl 'area | another | tests/f.sh other'
fault conformance.sh tests/conformance.tbl 'area | another | tests/g.sh two'
lint_end "$lint_tmp/bad"
