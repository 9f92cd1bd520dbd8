# SPDX-License-Identifier: MIT
#
# Makes C and lists from wrappers.tbl (its syntax stands at its top). POSIX awk.
#
#	awk -v out=FILE [-v libc=NAMES] -f gen-wrappers.awk wrappers.tbl tables/*.tbl
#
# NAMES is a file with the functions that libc has, a word each: others are not exported. Without it, or
# if it is empty, all are.
#
#	strings.h	enum fx_builtin_string: the index of every builtin string
#	strings.c	the String Records of them all; names of errors and signals
#	wrappers.h	struct fx_real, the table of real functions; prototypes of all wrappers
#	real-names.inc	names and versions to look them up by
#	unit-UNIT.inc	the wrappers of one unit
#	libfxtrace.map	the linker's version script
#	wrappers.list	the wrapped functions, one a line
#	wrappers.txt	for people: function, event, category, arguments
#	badcalls.inc	calls with bad arguments, but for the functions that file `untried' names (tests)

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
	else if (word ~ /^(opens|closes|renames)=/)
		descriptor[f, substr(word, 1, index(word, "=") - 1)] = substr(word, index(word, "=") + 1)
	else if (word == "opens")
		descriptor[f, word] = "ret"
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

# --- C pieces ------------------------------------------------------------------------------------

function banner() {
	print "/* Made from wrappers.tbl by gen-wrappers.awk. */"
}

# "int fd, void *buf": the parameters as C declares them.
function declared(f,    s, p) {
	s = ""
	for (p = 1; p <= parameters[f]; p++)
		if (!((f, p) in optional))
			s = s (s == "" ? "" : ", ") type[f, p] name[f, p]
	if (f in variadic)
		s = s ", ..."
	return s == "" ? "void" : s
}

# The same with what a caller may leave out.
function all_declared(f,    s, p) {
	s = ""
	for (p = 1; p <= parameters[f]; p++)
		s = s (p == 1 ? "" : ", ") type[f, p] name[f, p]
	return s == "" ? "void" : s
}

# "fd, buf": the parameters as they are handed on.
function passed(f,    s, p) {
	s = ""
	for (p = 1; p <= parameters[f]; p++)
		s = s (p == 1 ? "" : ", ") name[f, p]
	return s
}

function changes_descriptors(f) {
	return (f, "opens") in descriptor || (f, "closes") in descriptor || (f, "renames") in descriptor
}

function callee(f) {
	if ((f, "call") in flag)
		return "fx_call_" function_name[f]
	if (changes_descriptors(f))
		return "descriptors_" function_name[f]
	return "FX_REAL(" function_name[f] ")"
}

function words_needed(f,    s, p) {
	s = "FX_CALL_WORDS + " (result[f] == "text" ? "FX_RESULT_TEXT_WORDS" : "FX_RESULT_WORDS")
	for (p = 1; p <= parameters[f]; p++)
		if (kind[f, p] != "-")
			s = s " + FX_WORDS_" kind[f, p]
	if (f in note)
		s = s " + FX_WORDS_int"
	if (f in wait)
		s = s " + FX_WAIT_WORDS"
	if (f in fds)
		s = s " + " fds[f] " * FX_WORDS_FILE"
	if (f in tells)
		s = s " + FX_WORDS_TELL_" tells[f]
	if (f in reads)
		s = s " + FX_WORDS_TOTAL"
	if (f in writes)
		s = s " + FX_WORDS_TOTAL"
	return s
}

function first_key(f) {
	return parameters[f] ? "(uint64_t)(uintptr_t)" name[f, 1] : "0"
}

# What the caller may have left out: all of it is there if the first is.
function write_optional(f,    p, first) {
	if (!(f in variadic) || !((f, variadic[f]) in optional))
		return
	first = variadic[f]
	for (p = first; p <= parameters[f]; p++)
		printf "\t%s%s = 0;\n", type[f, p], name[f, p]
	printf "\n\tif (FX_PASSED_%s(%s)) {\n", kind[f, first], extra[f, first]
	printf "\t\tva_list ap;\n\n"
	printf "\t\tva_start(ap, %s);\n", name[f, first - 1]
	for (p = first; p <= parameters[f]; p++)
		printf "\t\t%s = va_arg(ap, %s);\n", name[f, p], trim(type[f, p])
	printf "\t\tva_end(ap);\n\t}\n"
}

