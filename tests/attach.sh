#!/bin/bash
# SPDX-License-Identifier: MIT
# attach.sh [COUNT [PROGRAM...]]: attaches to servers and interpreters under load and detaches, COUNT times each (100): redis under
# redis-benchmark, nginx under requests that are counted, postgres under pgbench, python3 with threads, java, node. No request is
# lost, results are the same, and no word of any module leads to libfxtrace.so afterwards, nor elsewhere than before. A line for each.
FX_SRCDIR=$(cd "$(dirname "$0")/.." && pwd)
. "$FX_SRCDIR/tests/e2e/lib.sh"
count=${1:-100}
shift
[ $# -gt 0 ] || set -- states redis nginx postgres python java node
export PATH=$PATH:/usr/sbin

words() {
	python3 "$FX_SRCDIR/tests/e2e/attach_words.py" "$@"
}
# attaches PID: COUNT times.
attaches() {
	local i failed=0 began

	: >said

	"$FXTRACE" attach -q --duration 20ms -o warm.fxt "$1" 2>first.err || fail "$program: $(cat first.err)"
	words "$1" >before
	began=$(date +%s%N)
	for ((i = 0; i < count; i++)); do
		timeout 60 "$FXTRACE" attach -q -c '#default,-pthread' --duration 20ms -o "last.fxt" "$1" >>said 2>&1 || failed=$((failed + 1))
		# How it ended, those say who wait for it.
		if ! kill -0 "$1" 2>/dev/null; then
			attached="$((i - failed)) of $i times, until it ended"
			return
		fi
	done
	took=$((($(date +%s%N) - began) / 1000000 / (count ? count : 1)))
	expect_clean last.fxt
	words "$1" >after
	[ -z "$(words --left "$1")" ] || fail "$program: words lead to the library: $(words --left "$1" | head -n 3)"
	awk 'NR == FNR { now[$1 " " $2] = $3; next }
		$3 != "stub" && ($1 " " $2) in now && now[$1 " " $2] != $3 { print $0 ", now " now[$1 " " $2] }' after before >differences
	[ ! -s differences ] || fail "$program: words differ: $(head -n 5 differences)"
	[ "$failed" -eq 0 ] || sed "s/$1/PID/" said | sort | uniq -c
	attached="$((count - failed)) of $count times, $took ms each"
}
# during PID COMMAND...: attaches while it runs, again and again; its status and output are those of the load.
loaded() {
	local pid=$1 load

	shift
	"$@" >load.out 2>&1 &
	load=$!
	sleep 1
	attaches "$pid"
	kill -0 "$load" 2>/dev/null || echo "$program: the load ended before the last attach"
	wait "$load" || fail "$program: the load has failed: $(tail -n 5 load.out)"
}
seconds=$((2 * count + 15))

try_states() {
	compile attached -O2 "$FX_SRCDIR/tests/e2e/targets/attached.c" -ldl
	./attached >states.out &
	sleep 1
	attaches $!
	kill $!
	wait $! || fail "states: $(cat states.out)"
	echo "states: $attached; $(tail -n 1 states.out)"
}

try_redis() {
	redis-server --port 7917 --save '' >redis.log &
	server=$!
	sleep 1
	cat >load.sh <<-'END'
		end=$(($(date +%s) + $1)); sum=0
		redis-cli -p 7917 set sum 0 >/dev/null
		while [ "$(date +%s)" -lt "$end" ]; do
			redis-benchmark -p 7917 -q -n 20000 -c 20 incr sum | tr '\r' '\n' | grep -qi error && exit 1
			sum=$((sum + 20000))
		done
		[ "$(redis-cli -p 7917 get sum)" = "$sum" ] || { echo "sum: $(redis-cli -p 7917 get sum) of $sum"; exit 1; }
		echo "$sum"
	END
	loaded "$server" bash load.sh $seconds
	kill "$server"
	echo "redis: $attached; $(tail -n 1 load.out) increments, each counted"
}

try_nginx() {
	mkdir -p nginx/www nginx/logs
	head -c 5000 /dev/zero | tr '\0' x >nginx/www/index.html
	chmod 755 . nginx nginx/www
	cat >nginx.conf <<-END
		daemon off; master_process off; pid $TEST_DIR/nginx/pid; error_log $TEST_DIR/nginx/error;
		events { worker_connections 64; }
		http { access_log off; server { listen 127.0.0.1:7918; root $TEST_DIR/nginx/www; } }
	END
	nginx -p "$TEST_DIR/nginx" -c "$TEST_DIR/nginx.conf" 2>nginx.err &
	server=$!
	sleep 1
	cat >load.py <<-'END'
		import http.client, sys, time
		end = time.time() + float(sys.argv[1])
		n = 0
		link = http.client.HTTPConnection("127.0.0.1", 7918)
		while time.time() < end:
		    link.request("GET", "/")
		    answer = link.getresponse()
		    assert answer.status == 200 and answer.read() == b"x" * 5000
		    n += 1
		print(n)
	END
	loaded "$server" python3 load.py $seconds
	kill "$server"
	echo "nginx: $attached; $(tail -n 1 load.out) requests, each answered"
}

try_postgres() {
	local bin user=postgres

	bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
	mkdir data
	chown "$user" . data
	setpriv --reuid "$user" --regid "$user" --init-groups "$bin/initdb" -D data >initdb.log 2>&1 || fail "initdb: $(tail -n 3 initdb.log)"
	setpriv --reuid "$user" --regid "$user" --init-groups "$bin/postgres" -D data -p 7919 -k "$TEST_DIR" -c listen_addresses= 2>pg.log &
	server=$!
	wait_for 30 "$bin/psql" -h "$TEST_DIR" -p 7919 -U "$user" -c 'select 1' postgres || fail "postgres: $(tail -n 3 pg.log)"
	pgbench -h "$TEST_DIR" -p 7919 -U "$user" -i -q postgres >pgbench.log 2>&1 || fail "pgbench: $(tail -n 3 pgbench.log)"
	pgbench -h "$TEST_DIR" -p 7919 -U "$user" -n -c 2 -T $seconds postgres >load.out 2>&1 &
	load=$!
	sleep 1
	backend=$(psql -h "$TEST_DIR" -p 7919 -U "$user" -At -c "select pid from pg_stat_activity where application_name = 'pgbench' limit 1" postgres)
	attaches "$backend"
	kill -0 "$load" || echo "postgres: the load ended before the last attach"
	wait "$load" || fail "pgbench: $(tail -n 5 load.out)"
	echo "postgres: $attached, to a backend; $(grep -E 'actually|failed' load.out | tr '\n' ' ')"
	rows=$(psql -h "$TEST_DIR" -p 7919 -U "$user" -At -c 'select count(*) from pgbench_history' postgres)
	done=$(sed -n 's/^number of transactions actually processed: \([0-9]*\).*/\1/p' load.out)
	expect_equal "$done" "$rows" "transactions in the table"
	kill -INT "$server"
	wait "$server"
}

# busy WHAT COMMAND...: a program that prints `ok' if its own results were right, after some seconds.
busy() {
	local pid

	"${@:2}" >busy.out 2>&1 &
	pid=$!
	sleep 2
	attaches "$pid"
	kill -0 "$pid" 2>/dev/null || echo "$1: it ended before the last attach"
	wait "$pid" || fail "$1: $(tail -n 5 busy.out)"
	expect_line '^ok' busy.out
	echo "$1: $attached; $(tail -n 1 busy.out)"
}

try_python() {
	cat >busy.py <<-'END'
		import hashlib, sys, threading, time
		end = time.time() + float(sys.argv[1])
		counts = [0] * 4
		def work(i):
		    want = hashlib.sha256(b"x" * 10000).hexdigest()
		    while time.time() < end:
		        assert hashlib.sha256(b"x" * 10000).hexdigest() == want
		        assert sum(range(1000)) == 499500 and str(1 / 3) == "0.3333333333333333"
		        counts[i] += 1
		        time.sleep(0.001 * i)
		threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
		for t in threads: t.start()
		for t in threads: t.join()
		print("ok" if all(counts) else "a thread did nothing", sum(counts))
	END
	busy python "$(python3 -c 'import sys; print(sys.executable)')" busy.py $seconds
}

try_java() {
	cat >Busy.java <<-'END'
		import java.util.concurrent.atomic.*;
		public class Busy {
		    public static void main(String[] a) throws Exception {
		        long end = System.currentTimeMillis() + Long.parseLong(a[0]) * 1000;
		        AtomicLong n = new AtomicLong();
		        AtomicBoolean wrong = new AtomicBoolean();
		        Thread[] t = new Thread[4];
		        for (int i = 0; i < 4; i++) {
		            final int k = i;
		            (t[i] = new Thread(() -> {
		                while (System.currentTimeMillis() < end) {
		                    long s = 0; double d = 0;
		                    for (int j = 1; j < 100000; j++) { s += j; d += 1.0 / j; }
		                    StringBuilder b = new StringBuilder();
		                    for (int j = 0; j < 1000; j++) b.append(j);
		                    if (s != 4999950000L || b.length() != 2890 || Math.abs(d - 12.090136) > 1e-5) wrong.set(true);
		                    n.incrementAndGet();
		                    try { Thread.sleep(k); } catch (InterruptedException e) { wrong.set(true); }
		                }
		            })).start();
		        }
		        for (Thread x : t) x.join();
		        System.out.println((wrong.get() ? "wrong " : "ok ") + n.get());
		    }
		}
	END
	javac Busy.java || fail "java: it is not compiled"
	busy java java -cp . Busy $seconds
}

try_node() {
	cat >busy.js <<-'END'
		const http = require('http'), end = Date.now() + Number(process.argv[2]) * 1000
		let n = 0
		const server = http.createServer((q, a) => a.end('x'.repeat(5000))).listen(0, '127.0.0.1', ask)
		function ask() {
		    if (Date.now() > end) { console.log('ok', n); process.exit(0) }
		    http.get({port: server.address().port, host: '127.0.0.1'}, a => {
		        let size = 0
		        a.on('data', d => size += d.length)
		        a.on('end', () => { if (size !== 5000) process.exit(1); n++; setTimeout(ask, 1) })
		    }).on('error', e => { console.log(e); process.exit(1) })
		}
	END
	busy node node busy.js $seconds
}

status=0
for program in "$@"; do
	case $program in
	states) needs=python3 ;;
	redis) needs=redis-benchmark ;;
	postgres) needs=pgbench ;;
	python) needs=python3 ;;
	java) needs=javac ;;
	*) needs=$program ;;
	esac
	if ! command -v $needs >/dev/null; then
		echo "$program: $needs is not installed"
		continue
	fi
	mkdir -p "$TEST_DIR/$program" && chmod 755 "$TEST_DIR" "$TEST_DIR/$program"
	# In a folder and a shell of its own, which leaves the rest to this one.
	(TEST_DIR=$TEST_DIR/$program && cd "$TEST_DIR" && "try_$program") || status=1
	for pid in $(jobs -p); do
		kill "$pid" 2>/dev/null
	done
done
exit $status
