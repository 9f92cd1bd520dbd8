# SPDX-License-Identifier: MIT
#
# Makes C from names.tbl and syscalls.tbl (their syntax stands at their tops). POSIX awk.
#
#	awk -v out=FILE -f gen-names.awk names.tbl
#	awk -v out=syscalls.inc -f gen-names.awk syscalls.tbl
#	awk -v out=syscall-kinds.inc -f gen-names.awk syscalls.tbl
#
#	names.h		FX_WORDS_KIND and fx_arg_KIND() of every entry, FX_NAMES(KIND)
#	names.inc	the lists, and these functions (args-names.c)

function fail(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
	failed = 1
	exit 1
}

function add(from,    i) {
	for (i = from; i <= NF; i++) {
		if ($i !~ /^\+?[A-Za-z_][A-Za-z0-9_]*$/)
			fail("`" $i "' is no name")
		if (length($i) > 27)
			fail($i " is longer than 27 bytes")
		member[kinds, ++members[kinds]] = $i
	}
}

# A register's value as the type that the kind takes.
function of_type(kind) {
	if (kind ~ /^(ptr|path|late_path|name|open_how|clone_args|timespec|sched_attr|mount_attr|capabilities|cap_header|wait_info|sigset_out|fs_name|mount_data|fs_value|ioctl_arg|futex_timeout|iov|sigset|stat_out|statx_out|out_bytes|out_int|fd_pair|cpus|rlimit|itimerspec|text|far_argv|epoll_event|sockaddr|sockaddr_out)$/)
		return "(void *)value"
	return kind ~ /^(long|size|handle|hex|fcntl|ioctl)$/ ? "value" : "(unsigned)value"
}

# The same of another argument, or the result, that a kind is shown by.
function other(kind, which) {
	which = which == "ret" ? "ret" : "args[" which "]"
	if (kind ~ /^(ioctl_arg|out_bytes)$/)
		return which
	if (kind == "capabilities")
		return "(void *)" which
	return (kind ~ /^(iov|cpus|mount_attr)$/ ? "(size_t)" : "(int)") which
}

# How much room they take in a record.
function words(    i, s) {
	for (i = 3; i <= $2 + 2; i++)
		s = s (i > 3 ? " + " : "") "FX_WORDS_" (i <= NF ? kind_of($i) : "long")
	return s == "" ? "0" : s
}

function kind_of(word) {
	sub(/\(.*/, "", word)
	return word
}

# What the fx_arg_KIND() of "KIND" or "KIND(1+ret)" takes.
function taken(word,    s, i, n, part) {
	s = of_type(kind_of(word))
	if (!sub(/^[^(]*\(/, "", word))
		return s
	sub(/\)$/, "", word)
	n = split(word, part, /[+]/)
	for (i = 1; i <= n; i++)
		s = s ", " other(kind_of($field), part[i])
	return s
}

# The kinds of the arguments of a system call, and each of them once.
function shown_as(    s, ident) {
	for (field = 3; field <= NF; field++) {
		if ($field !~ /^[a-z_]+(\(([0-5]|ret)(\+([0-5]|ret))*\))?$/)
			fail("`" $field "' is no kind")
		ident = $field
		gsub(/[^a-z0-9_]+/, "_", ident)
		if (!(ident in kind_known)) {
			kind_known[ident] = 1
			kind_lines = kind_lines sprintf("KIND(%s, %s, %s)\n", ident, kind_of($field), taken($field))
		}
		s = s (field > 3 ? ", " : "") "SHOWN_" ident
	}
	return s
}

/^#/ || NF == 0	{ next }
out ~ /^syscalls?(-kinds)?[.]inc$/ {
	if (NF < 2 || $1 !~ /^[a-z_0-9]+$/ || $2 !~ /^[0-6]$/ || NF > $2 + 2)
		fail("not a name, a number of arguments and their kinds")
	lines = lines sprintf("#ifdef __NR_%s\nSYSCALL(%s, %d, (%s), %s)\n#endif\n", $1, $1, $2, shown_as(), words())
	next
}
/^[ \t]/ {
	if (!kinds)
		fail("names before a kind")
	add(1)
	next
}
($1 == "flags" || $1 == "names") && NF > 2 {
	if ($2 in known)
		fail($2 " stands here twice")
	known[$2] = 1
	kind[++kinds] = $2
	sort[kinds] = $1
	add(3)
	next
}
		{ fail("neither `flags' nor `names'") }

function list(k,    i, name) {
	printf "\nconst struct fx_named fx_list_%s[] = {\n", kind[k]
	for (i = 1; i <= members[k]; i++) {
		name = member[k, i]
		if (sub(/^\+/, "", name))
			printf "\tNAMED(%s),\n", name
		else
			printf "#ifdef %s\n\tNAMED(%s),\n#endif\n", name, name
	}
	printf "};\nconst unsigned fx_count_%s = FX_ARRAY_LEN(fx_list_%s);\n", kind[k], kind[k]
}

# Lines that go on.
function continued(text) {
	sub(/\n$/, "", text)
	gsub(/\n/, " \\\n", text)
	return text
}

function definition(k,    what) {
	what = sort[k] == "flags" ? "flags" : "name"
	printf "\nvoid fx_arg_%s(struct fx_call *call, unsigned name, unsigned value)\n", kind[k]
	printf "{\n\targ_%s(call, name, FX_NAMES(%s), value);\n}\n", what, kind[k]
}

END {
	if (failed)
		exit 1
	print "/* Made from a table by gen-names.awk. */"
	if (out == "syscalls.inc")
		printf "%s", lines
	else if (out == "syscall-kinds.inc")
		printf "%s", kind_lines
	else if (out == "names.h")
		for (k = 1; k <= kinds; k++) {
			if (k == 1)
				print "#include \"preload/show/naming.h\"\nstruct fx_call;"
			printf "#define FX_WORDS_%s FX_TEXT_WORDS(FX_%s_TEXT)\n", kind[k],
			       sort[k] == "flags" ? "FLAGS" : "NAME"
			printf "void fx_arg_%s(struct fx_call *call, unsigned name, unsigned value);\n",
			       kind[k]
			printf "extern const struct fx_named fx_list_%s[];\n", kind[k]
			printf "extern const unsigned fx_count_%s;\n", kind[k]
		}
	else if (out == "names.inc")
		for (k = 1; k <= kinds; k++) {
			list(k)
			definition(k)
		}
	else if (out == "name-lists.inc")
		for (k = 1; k <= kinds; k++) {
			list(k)
			all = all sprintf("NAME_LIST(%s, %s)\n", kind[k], sort[k])
			if (k == kinds)
				printf "\n#define NAME_LISTS \\\n%s\n", continued(all)
		}
	else
		fail("unknown output `" out "'")
}
