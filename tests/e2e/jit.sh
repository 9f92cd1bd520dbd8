#!/bin/bash
# SPDX-License-Identifier: MIT
# Functions that a program made while it ran have the names of its map for perf, as functions and in stacks, as far as that
# map is to be believed.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

ulimit -c 0
compile jit -O1 -g -fno-omit-frame-pointer "$FX_SRCDIR/tests/e2e/targets/jit.c"
maps=()

# traced_jit LINES...: the program; its map is removed.
traced_jit() {
	expect_ok traced --stacks syscall "${options[@]}" -- ./jit "$@"
	maps+=("/tmp/perf-$(head -n 1 out).map")
	rm -f "${maps[@]}"
	expect_clean trace.fxt
	list_archive trace.fxt
}
# shellcheck disable=SC2034 # lib.sh has it
at_end='rm -f "${maps[@]}"'
options=()

# --- Names, and where there are none --------------------------------------------------------------

made=()
for i in $(seq 40); do
	made+=("made_$i" -none)
done
traced_jit "${made[@]}"
for i in $(seq 40); do
	expect_events 1 'category == "function" && name == "made_'"$i"'"'
	expect_events 1 'name == "usleep" && /stack=called\\x0amade_'"$i"'\\x0amain/'
done
expect_events 40 'category == "function" && name ~ /^0x[0-9a-f]+$/'
expect_events 40 'name == "usleep" && /stack=called\\x0a0x[0-9a-f]+\\x0amain/'

# Filters know them, as of a module of that name.
options=(--no-trace 'jit:made_*')
traced_jit made_1 made_2 kept
expect_events 0 'category == "function" && name ~ /^made_/'
expect_events 1 'category == "function" && name == "kept"'
options=()

# --- A map that is not the program's --------------------------------------------------------------

# Wherever code may be made, it is called that.
for start in 0x7e0000000000 0xfe0000000000; do
	for ((i = 0; i < 512; i++)); do
		printf '%x ffffffff everywhere\n' $((start + i * 0xffffffff))
	done
done >everywhere

cat >other.sh <<'PROGRAM'
map=/tmp/perf-$$.map
case $1 in
own) cat everywhere >"$map" ;;
link) ln -s "$PWD/everywhere" "$map" ;;
hard) ln everywhere "$map" && touch everywhere && chown 12345 everywhere ;;
fifo) mkfifo "$map" ;;
old) cat everywhere >"$map"; touch -d @1000 "$map" ;;
endless) head -c 300000 /dev/zero >"$map" ;;
random) head -c 300000 /dev/urandom >"$map"; echo >>"$map"; cat everywhere >>"$map" ;;
unended) echo "0 10 nothing" >"$map"; tr '\n' ' ' <everywhere >>"$map" ;;
esac
exec ./jit -made
PROGRAM
# other_map WHAT NAME: what the function is called if that is in the place of the program's map.
other_map() {
	expect_ok traced --stacks syscall -- sh other.sh "$1"
	maps+=("/tmp/perf-$(head -n 1 out).map")
	rm -f "${maps[@]}"
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 1 'process == "jit" && category == "function" && name ~ /'"$2"'/'
}
other_map own '^everywhere'
other_map random '^everywhere'
for wrong in none link fifo old endless unended; do
	other_map "$wrong" '^0x[0-9a-f]+$'
done
if [ "$(id -u)" -eq 0 ]; then
	other_map hard '^0x[0-9a-f]+$'
fi

# --- Another root ---------------------------------------------------------------------------------

user=()
[ "$(id -u)" -eq 0 ] || user=(-r)
if command -v unshare >/dev/null && unshare "${user[@]}" -mpf true 2>/dev/null; then
	# A /tmp that nobody else sees, and a number that nobody else calls the process by.
	cat >inside.sh <<-'PROGRAM'
		mkdir far && mount -t tmpfs none far && cp jit far/ && mount --move far /tmp && cd /tmp && exec ./jit inside
	PROGRAM
	expect_ok traced --stacks syscall -- unshare "${user[@]}" -mpf --mount-proc sh inside.sh
	expect_clean trace.fxt
	list_archive trace.fxt
	expect_events 1 'category == "function" && name == "inside"'
fi

# --- Compilers ------------------------------------------------------------------------------------

if command -v node >/dev/null; then
	cat >writes.js <<-'PROGRAM'
		const fs = require('fs');
		function fx_writes_a_line() { fs.writeSync(1, 'line\n'); }
		fx_writes_a_line();
	PROGRAM
	expect_ok traced --stacks syscall -- node --perf-basic-prof --interpreted-frames-native-stack \
		-e 'require("fs").writeFileSync("pid", String(process.pid)); require("./writes.js")'
	maps+=("/tmp/perf-$(cat pid).map")
	list_archive trace.fxt
	expect_events 1 'name == "write" && /JS:[~*^]*fx_writes_a_line /'
fi
if python3 -X perf -c 'import sys; sys.exit(not sys.is_stack_trampoline_active())' 2>/dev/null; then
	cat >writes.py <<-'PROGRAM'
		import os
		def fx_writes_a_line():
		    os.write(1, b"line\n")
		open("pid", "w").write(str(os.getpid()))
		fx_writes_a_line()
	PROGRAM
	expect_ok traced --stacks syscall -- python3 -X perf writes.py
	maps+=("/tmp/perf-$(cat pid).map")
	list_archive trace.fxt
	expect_events 1 'name == "write" && /py::fx_writes_a_line:/'
fi