function write_arguments(f,    p) {
	for (p = 1; p <= parameters[f]; p++)
		if (kind[f, p] != "-")
			printf "\t\tfx_arg_%s(&call, FX_STR_%s, %s%s);\n", kind[f, p], name[f, p],
			       name[f, p], (f, p) in extra ? ", " extra[f, p] : ""
	if (f in note)
		printf "\t\tfx_arg_int(&call, FX_STR_%s, %s);\n", note_name[f], note_name[f]
	if (f in wait)
		printf "\t\tfx_wait_show(&call, &wait);\n"
}

# The bytes that a call has taken out: none if it only looked at them.
function taken(f,    p) {
	for (p = 1; p <= parameters[f]; p++)
		if (kind[f, p] == "msg_flags")
			return "ret > 0 && (" name[f, p] " & MSG_PEEK) ? 0 : ret"
	return "ret"
}

# "read" or "written": where the bytes of descriptor i went; "" if the call moves none.
function way(f, i) {
	return f in reads && reads[f] == fd_name[f, i] ? "read" : \
	       f in writes && writes[f] == fd_name[f, i] ? "written" : ""
}

# Behind the result: what the descriptors are, and the bytes so far.
function write_files(f,    i, x) {
	for (i = 1; i <= fds[f]; i++) {
		x = fd_name[f, i]
		if (way(f, i) == "")
			printf "\t\tfx_show_file(&call, FX_STR_%s, &is_%s);\n", fd_file[f, i], x
		else
			printf "\t\tfx_show_total(&call, FX_STR_%s, &is_%s, FX_STR_total_%s, &is_%s.entry->%s, %s);\n",
			       fd_file[f, i], x, way(f, i), x, way(f, i), way(f, i) == "read" ? taken(f) : "ret"
	}
	if (f in tells)
		printf "\t\tfx_tell_%s(&call, %s);\n", tells[f], told[f]
}

# Calls that move bytes, and are made often: a record of one word an argument is written by a way of its own,
# on which the compiler knows all places and counts.
function is_quick(f,    p) {
	if (prefix[f] != "fx_call" || !(f in reads || f in writes) || result[f] != "sys" || f in wait || f in note || f in when || f in before)
		return 0
	for (p = 1; p <= parameters[f]; p++)
		if (kind[f, p] !~ /^(-|fd|int|uint|size|long)$/)
			return 0
	return 1
}

function one_word_each(f,    s, p, i, x) {
	s = "FX_ONE_WORD_ret(ret)"
	for (p = 1; p <= parameters[f]; p++)
		if (kind[f, p] ~ /^(size|long)$/)
			s = s " && FX_ONE_WORD_" kind[f, p] "(" name[f, p] ")"
	for (i = 1; i <= fds[f]; i++) {
		x = fd_name[f, i]
		s = s " && is_" x ".string"
		if (way(f, i) != "")
			s = s " &&\n\t    FX_ONE_WORD_size(total_" x " = fx_fd_sum(&is_" x ".entry->" way(f, i) ", ret))"
	}
	return s
}

function write_word(kind, as, value) {
	printf "\t\tfx_quick_word(&quick, FX_WORD_%s(FX_STR_%s, %s));\n", kind, as, value
}

function quick_words(f,    p, n, i) {
	n = 4 + fds[f]
	for (i = 1; i <= fds[f]; i++)
		n += way(f, i) != ""
	for (p = 1; p <= parameters[f]; p++)
		n += kind[f, p] != "-"
	return n
}

