#!/bin/bash
# SPDX-License-Identifier: MIT
# Whatever is wrong with what it is given: one clear line, the right status, nothing lost.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

target leaf leaf.c
target progress progress.c
run() {
	"$FXTRACE" run -o trace.fxt "$@"
}

# --- Command lines ---------------------------------------------------------------------------------

fxtrace() {
	"$FXTRACE" "$@"
}
# What badinput.tbl names.
: >not-executable
printf '#!/no/such/interpreter\n' >script
chmod +x script
mkdir folder
: >empty
echo 'this is no trace at all' >text
fxtrace run -q -o some.fxt -- ./leaf && fxtrace run -q -o other.fxt -- ./leaf && fxtrace run -q -o some.fxt.zst -- ./leaf ||
	fail "cannot trace the leaf"
head -c $(($(wc -c <some.fxt) / 2 + 1)) some.fxt >cut.fxt
unset FXTRACE_SOCKET
export XDG_RUNTIME_DIR=$PWD/folder

# Each row is tried, and all that are wrong are told.
rows=0 wrong=0
while IFS=$'\t' read -r status stream pattern command; do
	case $status in '' | '#'*) continue ;; esac
	rows=$((rows + 1)) got=0 why=
	eval "$command" </dev/null >out 2>err || got=$?
	[ "$got" -eq "$status" ] || why="status $got instead of $status"
	case $stream in
	err)
		[ "$(wc -l <err)" -eq 1 ] && [ "$(wc -c <out)" -eq 0 ] && grep -q '^fxtrace' err ||
			why="$why, not one line on standard error"
		grep -qE -e "$pattern" err || why="$why, no line with $pattern"
		;;
	out)
		[ "$(wc -c <err)" -eq 0 ] || why="$why, something on standard error"
		grep -qE -e "$pattern" out || why="$why, no line with $pattern"
		;;
	sum) grep -qE -e "$pattern" err || why="$why, no line with $pattern" ;;
	*) fail "badinput.tbl: there is no stream $stream" ;;
	esac
	[ -n "$why" ] || continue
	wrong=$((wrong + 1))
	echo "$command: ${why#, }"
	head -n 3 out err
done <"$FX_SRCDIR/tests/e2e/badinput.tbl"
echo "$rows command lines"
[ "$rows" -ge 200 ] || fail "only $rows command lines"
[ "$wrong" -eq 0 ] || fail "$wrong of $rows command lines"

# Output that cannot be written is a failure of every command, told in one line, with the reason as far as it is known.
while IFS= read -r command; do
	got=0
	eval "timeout 60 $FXTRACE $command" </dev/null >/dev/full 2>err || got=$?
	expect_equal 1 "$got" "status of $command >/dev/full"
	grep -v 'left out' err >said
	expect_equal 1 "$(wc -l <said)" "lines on stderr of $command >/dev/full: $(cat err)"
	expect_line '^fxtrace.*(No space left on device|not all could be written)' said
	# Nor can it be where there is none.
	got=0
	eval "timeout 60 $FXTRACE $command" </dev/null >&- 2>err || got=$?
	expect_equal 1 "$got" "status of $command >&-: $(cat err)"
done <<'END'
help
help run
help --commands
--help
-V
check some.fxt
check --json some.fxt
info some.fxt
dump some.fxt
dump --json some.fxt
report some.fxt
report --csv some.fxt
report --json some.fxt
replay some.fxt
diff some.fxt other.fxt
diff --json some.fxt other.fxt
query some.fxt 'select * from slice'
query --json some.fxt 'select * from slice'
measure -e 'count of "leaf"' some.fxt
top --batch -n 1 some.fxt
top --batch --interval 10ms some.fxt
view --no-browser --html some.fxt
convert -f json some.fxt -
convert some.fxt -
convert -f sqlite some.fxt -
convert -f fxt some.fxt -
convert -f svg some.fxt -
filter -o - some.fxt
symbolize -o - some.fxt
merge -o - some.fxt other.fxt
doctor
doctor --json ./leaf
list-categories
list-category-groups
run -q --json -o a.fxt true
run -q --report -o a.fxt true
run -q -o - ./leaf
END

# What every command has, and what the tables of options tell: no value, a value too much, an unknown one.
# What is printed as JSON is JSON.
if command -v python3 >/dev/null; then
	for command in 'run --json -o a.fxt ./leaf' 'run --json -m circular -o a.fxt ./leaf' 'check --json some.fxt other.fxt' \
		'doctor --json ./leaf' 'list-categories --json' 'list-category-groups --json' 'info --json some.fxt' \
		'report --json some.fxt' 'diff --json some.fxt other.fxt'; do
		# shellcheck disable=SC2086 # words
		fxtrace $command >out 2>err || fail "$command: $(cat err)"
		python3 -m json.tool out >/dev/null 2>err || fail "$command: $(cat err)"
	done
fi

