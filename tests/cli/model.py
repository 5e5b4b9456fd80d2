#!/usr/bin/env python3
"""A drive for the cases: 1 ms a command and 10 us a KiB, and one fault. Usage: model.py FAULT [VENDOR PRODUCT]
FAULT: none, tape, no-medium, no-drive, medium-error, write-protected-scan, slow-start, no-capacity, gone, time-out,
interrupt (a Ctrl-C for the program, at the same command each time)"""
import os
import signal
import sys

fault = sys.argv[1]
vendor, product = (sys.argv[2:] + ["TEST", "MODEL"])[:2] if len(sys.argv) > 3 else ("TEST", "MODEL")
blocks = 1 << 22
waiting = []


def sense(key, asc, ascq):
    return f"7000{key:02x}000000000a00000000{asc:02x}{ascq:02x}00000000"


def answer(cdb, length, count=[0]):
    op = cdb[0]
    if op == 0x12:
        if cdb[1] & 1:
            return (0, None, bytes([0, cdb[2], 0, 1, 0])) if cdb[2] == 0 else (2, sense(5, 0x24, 0), b"")
        kind = {"tape": 1, "no-drive": 0x7F}.get(fault, 0)
        return 0, None, bytes([kind, 0, 6, 2, 31, 0, 0, 2]) + vendor.encode().ljust(8)[:8] + product.encode().ljust(16)[:16] + b"1.0 "
    if fault == "no-medium" and op in (0x00, 0x25, 0x9E, 0x28, 0x88):
        return 2, sense(2, 0x3A, 0), b""
    if op == 0x00:
        return 0, None, b""
    if op == 0x25:
        if fault == "no-capacity":
            return 0, None, b""
        return 0, None, (blocks - 1).to_bytes(4, "big") + (512).to_bytes(4, "big")
    if op in (0x28, 0x88):
        count[0] += 1
        if fault == "gone" and count[0] > 20:
            sys.exit(0)
        if fault == "interrupt" and count[0] == 300:
            program = os.getppid()
            while open(f"/proc/{program}/comm").read().strip() != "sgprobe":
                program = int(open(f"/proc/{program}/stat").read().rsplit(")", 1)[1].split()[1])
            os.kill(program, signal.SIGINT)
        if fault == "medium-error" and count[0] % 50 == 0:
            return 2, sense(3, 0x11, 0), b""
        return 0, None, None
    return 2, sense(5, 0x20, 0), b""


now = 0
for line in sys.stdin:
    word = line.split()
    if word[0] == "hello":
        print("hello 1 depth=1", flush=True)
    elif word[0] == "submit":
        number, time, cdb, length = word[1], int(word[2]), bytes.fromhex(word[3]), int(word[5])
        status, sense_hex, data = answer(cdb, length)
        now = max(now, time) + 1_000_000 + (length * 10_000 // 1024 if cdb[0] in (0x28, 0x88) else 0)
        if fault == "time-out" and cdb[0] in (0x28, 0x88):
            continue
        moved = length if data is None else min(length, len(data))
        text = "-" if not data else data[:length].hex()
        waiting.append((now, f"done {number} {now} {status} {length - moved} {sense_hex or '-'} {text or '-'}"))
    elif word[0] == "wait":
        if waiting and waiting[0][0] <= int(word[2]):
            print(waiting.pop(0)[1], flush=True)
        else:
            print("none", flush=True)
    elif word[0] == "abort":
        waiting = [w for w in waiting if w[1].split()[1] != word[1]]
    elif word[0] == "bye":
        break