function write_quick(f,    i, p, x) {
	printf "\tfx_call_stop(&quick);\n\tif (fx_likely(%s &&\n\t    fx_quick_end(&quick, %d))) {\n",
	       one_word_each(f), quick_words(f)
	for (p = 1; p <= parameters[f]; p++)
		if (kind[f, p] != "-")
			write_word(kind[f, p], name[f, p], name[f, p])
	write_word("long", "ret", "ret")
	for (i = 1; i <= fds[f]; i++) {
		x = fd_name[f, i]
		write_word("string", fd_file[f, i], "is_" x ".string")
		if (way(f, i) == "")
			continue
		write_word("size", "total_" way(f, i), "total_" x)
		printf "\t\tfx_store_relaxed(&is_%s.entry->%s, total_%s);\n", x, way(f, i), x
	}
	printf "\t\tfx_quick_write(&quick, FX_CALL_HEADER(%s, %s));\n\t\treturn ret;\n\t}\n\tcall = fx_quick_leave(&quick);\n",
	       function_cat[f], shown[f]
}

function write_end(f, void_, by) {
	printf "\tif (%s_end(&call, WORDS, %s)) {\n", by, void_ ? "0" : "FX_ERROR_" result[f] "(ret)"
	write_arguments(f)
	if (!void_)
		printf "\t\tfx_result_%s(&call, ret);\n", result[f]
	write_files(f)
	if (f in wait)
		printf "\t\tfx_call_write_arrow(&call, FX_CALL_HEADER(%s, %s), &wait.from, FX_STR_%s, FX_OBJECT(%s));\n",
		       function_cat[f], shown[f], awaited[f], awaited[f]
	else
		printf "\t\t%s_write(&call, FX_CALL_HEADER(%s, %s));\n", by, function_cat[f], shown[f]
	printf "\t}\n"
}

# What they are is asked before the call, which may be the last that uses them, and before the clock.
function write_looks(f,    i, x) {
	for (i = 1; i <= fds[f]; i++) {
		x = fd_name[f, i]
		if ((f, "closes") in descriptor && descriptor[f, "closes"] == x)
			printf "\tis_%s = fx_fd_known(%s);\n", x, x
		else
			printf "\tis_%s = %s_look(%s, FX_CAT_%s);\n", x,
			       prefix[f] == "fx_compact" ? "fx_compact" : "fx_fd", x, function_bit[f]
	}
}

# The real function, and what it does to descriptors: also while nothing is recorded.
function write_descriptors(f,    x) {
	if (!changes_descriptors(f) || (f, "call") in flag)
		return
	printf "\nstatic %sdescriptors_%s(%s)\n{\n", function_type[f], function_name[f], all_declared(f)
	printf "\t%sret;\n\n", function_type[f]
	if ((f, "closes") in descriptor)
		printf "\tfx_fd_forget(%s);\n", descriptor[f, "closes"]
	printf "\tret = FX_REAL(%s)(%s);\n", function_name[f], passed(f)
	if ((f, "renames") in descriptor)
		printf "\tfx_fd_renamed(%s);\n", descriptor[f, "renames"]
	x = (f, "opens") in descriptor ? descriptor[f, "opens"] : ""
	if (x == "ret")
		print "\tfx_fd_forget(ret);"
	else if (x != "") {
		printf "\tif (ret == 0) {\n\t\tfx_fd_forget(%s[0]);\n", x
		printf "\t\tfx_fd_forget(%s[1]);\n\t}\n", x
	}
	print "\treturn ret;\n}"
}

# "if (...)" before a call that is not recorded.
function unrecorded(f) {
	return "!fx_category_on(FX_CAT_" function_bit[f] ")" (f in unless ? " || " unless[f] : "")
}

# A call that is not recorded, after CONDITION; both end at the same indentation.
function write_plain(f, condition) {
	if (result[f] == "void")
		printf "\tif (%s) {\n\t\t%s(%s);\n\t\treturn;\n\t}\n", condition, callee(f), passed(f)
	else
		printf "\tif (%s)\n\t\treturn %s(%s);\n", condition, callee(f), passed(f)
}

function write_pass(f) {
	if (result[f] == "void")
		printf "\tif (fx_pass_%s(%s))\n\t\treturn;\n", function_name[f], passed(f)
	else
		printf "\n\tif (fx_pass_%s(%s, &ret))\n\t\treturn ret;\n", function_name[f], passed(f)
}

