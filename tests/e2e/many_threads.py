# SPDX-License-Identifier: MIT
"""many_threads.py COUNT: an archive of so many threads of one process, each with a call of `work' that calls `inner'."""
import struct, sys
count = int(sys.argv[1])
def words(*values):
    return struct.pack(f"<{len(values)}Q", *values)
def string(index, text):
    data = text.encode()
    size = (len(data) + 7) // 8
    return words(2 | 1 + size << 4 | index << 16 | len(data) << 32) + data.ljust(8 * size, b"\0")
out = sys.stdout.buffer
out.write(words(0x0016547846040010, 1 | 2 << 4, 1000000000))
out.write(string(1, "function") + string(2, "work") + string(3, "inner"))
for i in range(count):
    # Complete events of category 1, of a thread whose ids stand in the record.
    head, start = 4 | 5 << 4 | 4 << 16 | 1 << 32, 1000 + 10 * i
    out.write(words(head | 3 << 48, start + 2, 7, 1000 + i, start + 5))
    out.write(words(head | 2 << 48, start, 7, 1000 + i, start + 8))