fxtrace help --commands | cut -f 1 >commands
while IFS= read -r command; do
	expect_ok fxtrace "$command" --help
	cp out help
	for option in -h --help; do
		expect_ok fxtrace "$command" $option
		expect_same_file help out
		expect_equal 0 "$(wc -c <err)" "bytes on stderr of $command $option"
	done
	expect_ok fxtrace help "$command"
	expect_same_file help out
	for option in -V --version; do
		expect_ok fxtrace "$command" $option
		expect_line '^fxtrace [0-9.]+$' out
	done
	for option in --help --version; do
		expect_status 1 sh -c '"$@" >/dev/full' sh "$FXTRACE" "$command" $option
		expect_equal 1 "$(wc -l <err)" "lines on stderr of $command $option >/dev/full"
		expect_line '^fxtrace.*: standard output: No space left on device' err
	done
	expect_one_error 2 fxtrace "$command" --no-such-option
	expect_one_error 2 fxtrace "$command" --usage
	fxtrace help --options "$command" | cut -f 1,2 >options
	while IFS=$'\t' read -r option argument; do
		case $command:$option in help:* | *:-?) continue ;; esac
		! grep -qF -e "${option}[=" help || continue # its value may be left out
		if [ -n "$argument" ]; then
			expect_one_error 2 fxtrace "$command" "$option"
			expect_line "'$option' needs a value, " err
		else
			expect_one_error 2 fxtrace "$command" "$option=x"
			expect_line "$option takes no value" err
		fi
	done <options
done <commands

# --- Output ----------------------------------------------------------------------------------------

# A program whose trace can go nowhere is not run at all: nobody wants to run it twice.
expect_one_error 1 "$FXTRACE" run -o /no/such/folder/trace.fxt -- touch ran
expect_line '/no/such/folder/trace.fxt' err
[ ! -e ran ] || fail "the program ran although the output cannot be written"
expect_one_error 1 "$FXTRACE" run -o . -- ./leaf

# The disk is full while saving: the program is not disturbed; its status stays, we say what happened.
expect_status 5 "$FXTRACE" run -o /dev/full -- ./leaf 5
expect_line '^fxtrace: /dev/full: ' err
target producer producer.c
expect_status 1 "$FXTRACE" run -o /dev/full -- ./producer 2 1000
expect_line '^fxtrace: /dev/full: ' err
expect_line '^fxtrace: /dev/full: .*, at most [0-9]+ events' err
if unshare -m true 2>/dev/null; then
	mkdir small
	# shellcheck disable=SC2016 # for the shell inside
	expect_status 1 unshare -m sh -c 'mount -t tmpfs -o size=400k none small &&
		"$@"
		status=$?
		cp small/full.fxt .
		exit $status' sh "$FXTRACE" run -o small/full.fxt --on-full block -- ./producer 2 100000
	expect_line '^fxtrace: small/full.fxt: ' err
	# What was saved before is readable.
	"$FXTRACE" dump full.fxt >dumped 2>/dev/null
	[ "$(grep -c work dumped)" -gt 10000 ] || fail "the archive so far holds too little: $(tail -n 3 dumped)"
fi

# --- Sockets that are no manager's -----------------------------------------------------------------

if [ -e "$LIBFXTRACE" ]; then
	: >file
	for socket in /no/such/socket ./file /dev/null . "$(printf 'x%.0s' $(seq 200))"; do
		expect_status 5 env FXTRACE_SOCKET="$socket" LD_PRELOAD="$LIBFXTRACE" ./leaf 5
		expect_equal 0 "$(wc -c <out)" "bytes on stdout with the socket $socket"
	done
	if command -v python3 >/dev/null; then
		# Listeners: one that is gone, one that hangs up, one that talks nonsense.
		cat >foreign.py <<'END'
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1])
if sys.argv[2] == "stale":
    sys.exit()
s.listen()
print("ready", flush=True)
while True:
    c, _ = s.accept()
    if sys.argv[2] == "nonsense":
        c.send(b"\x5a" * 32)
    c.close()
END
		python3 foreign.py "$PWD/stale" stale
		expect_status 5 env FXTRACE_SOCKET="$PWD/stale" LD_PRELOAD="$LIBFXTRACE" ./leaf 5
		for kind in closing nonsense; do
			python3 foreign.py "$PWD/$kind" "$kind" >"$kind.ready" &
			wait_for 10 test -s "$kind.ready" || fail "foreign.py $kind does not start"
			expect_status 5 env FXTRACE_SOCKET="$PWD/$kind" LD_PRELOAD="$LIBFXTRACE" ./leaf 5
			kill $!
			wait $! 2>/dev/null
		done
	fi
fi

# --- The manager dies ------------------------------------------------------------------------------

