# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What tests/e2e/document.sh and tests/newcomer.sh share: documents that are run. In a block of the kind `console' a command stands
# behind `$ ', and below it what it prints: `...' alone is any lines, within a line any text; blanks are as wide as they
# like. A block of another kind is the file that the line before it names; without one, it is for readers alone.

# document_steps FILE: into the working directory: the commands as step.N, what they shall print as shown.N, files as
# work/NAME; prints the numbers of headlines, files and commands.
document_steps() {
	mkdir -p work
	awk '
		/^File `/ { split($0, part, "`"); name = part[2]; next }
		/^```console$/ { inside = "console"; next }
		/^```$/ { inside = ""; if (out) close(out); out = ""; next }
		/^```/ && name == "" { inside = "shown"; next }
		/^```/ { inside = "file"; out = "work/" name; name = ""; files++; next }
		inside == "file" { print >out }
		inside == "console" && /^[$] / {
			steps++
			print substr($0, 3) >("step." steps)
			out = "shown." steps
			printf "" >out
			next
		}
		inside == "console" { print >out }
		/^## / { headlines++ }
		END { print headlines + 0, files + 0, steps + 0 }
	' "$1"
}

# document_matches SHOWN PRINTED: whether a command printed what the document shows.
document_matches() {
	python3 - "$1" "$2" <<-'EOP'
		import functools, re, sys

		def normal(line):
		    return re.sub(r"\s+", " ", line).strip()

		def is_like(line, shown):
		    """Whether a line is as it is shown, where "..." stands for anything."""
		    parts = [part.strip() for part in normal(shown).split("...")]
		    if len(parts) == 1:
		        return line == parts[0]
		    if not line.startswith(parts[0]) or not line.endswith(parts[-1]):
		        return False
		    at = len(parts[0])
		    for part in parts[1:-1]:
		        at = line.find(part, at)
		        if at < 0:
		            return False
		        at += len(part)
		    return at <= len(line) - len(parts[-1])

		shown, printed = (open(name, encoding="utf-8").read().splitlines() for name in sys.argv[1:])
		printed = [normal(line) for line in printed]
		sys.setrecursionlimit(100000)

		@functools.lru_cache(None)
		def is_rest_like(i, k):
		    if i == len(shown):
		        return k == len(printed)
		    if shown[i] == "...":
		        return is_rest_like(i + 1, k) or (k < len(printed) and is_rest_like(i, k + 1))
		    return k < len(printed) and is_like(printed[k], shown[i]) and is_rest_like(i + 1, k + 1)

		sys.exit(0 if is_rest_like(0, 0) else 1)
	EOP
}
