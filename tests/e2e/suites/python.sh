# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Python's tests, as Debian installs them.

# shellcheck disable=SC2034 # for suites.sh
{
	python_apart=yes
	python_piece=6
}
python=/usr/bin/python3
[ -x $python ] || python=python3

python_list() {
	local some=(test_thread)

	"$python" -c 'import test.test_os' 2>/dev/null ||
		{ echo "python: libpython3.11-testsuite is not installed" >&2; return; }
	[ -z "$all" ] || some=(test_os test_posix test_signal test_select test_mmap test_gc test_faulthandler
		test_fork1 test_wait3 test_wait4 test_epoll test_subprocess test_threading test_thread
		test_threadsignals test_io test_pty test_popen test_poll test_pipes test_resource test_fcntl
		test_tempfile test_eintr test_selectors test_ctypes test_asyncio test_concurrent_futures
		test_multiprocessing_fork test_multiprocessing_spawn test_socketserver test_queue test_capi
		test_logging test_atexit test_tracemalloc)
	printf '%s\n' "${some[@]}"
}

python_run() {
	local test=$1 status=0

	shift
	rm -f results.xml
	within 1800 "$@" "$python" -m test --junit-xml "$PWD/results.xml" "$test" >log 2>&1 || status=$?
	"$python" - <<'END' 2>>log
import xml.etree.ElementTree as tree
for case in tree.parse("results.xml").getroot().iter("testcase"):
    bad = [part.tag for part in case if part.tag in ("failure", "error", "skipped")]
    print(case.get("name"), bad[0] if bad else "ok")
END
	echo "status $status"
}