word() {
	od -An -v -t u8 -j $(($2 * 8)) -N 8 "$1" 2>/dev/null | tr -d ' '
}
runs() {
	[ "$(word map 0)" -gt 0 ] 2>/dev/null
}
for round in 1 2 3; do
	rm -f map
	"$FXTRACE" run -q -o trace.fxt -- ./progress map 2 1000 &
	run=$!
	wait_for 10 runs || fail "the program does not start"
	pid=$(word map 0)
	sleep 0.$round
	kill -9 "$run"
	wait "$run" 2>/dev/null
	# It goes on with its work, and is still itself.
	before=$(word map 2)
	sleep 0.2
	[ "$(word map 2)" -gt "$before" ] || fail "the program does not go on without the manager"
	kill -9 "$pid" || fail "the program died with the manager"
	expect_prefix trace.fxt
done
# To its normal end.
"$FXTRACE" run -q -o trace.fxt -- sh -c 'echo $PPID >manager; sleep 0.5; ./leaf; ./leaf 3; echo $? >status' &
run=$!
wait_for 10 test -s manager
kill -9 "$run"
wait "$run" 2>/dev/null
wait_for 10 test -s status || fail "the program did not come to its end"
expect_equal 3 "$(cat status)" "status of a child after the manager's death"

# --- Archives that are cut off or damaged ----------------------------------------------------------

expect_ok "$FXTRACE" run -q -o whole.fxt -- sh -c './leaf; ./leaf'
size=$(wc -c <whole.fxt)
expect_clean whole.fxt
expect_ok "$FXTRACE" dump whole.fxt
cp out whole.dump

# read_as check|dump|json|perfetto FILE
read_as() {
	case $1 in
	check | dump) timeout 20 "$FXTRACE" "$1" "$2" ;;
	*) timeout 20 "$FXTRACE" convert -f "$1" "$2" - ;;
	esac
}

# expect_sane HOW FILE: ends by itself with 0 or 1, and says why if it fails.
expect_sane() {
	local status=0

	read_as "$@" >out 2>err || status=$?
	[ "$status" -le 1 ] || fail "status $status: $*"$'\n'"$(tail -n 5 err)"
	[ "$status" -eq 0 ] || [ -s err ] || [ "$1" = check ] || fail "fails without a word: $*"
	expect_no_line 'AddressSanitizer|runtime error|Segmentation' err
}

for how in check dump json perfetto; do
	expect_one_error 1 read_as $how no-such-file
	expect_line 'no-such-file' err
	expect_one_error 1 read_as $how .
	: >empty
	echo 'this is no trace at all' >text
	for file in empty text; do
		expect_status 1 read_as $how $file
		cat out err >both
		expect_line $file both
	done
done

# Each class of prefix: within the magic, within a header, between records, within the last one.
for length in 1 7 8 9 15 16 23 24 100 101 $((size / 2)) $((size / 2 / 8 * 8)) $((size - 1)) $((size - 8)); do
	head -c "$length" whole.fxt >cut.fxt
	for how in check json perfetto dump; do
		expect_sane $how cut.fxt
		[ $((length % 8)) -eq 0 ] || [ -s err ] || [ $how = check ] ||
			fail "$how says nothing of a cut at byte $length"
	done
	# Every whole record is there: what is shown is how the whole one begins.
	lines=$(wc -l <out)
	cmp -s <(head -n "$lines" whole.dump) out || fail "dump of $length bytes is no prefix of the whole"
done
# All but the last record are there.
head -c $((size - 1)) whole.fxt >cut.fxt
expect_status 1 read_as dump cut.fxt
expect_equal $(($(wc -l <whole.dump) - 1)) "$(wc -l <out)" "records before the cut"
expect_status 1 read_as check cut.fxt

# Bytes changed here and there, in each run the same ones.
awk -v size="$size" 'BEGIN { srand(11); for (i = 0; i < 60; i++) print int(rand() * size), int(rand() * 256) }' >damage
while read -r offset value; do
	cp whole.fxt damaged.fxt
	# shellcheck disable=SC2059 # the value is the format
	printf "\\x$(printf %02x "$value")" |
		dd of=damaged.fxt bs=1 seek="$offset" conv=notrunc status=none
	for how in check dump json perfetto; do
		expect_sane $how damaged.fxt
	done
done <damage

# Compressed ones.
gzip -c whole.fxt >whole.fxt.gz
expect_clean whole.fxt.gz
gz=$(wc -c <whole.fxt.gz)
for length in 2 10 $((gz / 2)) $((gz - 4)); do
	head -c "$length" whole.fxt.gz >cut.fxt.gz
	for how in check dump json perfetto; do
		expect_sane $how cut.fxt.gz
	done
	expect_status 1 read_as check cut.fxt.gz
done

# Output of the readers that cannot be written.
for how in check dump json perfetto; do
	status=0
	read_as $how whole.fxt >/dev/full 2>err || status=$?
	expect_equal 1 "$status" "status of $how into a full device"
	expect_line '^fxtrace' err
done
expect_one_error 1 "$FXTRACE" convert -f json whole.fxt /no/such/folder/out.json
expect_line '/no/such/folder/out.json' err
expect_one_error 2 "$FXTRACE" convert -f no-such-format whole.fxt out
expect_one_error 2 "$FXTRACE" convert whole.fxt out.no-such-ending
