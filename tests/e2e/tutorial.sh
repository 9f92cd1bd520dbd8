#!/bin/bash
# SPDX-License-Identifier: MIT
# doc/TUTORIAL.md is true: its programs are made from it, its commands run, and what they print is what it shows.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"
need python3 make
# Of a `make' around this test, the one in it knows nothing.
unset MAKEFLAGS MFLAGS MAKELEVEL

mkdir path work
ln -s "$FXTRACE" path/fxtrace
ln -s "$(command -v "${FX_CC%% *}")" path/cc
[ "$FX_CC" = "${FX_CC%% *}" ] || {
	rm path/cc
	printf '#!/bin/sh\nexec %s "$@"\n' "$FX_CC" >path/cc && chmod +x path/cc
}
# Nothing that stands before the system's own programs, such as scripts that choose one.
PATH=$PWD/path:/usr/bin:/bin

# Files, as work/NAME; commands with what they shall print, as step.N and shown.N.
awk '
	/^File `/ { split($0, part, "`"); name = part[2]; next }
	/^```console$/ { inside = "console"; next }
	/^```$/ { inside = ""; close(out); next }
	/^```/ { inside = "file"; out = "work/" name; files++; next }
	inside == "file" { print >out }
	inside == "console" && /^[$] / {
		steps++
		print substr($0, 3) >("step." steps)
		out = "shown." steps
		printf "" >out
		next
	}
	inside == "console" { print >out }
	/^## / { questions++ }
	END { print questions, files, steps }
' "$FX_SRCDIR/doc/TUTORIAL.md" >counts
read -r questions files steps <counts
expect_equal 11 "$questions" "questions"
[ "$files" -ge 8 ] && [ "$steps" -ge 20 ] || fail "the document has $files files and $steps commands"

# Whether the output is as shown: `...' alone is any lines, within a line any text; blanks are as wide as they like.
cat >matches.py <<'EOF'
import re, sys

def expression(shown):
    parts = []
    for line in shown.splitlines():
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            line = re.sub(r"\s+", " ", line)
            line = re.escape(line).replace(re.escape("..."), ".*?").replace(r"\ ", r"[ ]*")
            parts.append("[ ]*" + line + r"[ ]*\n")
    return "".join(parts)

shown, printed = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
sys.exit(0 if re.fullmatch(expression(shown), printed) else 1)
EOF

for ((i = 1; i <= steps; i++)); do
	(cd work && bash "../step.$i") >printed 2>err || fail "status $? of $(cat "step.$i"): $(cat printed err)"
	expect_equal 0 "$(wc -c <err)" "bytes on stderr of $(cat "step.$i")"
	python3 matches.py "shown.$i" printed ||
		fail "$(cat "step.$i") prints:"$'\n'"$(cat printed)"$'\n'"instead of:"$'\n'"$(cat "shown.$i")"
done

# The test can fail: a line that is not there is missed.
echo "no such line" >>"shown.1"
bash -c 'cd work && bash ../step.1' >printed
! python3 matches.py shown.1 printed || fail "a line that is not printed is not missed"
expect_clean work/*.fxt
