# SPDX-License-Identifier: MIT
# Reads the tables (doc/WRAPPERS.md has their grammar) into arrays: functions are numbers, and what is known of function
# `f` stands in result[f], kind[f, p] of its parameter p, wait[f], descriptor[f, "opens"], and so on.

function fail(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
	failed = 1
	exit 1
}

function trim(s) {
	sub(/^[ \t]+/, "", s)
	sub(/[ \t]+$/, "", s)
	return s
}

function string_add(ident, text) {
	if (ident in string_index) {
		if (string_text[string_index[ident]] != text)
			fail("string " ident " has two texts")
		return
	}
	string_index[ident] = ++strings
	string_ident[strings] = ident
	string_text[strings] = text
}

function is_word(s) {
	return s ~ /^[A-Za-z_][A-Za-z0-9_]*$/
}

# Splits "TYPE NAME" of function and parameter; the results in got_type and got_name.
function declaration(s) {
	s = trim(s)
	if (!match(s, /[A-Za-z_][A-Za-z0-9_]*$/) || RSTART == 1)
		fail("cannot read the declaration `" s "'")
	got_name = substr(s, RSTART)
	got_type = substr(s, 1, RSTART - 1)
}

# What the descriptor X is shall be shown as well.
function described(f, x,    as) {
	as = x
	if (!sub(/dirfd$/, "dir", as))
		sub(/fd$/, "file", as)
	fd_name[f, ++fds[f]] = x
	fd_file[f, fds[f]] = as
	string_add(as, as)
}

# Parameter p of function f from its text.
function parameter(f, p, text,    at) {
	text = trim(text)
	if (text ~ /^\.\.\./) {
		text = trim(substr(text, 4))
		variadic[f] = p
		if (text == "")
			return 0
	}
	if ((f in variadic))
		optional[f, p] = 1
	if (!match(text, /:[a-z_]+(\([a-z_+]+\))?$|:-$/))
		fail("parameter `" text "' has no kind")
	kind[f, p] = substr(text, RSTART + 1)
	declaration(substr(text, 1, RSTART - 1))
	type[f, p] = got_type
	name[f, p] = got_name
	if (match(kind[f, p], /\(.*\)/)) {
		extra[f, p] = substr(kind[f, p], RSTART + 1, RLENGTH - 2)
		gsub(/[+]/, ", ", extra[f, p])
		kind[f, p] = substr(kind[f, p], 1, RSTART - 1)
	}
	if (kind[f, p] != "-" && !internal[f])
		string_add(got_name, got_name)
	if (kind[f, p] ~ /^(dir)?fd$/ && !internal[f])
		described(f, got_name)
	return 1
}

function option(f, word) {
	if (word ~ /^(assembler|call|custom|hot|internal|noreturn|pass|try)$/)
		flag[f, word] = 1
	else if (word ~ /^wait=[a-z_]+\([a-z_]+\)$/) {
		wait[f] = substr(word, 6, index(word, "(") - 6)
		awaited[f] = substr(word, index(word, "(") + 1)
		sub(/\)$/, "", awaited[f])
	}
	else if (word ~ /^takes=[a-z_]+$/)
		takes[f] = substr(word, 7)
	else if (word ~ /^also=/)
		also[f] = substr(word, 6)
	else if (word ~ /^forward=/)
		forward[f] = substr(word, 9)
	else if (word ~ /^when=/)
		when[f] = substr(word, 6)
	else if (word ~ /^watch=/)
		watch[f] = substr(word, 7)
	else if (word ~ /^unless=/)
		unless[f] = substr(word, 8)
	else if (word ~ /^note=[a-z_]+\([a-z_]+\)$/) {
		note[f] = substr(word, 6)
		note_name[f] = substr(note[f], 1, index(note[f], "(") - 1)
		string_add(note_name[f], note_name[f])
		if (note_name[f] == "fd")
			described(f, "fd")
	}
	else if (word ~ /^(opens|closes|copies|renames)=/)
		descriptor[f, substr(word, 1, index(word, "=") - 1)] = substr(word, index(word, "=") + 1)
	else if (word == "opens")
		descriptor[f, word] = "ret"
	# Of what is opened: directory, name and flags; of what is moved: directory and name.
	else if (word ~ /^(within|moves)=/) {
		x = substr(word, index(word, "=") + 1)
		gsub(/[+]/, ", ", x)
		descriptor[f, substr(word, 1, index(word, "=") - 1)] = x
	}
	else if (word ~ /^tells=[a-z_]+\([a-z_+]+\)$/) {
		tells[f] = substr(word, 7, index(word, "(") - 7)
		told[f] = substr(word, index(word, "(") + 1)
		sub(/\)$/, "", told[f])
		gsub(/[+]/, ", ", told[f])
	}
	else if (word ~ /^before=[a-z_]+\([A-Za-z_+]*\)$/) {
		before[f] = substr(word, 8, index(word, "(") - 8)
		before_type[f] = before[f]
		sub(/_.*/, "", before_type[f])
		before_takes[f] = substr(word, index(word, "("))
		sub(/^\(/, "", before_takes[f])
		sub(/\)$/, "", before_takes[f])
		gsub(/[+]/, ", ", before_takes[f])
	}
	else if (word ~ /^reads=/)
		reads[f] = substr(word, 7)
	else if (word ~ /^writes=/)
		writes[f] = substr(word, 8)
	else if (word ~ /^counts=/)
		counts[f] = substr(word, 8)
	else if (word ~ /^as=/)
		shown[f] = substr(word, 4)
	else if (word ~ /^version=/)
		version[f] = substr(word, 9)
	else
		fail("unknown option `" word "'")
}

