# SPDX-License-Identifier: MIT
# hard_ends.py FXTRACE ROUNDS: the commands of the table on what is left of whole.fxt after ROUNDS cuts and as many
# changes of bytes; with a reader of their output that has gone; and interrupted while their input does not go on.
import os
import random
import signal
import subprocess
import sys

fxtrace, rounds = sys.argv[1], int(sys.argv[2])

# The name of a case, and its arguments: IN stands for the archive, OUT for a file that is made.
TABLE = [
    ("info", ["info", "IN"]),
    ("info json", ["info", "--json", "IN"]),
    ("report", ["report", "--top", "5", "IN"]),
    ("report json", ["report", "--json", "--tree", "IN"]),
    ("replay", ["replay", "--no-pager", "IN"]),
    ("query", ["query", "--no-pager", "IN", "select name, count(*), sum(dur) from slice group by 1"]),
    ("measure", ["measure", "-e", 'duration of "*"', "-e", 'value arg.ret of "*"', "IN"]),
    ("measure csv", ["measure", "--csv", "-e", 'count of "*"', "IN"]),
    ("diff", ["diff", "other.fxt", "IN"]),
    ("filter", ["filter", "--name", "m*", "-o", "OUT", "IN"]),
    ("merge", ["merge", "-o", "OUT", "IN", "other.fxt"]),
    ("merge later", ["merge", "-o", "OUT", "other.fxt", "IN"]),
    ("split", ["split", "--every", "1ms", "-o", "OUT", "IN"]),
    ("split by process", ["split", "--by=process", "-o", "OUT", "IN"]),
    ("symbolize", ["symbolize", "-o", "OUT", "IN"]),
    ("convert fxt", ["convert", "-f", "fxt", "IN", "OUT"]),
    ("convert html", ["convert", "-f", "html", "IN", "OUT"]),
    ("convert sqlite", ["convert", "-f", "sqlite", "IN", "OUT"]),
    ("top", ["top", "--batch", "IN"]),
    ("view", ["view", "--no-browser", "IN"]),
]

# They go on until they are told to end, or their archive ends.
ENDLESS = {"top", "view"}

# More than any of them takes on a machine that has sixty others to do.
PATIENCE = 300

failures = 0


def complain(name, what, run=None):
    global failures
    failures += 1
    print(f"{name}: {what}")
    if run is not None:
        print("   ", run.stderr[-600:].decode(errors="replace").replace("\n", "\n    "))


def arguments(args, archive):
    return [fxtrace] + [{"IN": archive, "OUT": "made/out.fxt"}.get(a, a) for a in args]


def as_a_shell_starts_it():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def clear():
    os.makedirs("made", exist_ok=True)
    for name in os.listdir("made"):
        os.unlink("made/" + name)


def run(args, archive, **more):
    clear()
    return subprocess.run(
        arguments(args, archive),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=PATIENCE,
        preexec_fn=as_a_shell_starts_it,
        **more,
    )


def expect_end(name, run, statuses):
    if run.returncode not in statuses:
        complain(name, f"status {run.returncode}", run)
    for word in (b"Sanitizer", b"runtime error", b"ssertion"):
        if word in run.stderr:
            complain(name, "a fault", run)


def expect_made(name):
    """What is made is what it is called after: nothing else lies beside it."""
    strange = [f for f in os.listdir("made") if not f.startswith("out")]
    if strange:
        complain(name, f"left {strange}")


def damaged():
    with open("whole.fxt", "rb") as file:
        whole = file.read()
    dice = random.Random(4)
    for _ in range(rounds):
        yield "cut", whole[: dice.randrange(len(whole))]
        changed = bytearray(whole)
        for _ in range(dice.choice((1, 4, 64))):
            changed[dice.randrange(len(changed))] = dice.randrange(256)
        yield "changed", bytes(changed)


def try_damage():
    for i, (what, data) in enumerate(damaged()):
        with open("damaged.fxt", "wb") as file:
            file.write(data)
        for name, args in TABLE:
            if name in ENDLESS:
                continue
            label = f"{name} of {what} archive {i}"
            ended = run(args, "damaged.fxt", stdout=subprocess.PIPE)
            expect_end(label, ended, (0, 1, 2))
            expect_made(label)
            if ended.returncode and not ended.stderr and b"damage" not in ended.stdout and b'"faults"' not in ended.stdout:
                complain(label, "failed without a word", ended)


def try_closed_pipe():
    for name, args in TABLE:
        if name in ENDLESS:
            continue
        reader, writer = os.pipe()
        os.close(reader)
        ended = run(args, "whole.fxt", stdout=writer)
        os.close(writer)
        # What writes to a file does not notice.
        expect_end(f"{name} into a closed pipe", ended, (0, 1, -signal.SIGPIPE))
        if "OUT" not in args and len(ended.stderr.splitlines()) > 1:
            complain(f"{name} into a closed pipe", "talks on", ended)


def try_interrupt():
    """The input is a FIFO with half an archive, so that what reads it waits, as long as nobody closes that."""
    with open("whole.fxt", "rb") as file:
        half = file.read()[:2048]
    for name, args in TABLE:
        clear()
        if os.path.exists("fifo"):
            os.unlink("fifo")
        os.mkfifo("fifo")
        child = subprocess.Popen(
            arguments(args, "fifo"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=as_a_shell_starts_it,
        )
        # Reading and writing, so that it opens whoever is there.
        fifo = os.open("fifo", os.O_RDWR)
        os.write(fifo, half)
        try:
            child.wait(0.3)  # some refuse a FIFO, and have ended
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            complain(f"{name} interrupted", "goes on")
            child.kill()
        errors = child.stderr.read()
        os.close(fifo)
        ended = subprocess.CompletedProcess(args, child.returncode, None, errors)
        expect_end(f"{name} interrupted", ended, (0, 1, 2, 130, -signal.SIGINT))
        expect_made(f"{name} interrupted")


try_damage()
try_closed_pipe()
try_interrupt()
print(f"{len(TABLE)} commands, {2 * rounds} archives")
sys.exit(failures != 0)