# For wrappers that do nothing but jump: the traced half looks up a function that nobody has called yet as well,
# so that there is nothing to keep while that is done.
function write_jump(f,    void_) {
	void_ = result[f] == "void"
	printf "\t__typeof__(fx_real.fn.%s) known = FX_REAL_IF_KNOWN(%s);\n\n", function_name[f], function_name[f]
	printf "\tif (fx_category_on(FX_CAT_%s) || !known)%s\n\t\t%straced_%s(%s);\n%s\t%sknown(%s);\n", function_bit[f],
	       void_ ? " {" : "", void_ ? "" : "return ", function_name[f], passed(f),
	       void_ ? "\t\treturn;\n\t}\n" : "", void_ ? "" : "return ", passed(f)
}

function only_jumps(f) {
	return callee(f) ~ /^FX_REAL/ && !(f in unless) && !((f, "pass") in flag)
}

# The wrapper proper is small: it jumps to the real function or to the traced half, which has the same
# arguments.
function write_wrapper(f,    give) {
	give = result[f] == "void" ? "" : "return "
	write_descriptors(f)
	write_traced(f, result[f] == "void")
	printf "\n%sfx_wrap_%s(%s)\n{\n", function_type[f], function_name[f], declared(f)
	if ((f, "pass") in flag && result[f] != "void")
		printf "\t%sret;\n", function_type[f]
	write_optional(f)
	if (only_jumps(f))
		write_jump(f)
	else {
		if ((f, "pass") in flag)
			write_pass(f)
		else
			write_plain(f, unrecorded(f))
		printf "\t%straced_%s(%s);\n", give, function_name[f], passed(f)
	}
	print "}"
	if (function_name[f] in forwarded)
		write_forwarded(f, give)
}

# What the wrappers call that take a variable argument list: the wrapper of the function with a va_list, but
# not by its name, which another library may have too.
function write_forwarded(f, give) {
	printf "\nstatic %sforwarded_%s(%s)\n{\n", function_type[f], function_name[f], declared(f)
	write_plain(f, unrecorded(f))
	printf "\t%straced_%s(%s);\n}\n", give, function_name[f], passed(f)
}

function write_variadic(f,    void_, last) {
	void_ = result[f] == "void"
	last = name[f, parameters[f]]
	printf "\n%sfx_wrap_%s(%s)\n{\n", function_type[f], function_name[f], declared(f)
	if (!void_)
		printf "\t%sret;\n", function_type[f]
	printf "\tva_list ap;\n\n\tva_start(ap, %s);\n", last
	printf "\t%sforwarded_%s(%s, ap);\n", void_ ? "" : "ret = ", forward[f], passed(f)
	printf "\tva_end(ap);\n%s}\n", void_ ? "" : "\treturn ret;\n"
}

function write_aliases(f,    i, n, part) {
	n = split(also[f], part, /,/)
	for (i = 1; i <= n; i++)
		printf "\nextern %sfx_wrap_%s(%s) __asm__(\"%s\")\n    __attribute__((alias(\"%s\"), visibility(\"default\")));\n",
		       function_type[f], part[i], declared(f), part[i], function_name[f]
}

