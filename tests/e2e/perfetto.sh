#!/bin/bash
# SPDX-License-Identifier: MIT
# Perfetto's trace processor loads what we write, raw and converted, finds no fault with it and shows what `fxtrace
# dump' tells of it: threads and their names, their slices by name and length, asynchronous ones, instants and whose they
# are, categories, arguments by name and value, samples of counters and their sums, arrows and the threads at their ends.
# Of programs that are installed, and of FX_ARCHIVES, a folder in which the other tests keep theirs (see lib.sh); of these,
# `fxtrace check' leaves out those that are broken on purpose, and what has to differ stands with its reason in
# perfetto.txt. Those of more than FX_LARGEST bytes are left out, with a word. As many are compared at a time as there are
# processors. FX_TRACE_PROCESSOR names the trace processor, that of Perfetto's releases or another that takes
# `-q QUERY TRACE'.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

[ -n "${FX_TRACE_PROCESSOR-}" ] || skip "FX_TRACE_PROCESSOR names no trace processor of Perfetto's"
need python3 "$FX_TRACE_PROCESSOR"
archives=${FX_ARCHIVES-}
largest=${FX_LARGEST:-67108864}
unset FX_ARCHIVES
export LC_ALL=C

# shown TRACE OUT: what the trace processor shows of it, as shown.py says it, to OUT.
shown() {
	"$FX_TRACE_PROCESSOR" -q "$FX_SRCDIR/tests/convert/shown.sql" "$1" >"$2.csv" 2>"$2.err" ||
		{ echo "not loaded: $(tail -n 2 "$2.err")" >"$2"; return; }
	tail -n +2 "$2.csv" | tr -d '"' | tr ',' ' ' | sed 's/ *$//' | sort >"$2"
	rm -f "$2.csv"
}

# figures ROWS: what they are, in short.
figures() {
	awk '{ sum[$1] += $(NF - 1) } END {
		printf "%d threads with names, %d slices, %d asynchronous, %d arguments, %d samples, %d arrows\n",
			sum["thread"], sum["slices"], sum["asyncs"], sum["args"], sum["samples"], sum["arrows"] }' "$1"
}

# why NAME FORM: what tests/e2e/perfetto.txt has of it. Archives of tests are named TEST-NUMBER-ARCHIVE.
why() {
	local archive=${1##*-}

	awk -v archive="${archive%%.*}" -v form="$2" '$1 == archive && ($2 == form || $2 == "converted" && form != "raw") {
		sub(/^[^ ]+ [^ ]+ /, "")
		print
	}' "$FX_SRCDIR/tests/e2e/perfetto.txt"
}

# compare ARCHIVE NAME: in the working directory, which is its own. Leaves what became of it in `verdict', a word for each
# thing that counts.
compare() {
	local form reason bad=

	"$FXTRACE" check "$1" >checked 2>&1 || {
		echo "left out: $2: $(grep -m 1 -o 'error: .*' checked)"
		echo broken >verdict
		return
	}
	[ "$(wc -c <"$1")" -le "$largest" ] || {
		echo "$2: too large, $(wc -c <"$1") bytes"
		echo large >verdict
		return
	}
	"$FXTRACE" dump --json "$1" | python3 "$FX_SRCDIR/tests/convert/shown.py" . ||
		{ echo "$2: no dump of it"; echo fault >verdict; return; }
	for form in raw pftrace json; do
		case $form in
		raw) shown "$1" "$form.shown" ;;
		*)
			echo "not converted" >"$form.shown"
			"$FXTRACE" convert "$1" "loaded.$form" 2>convert.err && shown "loaded.$form" "$form.shown"
			rm -f "loaded.$form"
			;;
		esac
		cmp -s "$form.said" "$form.shown" && continue
		reason=$(why "$2" "$form")
		[ -z "$reason" ] || { echo "$2, $form: $reason"; echo explained >>verdict; continue; }
		bad=1
		echo "$2, $form: ($(wc -c <"$1") bytes)"
		diff "$form.said" "$form.shown" | head -n "${FX_DIFFERENCES:-6}"
	done
	echo loaded >>verdict
	[ -z "$bad" ] || echo fault >>verdict
	cp raw.said rows
	echo "$2: $(figures rows)"
}

