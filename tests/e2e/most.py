# SPDX-License-Identifier: MIT
"""most.py OUT EXE COMMAND...: runs it, and ends as it does; into OUT goes how much memory one process of the program EXE
had at most meanwhile, in KB. Those that nobody waits for count too."""
import glob
import os
import resource
import subprocess
import sys
import time


MARK = b"FX_MOST=%d" % os.getpid()


def peaks(exe):
    for status in glob.glob("/proc/[0-9]*/status"):
        try:
            process = os.path.dirname(status)
            if os.path.realpath(process + "/exe") != exe:
                continue
            with open(process + "/environ", "rb") as f:
                if MARK not in f.read().split(b"\0"):
                    continue
            with open(status, errors="replace") as f:
                for line in f:
                    if line.startswith("VmHWM:"):
                        yield int(line.split()[1])
        except OSError:
            pass


def main():
    exe = os.path.realpath(sys.argv[2])
    name, _, value = MARK.decode().partition("=")
    run = subprocess.Popen(sys.argv[3:], env=os.environ | {name: value})
    most = 0
    while run.poll() is None:
        most = max([most, *peaks(exe)])
        time.sleep(0.002)
    # Readers of files may go on.
    for _ in range(100):
        now = max(peaks(exe), default=0)
        most = max(most, now)
        if not now:
            break
        time.sleep(0.01)
    most = max(most, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    with open(sys.argv[1], "w") as out:
        print(most, file=out)
    sys.exit(run.returncode)


main()