function write_traced(f, void_,    i, tab) {
	printf "\nstatic __attribute__((noinline)) %straced_%s(%s)\n{\n", function_type[f],
	       function_name[f], all_declared(f)
	printf "\tenum { WORDS = %s };\n", words_needed(f)
	printf "\tstruct fx_call call%s;\n", is_quick(f) ? ", quick" : ""
	if (!void_)
		printf "\t%sret;\n", function_type[f]
	if (f in wait)
		printf "\tstruct fx_wait wait;\n"
	if (f in note)
		printf "\tint %s;\n", note_name[f]
	if (f in before)
		printf "\tstruct fx_before_%s before[1];\n", before_type[f]
	for (i = 1; i <= fds[f]; i++) {
		printf "\tstruct fx_fd_ref is_%s;\n", fd_name[f, i]
		if (is_quick(f) && way(f, i) != "")
			printf "\tuint64_t total_%s;\n", fd_name[f, i]
	}
	if (f in watch)
		print "\tstruct fx_stream_watch watch;"
	printf "\n\t_Static_assert(WORDS <= FX_CALL_WORDS_MAX, \"fits the smallest chunk\");\n"
	if (f in note)
		printf "\t%s = fx_note_%s;\n", note_name[f], note[f]
	write_looks(f)
	printf "\tif (!%s_begin(&%s, FX_CAT_%s, FX_CALL_HEADER(%s, %s),\n", prefix[f],
	       is_quick(f) ? "quick" : "call", function_bit[f], function_cat[f], shown[f]
	printf "\t\t\t   FX_WRAPPER_SP(), %s))", first_key(f)
	if (void_)
		printf " {\n\t\t%s(%s);\n\t\treturn;\n\t}\n", callee(f), passed(f)
	else
		printf "\n\t\treturn %s(%s);\n", callee(f), passed(f)
	if (f in before)
		printf "\tfx_before_%s(before%s);\n", before[f], before_takes[f] == "" ? "" : ", " before_takes[f]
	if (f in watch)
		printf "\twatch = fx_stream_watch(%s);\n", watch[f]
	if ((f, "try") in flag)
		printf "\tif (!fx_try_%s(&wait, %s, &ret)) {\n", function_name[f], passed(f)
	tab = (f, "try") in flag ? "\t\t" : "\t"
	if (f in wait)
		printf "%sfx_begin_%s(&wait, &call, %s, FX_WRAPPER_SP());\n", tab, wait[f], awaited[f]
	printf "%s%s%s(%s);\n", tab, void_ ? "" : "ret = ", callee(f), passed(f)
	if (f in wait)
		printf "%sfx_end_%s(&wait, %s, %s);\n", tab, wait[f], awaited[f], void_ ? "0" : "ret"
	if ((f, "try") in flag)
		print "\t}"
	if (f in when) {
		printf "\tif (!fx_call_is_wanted(&call, FX_EVERY_%s) && !(%s)) {\n", function_bit[f], when[f]
		printf "\t\tfx_call_drop(call.thread, call.frame, call.start);\n"
		printf "\t\treturn%s;\n\t}\n", void_ ? "" : " ret"
	}
	if (is_quick(f))
		write_quick(f)
	write_end(f, void_, is_quick(f) ? "fx_compact" : prefix[f])
	if (!void_)
		printf "\treturn ret;\n"
	print "}"
}

# --- Outputs -------------------------------------------------------------------------------------

function out_unit(wanted,    f) {
	if (!(wanted in units))
		fail("no unit " wanted)
	banner()
	for (f = 1; f <= functions; f++)
		if (f in forward)
			forwarded[forward[f]] = 1
	for (f = 1; f <= functions; f++) {
		if (function_unit[f] != wanted || internal[f])
			continue
		if (f in forward)
			write_variadic(f)
		else if (!((f, "custom") in flag))
			write_wrapper(f)
		if (!((f, "assembler") in flag))
			write_aliases(f)
	}
}

function out_strings_h(    i) {
	banner()
	print "#ifndef FX_PRELOAD_STRINGS_H\n#define FX_PRELOAD_STRINGS_H\n"
	print "#include <stdint.h>\n"
	print "enum fx_builtin_string {\n\tFX_STR_EMPTY_ = 0,"
	for (i = 1; i <= strings; i++)
		printf "\tFX_STR_%s = %d,\n", string_ident[i], i
	printf "\tFX_STR_COUNT = %d, /* the first index for other strings */\n};\n\n", strings + 1
	print "/* The String Records of them all, in order of index. */"
	print "extern const uint64_t fx_builtin_strings[];"
	print "extern const unsigned fx_builtin_words;\n"
	print "/* The text of a builtin string; *ret_length its bytes, no NUL behind them. */"
	print "const char *fx_builtin_text(unsigned index, unsigned *ret_length);\n"
	print "/* The index of the name of an error or a signal; 0 if it has none here. */"
	print "unsigned fx_errno_string(int number);"
	print "unsigned fx_signal_string(int number);\n"
	print "#endif"
}

