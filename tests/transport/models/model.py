#!/usr/bin/env python3
"""A drive model for tests, over the pipe protocol: 2^21 blocks of 512 bytes, 50 us + 10 ns a byte, one command after another.

Arguments: depth=N; max_transfer=BYTES; data (reads return their address in each block instead of zeros); log=FILE (every line that came)."""
import sys

options = dict(a.partition("=")[::2] for a in sys.argv[1:])
log = open(options["log"], "w") if "log" in options else None
BLOCKS, BLOCK = 1 << 21, 512
queue, busy_until = [], 0


def sense(key, asc, ascq):
    return "7000%02x000000000a00000000%02x%02x00000000" % (key, asc, ascq)


def serve(cdb, length):
    """Returns status, sense, data, time in ns."""
    op = cdb[0]
    if op == 0x00:
        return 0, "-", b"", 1000
    if op == 0x12 and not cdb[1] & 1:
        return 0, "-", bytes([0, 0, 6, 2, 31, 0, 0, 2]) + b"TEST    " + b"PYTHON MODEL    " + b"0001", 1000
    if op == 0x25:
        return 0, "-", (BLOCKS - 1).to_bytes(4, "big") + BLOCK.to_bytes(4, "big"), 1000
    if op == 0x28:
        lba, blocks = int.from_bytes(cdb[2:6], "big"), int.from_bytes(cdb[7:9], "big")
        if lba + blocks > BLOCKS:
            return 2, sense(5, 0x21, 0), b"", 1000
        data = b""
        if "data" in options:
            data = b"".join((lba + i).to_bytes(8, "big") * (BLOCK // 8) for i in range(blocks))
        return 0, "-", data, 50000 + length * 10
    return 2, sense(5, 0x20, 0), b"", 1000


def submit(ident, time, cdb, direction, length, data=""):
    global busy_until
    status, sensed, reply, cost = serve(bytes.fromhex(cdb), int(length))
    busy_until = max(busy_until, int(time)) + cost
    reply = reply[:int(length)]
    resid = int(length) - len(reply) if reply or status else 0
    queue.append((int(ident), busy_until, "%d %d %s %s" % (status, resid, sensed, reply.hex() or "-")))


def wait(now, deadline):
    if queue and queue[0][1] <= int(deadline):
        ident, time, rest = queue.pop(0)
        print("done", ident, time, rest, flush=True)
    else:
        print("none", flush=True)


def abort(ident, time):
    queue[:] = [command for command in queue if command[0] != int(ident)]


def hello(version):
    print("hello 1", *["%s=%s" % (k, options[k]) for k in ("depth", "max_transfer") if k in options], flush=True)


for line in sys.stdin:
    if log:
        print(line, end="", file=log, flush=True)
    verb, *words = line.split()
    if verb == "bye":
        break
    if verb != "idle":
        {"hello": hello, "submit": submit, "wait": wait, "abort": abort}[verb](*words)
