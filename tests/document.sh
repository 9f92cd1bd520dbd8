# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# What tests/e2e/document.sh and tests/newcomer.sh share: documents that are run. In a block of the kind `console' a command stands
# behind `$ ', and below it what it prints: `...' alone is any lines, within a line any text; blanks are as wide as they
# like. A block of another kind is the file that the line before it names.

# document_steps FILE: into the working directory: the commands as step.N, what they shall print as shown.N, files as
# work/NAME; prints the numbers of headlines, files and commands.
document_steps() {
	mkdir -p work
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
		/^## / { headlines++ }
		END { print headlines + 0, files + 0, steps + 0 }
	' "$1"
}

# document_matches SHOWN PRINTED: whether a command printed what the document shows.
document_matches() {
	python3 - "$1" "$2" <<-'EOP'
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
	EOP
}
