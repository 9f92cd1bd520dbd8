# SPDX-License-Identifier: MIT
# From preload/show/syscalls.tbl and the tables of wrappers: for each system call the names of its arguments, where a function
# of libc of its name takes as many, and how each is shown; else how the first table has it. Lines CALL(name, count, ARG(name, kind) ...).
#
#	awk -f gen-calls.awk preload/show/syscalls.tbl preload/wrap/tables/*.tbl

function fail(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text >"/dev/stderr"
	failed = 1
	exit 1
}

# `int flags:open_flags' is flags, open_flags; `... mode_t mode:open_mode(flags)' is mode, open_mode.
function take_argument(name, i, text,    colon, kind, word, n) {
	sub(/^[ \t]*(\.\.\. )?/, "", text)
	colon = index(text, ":")
	if (!colon)
		return 0
	kind = substr(text, colon + 1)
	sub(/[(].*$/, "", kind)
	n = split(substr(text, 1, colon - 1), word, /[ *]+/)
	arg_name[name, i] = word[n]
	arg_kind[name, i] = kind ~ /^[a-z_]+$/ ? kind : "plain"
	# What is behind a pointer is not known here.
	if (arg_name[name, i] ~ /_ns$/)
		arg_name[name, i] = "arg" i
	return 1
}

# Commas inside of a kind's parentheses do not part arguments.
function take_function(line,    name, list, i, c, depth, text, count) {
	name = line
	sub(/[(].*$/, "", name)
	sub(/^.*[ *]/, "", name)
	if (!(name in args) || name in functions)
		return
	list = line
	sub(/^[^(]*[(]/, "", list)
	sub(/[)] *[|].*$/, "", list)
	for (i = 1; i <= length(list) + 1; i++) {
		c = i <= length(list) ? substr(list, i, 1) : ","
		depth += c == "("
		depth -= c == ")"
		if (c == "," && depth == 0) {
			if (!take_argument(name, count + 0, text))
				return
			count++
			text = ""
			continue
		}
		text = text c
	}
	functions[name] = count
}

/^#/ || NF == 0	{ next }
FILENAME ~ /syscalls[.]tbl$/ {
	args[$1] = $2
	for (i = 0; i < $2; i++) {
		kind = $(i + 3)
		sub(/[(].*$/, "", kind)
		kind_of[$1, i] = kind ~ /^[a-z_]+$/ ? kind : "plain"
	}
	order[++calls] = $1
	next
}
/^[a-z].*[(].*[)] *[|]/ { take_function($0) }

END {
	if (failed)
		exit 1
	print "/* Made by kernel/gen-calls.awk. */"
	for (k = 1; k <= calls; k++) {
		name = order[k]
		printf "#ifdef __NR_%s\nCALL(%s, %d,", name, name, args[name]
		for (i = 0; i < args[name]; i++) {
			if (functions[name] == args[name])
				printf " ARG(%s, %s)", arg_name[name, i], arg_kind[name, i]
			else
				printf " ARG(arg%d, %s)", i, kind_of[name, i]
		}
		printf ")\n#endif\n"
	}
}
