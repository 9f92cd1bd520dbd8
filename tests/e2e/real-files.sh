#!/bin/bash
# SPDX-License-Identifier: MIT
# Unmodified programs that work on files: sqlite3, git, xz with threads, tar and gzip, perl.
. "${FX_SRCDIR:?}/tests/e2e/lib.sh"

ran=0
have() {
	command -v "$1" >/dev/null 2>&1 && ran=$((ran + 1))
}

if have sqlite3; then
	cat >work.sql <<'END'
PRAGMA journal_mode = DELETE;
CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
INSERT INTO t SELECT i, printf('%08d', i * 7919 % 10007) FROM n;
COMMIT;
CREATE INDEX i ON t (b);
SELECT count(*), min(b), max(b) FROM t WHERE b LIKE '0000%';
VACUUM;
PRAGMA integrity_check;
END
	expect_unharmed 0 sh -c 'rm -f db; sqlite3 db <work.sql'
	expect_same_file plain.err traced.err
	list_archive trace.fxt
	expect_events 1+ 'process == "sqlite3" && name ~ /^open/ && /path=[^\t]*db-journal/'
	expect_events 1+ 'process == "sqlite3" && name ~ /^f(data)?sync$/'
	expect_events 1+ 'process == "sqlite3" && name == "pwrite" && has("count=4096") && has("ret=4096")'
	expect_unharmed 1 sqlite3 db 'SELECT nonsense FROM nowhere'
fi

if have git; then
	export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_AUTHOR_DATE='1700000000 +0000'
	export GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.org
	export GIT_COMMITTER_DATE='1700000000 +0000' GIT_CONFIG_NOSYSTEM=1 HOME=$PWD
	cat >git-work.sh <<'END'
set -e
rm -rf repo
git init -q -b trunk repo
cd repo
for i in 1 2 3 4 5; do
	seq $i 200 >file$i
	git add .
	git commit -q -m "commit $i"
done
git log --stat --format='%H %s'
git checkout -q -b side HEAD~2
git commit -q --allow-empty -m side
git merge -q -m merge trunk
git gc -q
git fsck --full 2>&1
git log --oneline --graph
git diff --stat HEAD~3 | cat
git archive HEAD | sha256sum
END
	expect_unharmed 0 sh git-work.sh
	list_archive trace.fxt
	[ "$(grep -c '	git$' processes)" -ge 15 ] || fail "too few processes of git: $(cat processes)"
	expect_events 1+ 'process == "git" && name ~ /^open/ && /path=[^\t]*index.lock/'
	expect_unharmed 128 git -C repo log no-such-branch
fi

if have xz; then
	seq 400000 >numbers
	expect_unharmed 0 xz -T2 --block-size=524288 -c numbers
	cp traced.out numbers.xz
	list_archive trace.fxt
	[ "$(wc -l <threads)" -ge 3 ] || fail "xz -T2: $(cat threads)"
	expect_events 2+ 'process == "xz" && type == "flow-begin"'
	expect_unharmed 0 xz -T2 -dc numbers.xz
	expect_same_file numbers traced.out
	head -c 5000 numbers.xz >short.xz
	expect_unharmed 1 xz -dc short.xz
	expect_same_file plain.err traced.err
fi

if have tar && have gzip; then
	mkdir tree
	for i in 1 2 3 4 5 6 7 8 9; do
		seq $((i * 1000)) >tree/$i
	done
	expect_unharmed 0 sh -c 'tar -C tree -cf - . --sort=name | gzip -n | gzip -dc | tar -tvf - | sort'
	list_archive trace.fxt
	for name in tar gzip sort; do
		grep -q "	$name\$" processes || fail "no process $name: $(cat processes)"
	done
	expect_unharmed 0 tar -C tree -czf - . --sort=name --mtime=@0
	list_archive trace.fxt
	grep -q '	gzip$' processes || fail "the child of tar is missing: $(cat processes)"
fi

if have perl; then
	cat >work.pl <<'END'
my %h; $h{$_ % 97} .= chr(65 + $_ % 26) for 1 .. 20000;
print join(",", map { length $h{$_} } sort { $a <=> $b } keys %h), "\n";
print `echo from a shell`;
my $pid = fork; exit 4 if !$pid; waitpid $pid, 0; print $? >> 8, "\n";
kill 'USR1', $$ if $SIG{USR1} = sub { print "signal\n" };
open(my $f, '<', '/no/such/file') or print "$!\n";
exit 3;
END
	expect_unharmed 3 perl work.pl
	expect_same_file plain.err traced.err
	list_archive trace.fxt
	expect_events 1+ 'process == "perl" && has("path=/no/such/file") && has("errno=ENOENT")'
fi

[ "$ran" -gt 0 ] || skip "none of the programs is installed"