function also_names(f,    i, n, part) {
	n = split(also[f], part, /,/)
	for (i = 1; i <= n; i++) {
		if (part[i] in known)
			fail(part[i] " stands here twice")
		known[part[i]] = f
	}
}

# Whether the wrapper calls the real function by its name, and nobody else does.
function made_here(f) {
	return !((f, "custom") in flag || (f, "call") in flag || (f, "pass") in flag)
}

# Further names are functions of their own, each with its real one: what another library has by the name sbrk
# may itself call libc's __sbrk. They are read after this line.
function further_functions(f, line, open,    i, n, part, options) {
	n = split(also[f], part, /,/)
	delete also[f]
	options = substr(line, index(line, " | "))
	gsub(/ (also=[^ \t]*|hot)/, "", options)
	for (i = 1; i <= n; i++)
		later[++laters] = function_type[f] part[i] substr(trim(line), open, index(line, " | ") - open) \
				  options " as=" shown[f]
}

function prototype(line,    bar, open, text, f, i, n, word, part) {
	if (unit == "" || cat == "")
		fail("a function before `unit' and `category'")
	bar = index(line, " | ")
	if (!bar)
		fail("no ` | ' and result after the prototype")
	f = ++functions
	n = split(substr(line, bar + 3), word, /[ \t]+/)
	if (word[1] !~ /^(sys|status|mode|ptr|map|object|text|handler|eai|errnum|value|void)$/)
		fail("unknown result `" word[1] "'")
	result[f] = word[1]
	for (i = 2; i <= n; i++)
		option(f, word[i])
	internal[f] = (f, "internal") in flag

	text = trim(substr(line, 1, bar - 1))
	open = index(text, "(")
	if (!open || text !~ /\)$/)
		fail("cannot read the prototype")
	declaration(substr(text, 1, open - 1))
	function_type[f] = got_type
	function_name[f] = got_name
	function_unit[f] = unit
	prefix[f] = compact && !((f, "hot") in flag) ? "fx_compact" : "fx_call"
	function_cat[f] = cat
	function_bit[f] = bit
	if (got_name in known)
		fail(got_name " stands here twice")
	known[got_name] = f
	if (!(f in shown))
		shown[f] = got_name
	if (made_here(f))
		further_functions(f, line, open)
	also_names(f)
	if (!internal[f])
		string_add(shown[f], shown[f])

	parameters[f] = 0
	text = substr(text, open + 1, length(text) - open - 1)
	if (trim(text) == "void")
		return
	n = split(text, part, /,/)
	for (i = 1; i <= n; i++)
		parameters[f] += parameter(f, parameters[f] + 1, part[i])
}

function words_to_table(table, count,    i) {
	for (i = 2; i <= NF; i++) {
		string_add($i, $i)
		table[++count] = $i
	}
	return count
}

BEGIN {
	while (libc != "" && (getline function_ < libc) > 0) {
		in_libc[function_] = 1
		libc_known = 1
	}
}

/^[ \t]*(#|$)/	{ next }
$1 == "unit" && (NF == 2 || $3 == "compact") {
	unit = $2
	units[unit] = 1
	compact = $3
	next
}

$1 == "category" && NF == 3 {
	cat = $2
	bit = $3
	string_add(cat, cat)
	next
}

$1 == "string" && is_word($2) {
	text = $2
	if (match($0, /".*"/))
		text = substr($0, RSTART + 1, RLENGTH - 2)
	string_add($2, text)
	next
}

$1 == "known" {
	for (i = 2; i <= NF; i++) {
		ident = $i
		gsub(/[^A-Za-z0-9_]/, "_", ident)
		string_add(ident, $i)
		is_category[string_index[ident]] = 1
	}
	next
}

$1 == "errno"	{ errnos = words_to_table(errno_name, errnos); next }
$1 == "signal" && $0 !~ /\|/ { signals = words_to_table(signal_name, signals); next }
{
	laters = 0
	prototype($0)
	for (further = 1; further <= laters; further++)
		prototype(later[further])
}