# load ARCHIVE NAME: beside the script, when one of those under way has ended. An archive that lies here goes along.
loads=0
load() {
	local room archive=$1

	[ "$(jobs -rp | wc -l)" -lt "$(nproc)" ] || wait -n || :
	loads=$((loads + 1))
	room=$(printf '%s/room.%05d' "$PWD" "$loads")
	mkdir "$room"
	case $archive in
	/*) ;;
	*)
		mv "$archive" "$room/"
		archive=$room/$archive
		;;
	esac
	(
		cd "$room" && compare "$archive" "$2" >told
		rm -f ./*.shown ./*.said ./*.err checked "$room"/*.fxt*
	) &
}

# verdicts WORD
verdicts() {
	cat room.*/verdict | grep -c "^$1\$"
}

# stranger NAME PROGRAM...: recorded by default, and with each call. Those that are not installed are left out.
stranger() {
	local name=$1 how categories

	shift
	command -v "$1" >/dev/null || { absent="${absent-} $1"; return; }
	for how in default '*,malloc,pthread:all'; do
		categories=()
		[ "$how" = default ] || categories=(-c "$how")
		timeout 120 "$FXTRACE" run -q "${categories[@]}" -o stranger.fxt -- "$@" </dev/null >stranger.out 2>&1
		"$FXTRACE" check stranger.fxt >checked 2>&1 || fail "$name: $(tail -n 3 checked)"
		load stranger.fxt "$name ($how)"
	done
}

cat >threads.py <<'END'
import subprocess, threading
lock = threading.Lock()
def work():
    for i in range(50):
        with lock:
            sum(range(100))
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
subprocess.run(["true"])
END
echo 'class A { public static void main(String[] a) { System.out.println(a.length); } }' >A.java
printf 'int main(void) { return 0; }\n' >a.c
printf 'all: a b\na b: ; echo $@ >$@\n' >Makefile
printf 'pid nginx.pid;\nerror_log stderr;\ndaemon off;\nevents {}\n' >nginx.conf
mkdir -p tree && seq 20000 >tree/numbers

stranger python3 python3 threads.py
stranger node node -e 'require("fs").readdirSync("/"); setTimeout(() => {}, 10)'
stranger java java A.java
stranger sqlite3 sqlite3 base.db 'create table t(a); insert into t values(1),(2); select sum(a) from t'
stranger redis redis-server --version
stranger nginx nginx -t -p "$PWD" -c nginx.conf
stranger git git -c init.defaultBranch=main init repository
stranger gcc gcc -O1 a.c -o a.out
stranger clang clang -O1 a.c -o a.out
stranger make make -j2
stranger perl perl -e 'for (1..20) { push @a, $_ x 100 } print scalar @a; system "true"'
stranger ruby ruby -e 'p [3, 1, 2].sort'
stranger php php -r 'echo strlen("abc");'
stranger xz xz -kf -T2 tree/numbers
stranger tar tar czf tree.tar.gz tree
stranger curl curl -s file:///etc/hostname
stranger ffmpeg ffmpeg -f lavfi -i testsrc=duration=1 -y out.gif
stranger bash bash -c 'for i in 1 2 3; do (echo $i | cat); done'
stranger awk awk 'BEGIN { while (i++ < 1000) a[i] = i; print length(a) }'
stranger openssl openssl rand -hex 16
stranger ssh ssh -V
stranger jq jq -n '[range(100)] | add'
stranger cmake cmake --version
stranger ninja ninja --version
stranger zstd zstd -qf tree/numbers
stranger gdb gdb -batch -ex 'print 1'
stranger tclsh tclsh threads.py
stranger find find tree
stranger sort sort -n tree/numbers

if [ -n "$archives" ]; then
	for archive in "$archives"/*; do
		load "$archive" "$(basename "$archive")"
	done
fi
wait
cat room.*/told
cat room.*/rows >all
faults=$(verdicts fault)
echo "$(verdicts loaded) archives loaded, $faults of them otherwise than they are: $(figures all)"
echo "explained: $(verdicts explained) differences by tests/e2e/perfetto.txt"
echo "left out: $(verdicts broken) archives that are broken on purpose, $(verdicts large) that are too large; not installed:${absent- none}"
[ "$(cat room.*/verdict | grep -cE '^(loaded|fault|broken|large)$')" -ge "$loads" ] || fail "not all archives have a verdict"
[ "$(verdicts loaded)" -gt 0 ] || fail "no archive was loaded"
[ "$faults" -eq 0 ] || fail "$faults archives are shown otherwise than they are, or with faults"