function string_record(i,    text, length_, words, w, k, at) {
	text = string_text[i]
	length_ = length(text)
	words = int((length_ + 7) / 8)
	printf "\tFX_STRING_HEADER(%d, %d, %d)%s,", words + 1, i, length_,
	       i in is_category ? " | FX_STRING_CATEGORY" : ""
	for (w = 0; w < words; w++) {
		printf " FX_BYTES("
		for (k = 1; k <= 8; k++) {
			at = w * 8 + k
			printf "%s%s", k == 1 ? "" : ", ",
			       at <= length_ ? "'" substr(text, at, 1) "'" : "0"
		}
		printf "),"
	}
	print ""
}

# Where each string stands among the records, in words.
function builtin_text(    i, at) {
	print "\nstatic const uint16_t places[] = {\n\t0,"
	at = 0
	for (i = 1; i <= strings; i++) {
		printf "\t%d,\n", at
		at += 1 + int((length(string_text[i]) + 7) / 8)
	}
	print "};\n\nconst char *fx_builtin_text(unsigned index, unsigned *ret_length)\n{"
	print "\tconst uint64_t *record = fx_builtin_strings + places[index];\n"
	print "\t*ret_length = (unsigned)FXT_GET(*record, STRING_LENGTH);"
	print "\treturn (const char *)(record + 1);\n}"
}

function name_table(what, table, count,    i) {
	printf "\nstatic const uint16_t %s_strings[] = {\n", what
	for (i = 1; i <= count; i++)
		printf "\t[%s] = FX_STR_%s,\n", table[i], table[i]
	printf "};\n\nunsigned fx_%s_string(int number)\n{\n", what
	printf "\tif (number < 0 || (unsigned)number >= FX_ARRAY_LEN(%s_strings))\n", what
	printf "\t\treturn 0;\n\treturn %s_strings[number];\n}\n", what
}

function out_strings_c(    i) {
	banner()
	print "#include <errno.h>\n#include <signal.h>\n"
	print "#include \"base/compiler.h\"\n#include \"engine/layout.h\""
	print "#include \"fxtrace/format.h\"\n#include \"preload/strings.h\"\n"
	print "#define FX_STRING_HEADER(words, index, length) \\"
	print "\t(FXT_PUT(RECORD_TYPE, FXT_RECORD_STRING) | FXT_PUT(RECORD_SIZE, words) | \\"
	print "\t FXT_PUT(STRING_INDEX, index) | FXT_PUT(STRING_LENGTH, length))"
	print "#define FX_BYTES(a, b, c, d, e, f, g, h) \\"
	print "\t((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 | \\"
	print "\t (uint64_t)(e) << 32 | (uint64_t)(f) << 40 | (uint64_t)(g) << 48 | (uint64_t)(h) << 56)\n"
	print "const uint64_t fx_builtin_strings[] = {"
	for (i = 1; i <= strings; i++)
		string_record(i)
	print "};\n"
	print "const unsigned fx_builtin_words = FX_ARRAY_LEN(fx_builtin_strings);\n"
	print "_Static_assert(sizeof(fx_builtin_strings) <= FX_BUILTIN_SIZE, \"room for builtin strings\");"
	builtin_text()
	name_table("errno", errno_name, errnos)
	name_table("signal", signal_name, signals)
}

function out_wrappers_h(    f) {
	banner()
	print "enum fx_real_index {"
	for (f = 1; f <= functions; f++)
		printf "\tFX_REAL_%s,\n", function_name[f]
	print "\tFX_REAL_COUNT,\n};\n"
	print "struct fx_real {"
	for (f = 1; f <= functions; f++)
		printf "\t%s(*%s)(%s);\n", function_type[f], function_name[f], declared(f)
	print "};\n"
	for (f = 1; f <= functions; f++)
		if (!internal[f])
			printf "%sfx_wrap_%s(%s) __asm__(\"%s\")\n    __attribute__((visibility(\"default\")%s));\n",
			       function_type[f], function_name[f], declared(f), function_name[f],
			       (f, "noreturn") in flag ? ", noreturn" : ""
}

function out_names(    f) {
	banner()
	for (f = 1; f <= functions; f++)
		printf "\t[FX_REAL_%s] = {\"%s\", \"%s\", FX_MISSING_%s},\n", function_name[f],
		       f in forward || !exists(function_name[f]) ? "" : function_name[f], version[f],
		       result[f]
}

