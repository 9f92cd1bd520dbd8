# SPDX-License-Identifier: MIT
# header.awk: a man page of an installed header: its first comment is the description, each `--- Section ---' a section,
# and each declaration stands in front of the comment that is above it. Variables: name, date, version, package, also (pages).

function escape(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	if (text ~ /^[.']/)
		text = "\\&" text
	return text
}

# Words of a comment as they flow; what is indented stands as it is.
function put_text(text,    lines, n, i, verbatim) {
	n = split(text, lines, "\n")
	verbatim = 0
	for (i = 1; i <= n; i++) {
		if (lines[i] ~ /^(    |\t)/) {
			if (!verbatim)
				print ".PP\n.nf\n.RS"
			verbatim = 1
			sub(/^(    |\t)/, "", lines[i])
			print escape(lines[i])
			continue
		}
		if (lines[i] == "" && verbatim && i < n && lines[i + 1] ~ /^(    |\t)/) {
			print ""
			continue
		}
		if (verbatim) {
			print ".RE\n.fi"
			verbatim = 0
		}
		if (lines[i] == "") {
			print ".PP"
			continue
		}
		lines[i] = escape(lines[i])
		while (match(lines[i], /@[a-z_]+/))
			lines[i] = substr(lines[i], 1, RSTART - 1) "\\fI" substr(lines[i], RSTART + 1, RLENGTH - 1) "\\fP" \
				substr(lines[i], RSTART + RLENGTH)
		print lines[i]
	}
	if (verbatim)
		print ".RE\n.fi"
}

# A table of names, as X(NAME, number, "text")
function put_table(text,    lines, n, i, parts, m) {
	n = split(text, lines, "\n")
	print ".nf\n.RS"
	for (i = 1; i <= n; i++) {
		if (lines[i] !~ /X\([A-Z]/)
			continue
		sub(/^[^X]*X\(/, "", lines[i])
		sub(/\)[ \t]*\\?$/, "", lines[i])
		m = index(lines[i], ",")
		parts = substr(lines[i], m + 1)
		gsub(/"/, "", parts)
		sub(/,[ \t]*$/, "", parts)
		print escape(prefix substr(lines[i], 1, m - 1) ":" parts)
	}
	print ".RE\n.fi"
}

function put_code(text,    lines, n, i) {
	n = split(text, lines, "\n")
	print ".PP\n.nf\n.B"
	for (i = 1; i <= n; i++) {
		gsub(/\t/, "    ", lines[i])
		print "\\fB" escape(lines[i]) "\\fP"
	}
	print ".fi"
}

# What was gathered: declarations, and the comment above them
function flush_entry() {
	if (code != "") {
		if (table)
			put_table(code)
		else
			put_code(code)
	}
	if (comment != "") {
		print ".PP"
		if (code != "")
			print ".RS"
		put_text(comment)
		if (code != "")
			print ".RE"
	}
	code = comment = ""
	table = 0
}

function add_comment(line) {
	sub(/^ ?\*\/$/, "", line)
	sub(/[ \t]*\*\/$/, "", line)
	sub(/^ \* ?/, "", line)
	comment = comment (comment == "" ? "" : "\n") line
}

BEGIN {
	print ".\\\" SPDX-License-Identifier: MIT"
	print ".\\\" Made of the header."
	printf ".TH %s 3 %s \"fxtrace %s\" \"Tracing\"\n", toupper(name), date, version
	state = "start"
}

# The first comment
state == "start" && /^\/\*$/ {
	state = "description"
	next
}
state == "start" { next }
state == "description" && /^ \*\/$/ {
	first = comment
	sub(/[.:,] .*|[.:]$|\n.*/, "", first)
	printf ".SH NAME\n%s \\- %s\n", name, escape(tolower(substr(first, 1, 1)) substr(first, 2))
	printf ".SH SYNOPSIS\n.B #include <fxtrace/%s.h>\n.PP\n", substr(name, 9)
	print ".I cc ... $(pkg\\-config \\-\\-cflags \\-\\-libs " escape(package) ")"
	print ".SH DESCRIPTION"
	put_text(comment)
	comment = ""
	state = "preamble"
	next
}
state == "description" {
	add_comment($0)
	next
}

# A function's body is not shown
/^static inline/ { is_inline = 1 }
/^{$/ && is_inline {
	skipping = 1
	next
}
skipping {
	if (/^}$/)
		skipping = is_inline = 0
	next
}

# Guards and includes
/^#(ifndef|ifdef|endif|include|else)/ || /^extern "C"/ || /^#define FXTRACE_[A-Z]*_H/ { next }
/^}$/ && !inside { next }

/^\/\* --- .* --- *-*\*\/$|^\/\* --- / {
	flush_entry()
	line = $0
	sub(/^\/\* -* /, "", line)
	sub(/ -*[ -]*\*\/$/, "", line)
	print ".SH " escape(toupper(line))
	state = "body"
	next
}

# Comments
!inside && /^\/\*$/ {
	flush_entry()
	in_comment = 1
	next
}
!inside && /^\/\* .*\*\/$/ {
	flush_entry()
	line = $0
	sub(/^\/\* /, "", line)
	add_comment(line)
	next
}
!inside && /^\/\* / {
	flush_entry()
	line = $0
	sub(/^\/\* /, "", line)
	add_comment(line)
	in_comment = 1
	next
}
in_comment {
	add_comment($0)
	if (/\*\/$/)
		in_comment = 0
	next
}

# What the header needs for itself
/^#define FXT_ENUM_/ || /^enum .*FXT_ENUM_/ { next }

/^#define FXT_[A-Z]*\(X\)/ {
	table = 1
	prefix = /FXT_KINDS/ ? "FXT_KIND_" : /FXT_FAULTS/ ? "FXT_FAULT_" : ""
}

/^$/ {
	if (!inside && code != "")
		flush_entry()
	next
}
{
	line = $0
	if (table && line !~ /\\$/)
		inside = 0
	else if (table)
		inside = 1
	else if (line ~ /{$/)
		inside = 1
	else if (line ~ /^}/)
		inside = 0
	sub(/^static inline /, "", line)
	code = code (code == "" ? "" : "\n") line
}

END {
	flush_entry()
	printf ".SH SEE ALSO\n"
	n = split(also, pages, " ")
	for (i = 1; i <= n; i++)
		printf ".BR %s (%s)%s\n", escape(pages[i]), (pages[i] ~ /^fxtrace_/ ? 3 : 1), (i < n ? "," : "")
}