# Whether libc has the function; if nobody knows, it has.
function exists(function_) {
	return !libc_known || function_ in in_libc
}

function out_list(prefix, suffix,    f, i, n, part) {
	for (f = 1; f <= functions; f++) {
		if (internal[f])
			continue
		n = split(function_name[f] "," also[f], part, /,/)
		for (i = 1; i <= n; i++)
			if (part[i] != "" && exists(part[i]))
				print prefix part[i] suffix
	}
}

function out_map() {
	banner()
	print "{\nglobal:"
	out_list("\t", ";")
	print "\t__cyg_profile_func_enter;\n\t__cyg_profile_func_exit;\n\tfxtrace_alert_raise;"
	print "local:\n\t*;\n};"
}

# An argument that no function likes.
function bad(f, p,    t) {
	t = trim(type[f, p])
	if (t ~ /\*$/ || t ~ /^fx_/ || t ~ /^(timer|iconv|locale)_t$/ || t == "nl_catd")
		return "(" t ")bad_pointer"
	if (t ~ /^(const )?(struct|union) /)
		return "(" t "){0}"
	return "(" t ")-1"
}

function takes_list(f,    p) {
	for (p = 1; p <= parameters[f]; p++)
		if (trim(type[f, p]) == "va_list")
			return 1
	return 0
}

# Functions whose arguments somebody checks. (A stream that is none is looked at before the call.)
function is_tried(f) {
	return function_unit[f] ~ /^(files|descriptors|memory|process|system|library)$/ && !internal[f] &&
	       !(f in forward) && !takes_list(f) && !((f, "custom") in flag) && exists(function_name[f]) &&
	       !(function_name[f] in left_untried)
}

function write_bad_call(f,    p, s) {
	for (p = 1; p <= parameters[f]; p++)
		s = s (p == 1 ? "" : ", ") bad(f, p)
	printf "\nstatic long call_%s(void *function)\n{\n", function_name[f]
	printf "\t%s(*bad)(%s) = (%s(*)(%s))function;\n\n", function_type[f], declared(f),
	       function_type[f], declared(f)
	s = "bad(" s ")"
	if (result[f] == "void")
		printf "\t%s;\n\treturn 0;\n}\n", s
	else if (trim(function_type[f]) ~ /\*$/ || result[f] ~ /^(handler|map|ptr)$/)
		printf "\treturn of_pointer((const void *)%s);\n}\n", s
	else
		printf "\treturn (long)%s;\n}\n", s
}

function out_bad_calls(    f, line, i, n, word) {
	while ((getline line < untried) > 0) {
		n = line ~ /^#/ ? 0 : split(line, word, /[ \t]+/)
		for (i = 1; i <= n; i++)
			left_untried[word[i]] = 1
	}
	banner()
	for (f = 1; f <= functions; f++)
		if (is_tried(f))
			write_bad_call(f)
	printf "\n#define EVERY_CALL(X)"
	for (f = 1; f <= functions; f++)
		if (is_tried(f))
			printf " \\\n\tX(%s)", function_name[f]
	print ""
}

function out_doc(    f, p, s) {
	for (f = 1; f <= functions; f++) {
		if (internal[f] || !exists(function_name[f]))
			continue
		s = ""
		for (p = 1; p <= parameters[f]; p++)
			if (kind[f, p] != "-")
				s = s (s == "" ? "" : ", ") name[f, p]
		printf "%-24s %-24s %-8s %s\n", function_name[f], shown[f], function_cat[f], s
	}
}

END {
	if (failed)
		exit 1
	if (out == "strings.h")
		out_strings_h()
	else if (out == "strings.c")
		out_strings_c()
	else if (out == "wrappers.h")
		out_wrappers_h()
	else if (out == "real-names.inc")
		out_names()
	else if (out ~ /^unit-.*\.inc$/)
		out_unit(substr(out, 6, length(out) - 9))
	else if (out == "libfxtrace.map")
		out_map()
	else if (out == "wrappers.list")
		out_list("", "")
	else if (out == "wrappers.txt")
		out_doc()
	else if (out == "badcalls.inc")
		out_bad_calls()
	else
		fail("unknown output `" out "'")
	if (failed)
		exit 1
}
