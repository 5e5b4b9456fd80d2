#!/usr/bin/env python3
"""A drive model whose caching page outlives it, and which strikes down the program that drives it.

Arguments: state=FILE; kill=N (at the command with this number, from 0), who=program|guardian|both, after (the command is done first);
serial=TEXT; refuse (MODE SELECT is refused, whatever it holds)."""
import os
import signal
import sys

options = dict(a.partition("=")[::2] for a in sys.argv[1:])
DEFAULT = bytes.fromhex("8812100002000000020002000000000000000000")
MASK = bytes.fromhex("88125700ffffffffffffffff2000000000000000")
pages = [DEFAULT, DEFAULT]                     # current, saved
if os.path.exists(options["state"]):
    pages = [bytes.fromhex(line) for line in open(options["state"]).read().split()]
count = 0
pending = []


def store():
    with open(options["state"] + ".new", "w") as f:
        f.write("\n".join(p.hex() for p in pages) + "\n")
    os.rename(options["state"] + ".new", options["state"])


def stat_of(pid):                              # command and parent
    text = open("/proc/%s/stat" % pid).read()
    return text[text.index("(") + 1:text.rindex(")")], int(text.rpartition(")")[2].split()[1])


def strike():                                  # once: the guardian opens a model of the same command line
    if os.path.exists(options["state"] + ".struck"):
        return
    open(options["state"] + ".struck", "w").close()
    who = options.get("who", "program")
    host = os.getppid()
    while stat_of(host)[0] != "sgprobe":       # a shell may stand between
        host = stat_of(host)[1]
    if who in ("guardian", "both"):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if stat_of(pid) == ("sgprobe-guard", host):
                    os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass
    if who in ("program", "both"):
        os.kill(host, signal.SIGKILL)


def refuse(asc):
    return 2, "70000500000000" + "0a" + "00000000" + "%02x" % asc + "0000000000", b""


def serve(cdb, data):
    op = cdb[0]
    if op == 0x12:
        if not cdb[1] & 1:
            return 0, "-", bytes([0, 0, 6, 2, 31, 0, 0, 2]) + b"TEST    " + b"SETTINGS MODEL  " + b"0001"
        serial = options.get("serial", "MODEL-1").encode()
        if cdb[2] == 0x80:
            return 0, "-", bytes([0, 0x80, 0, len(serial)]) + serial
        if cdb[2] == 0x00:
            return 0, "-", bytes([0, 0, 0, 2, 0, 0x80])
        return refuse(0x24)
    if op == 0x5A:
        control, code, sub = cdb[2] >> 6, cdb[2] & 0x3F, cdb[3]
        if code not in (8, 0x3F) or sub not in (0, 0xFF):
            return refuse(0x24)
        page = [pages[0], MASK, DEFAULT, pages[1]][control]
        return 0, "-", bytes([0, 6 + len(page), 0, 0, 0, 0, 0, 0]) + page
    if op == 0x55 and "refuse" not in options:
        page = data[8:]
        if len(page) != 20 or page[0] != 8 or any((a ^ b) & ~m for a, b, m in zip(page[2:], pages[0][2:], MASK[2:])):
            return refuse(0x26)
        pages[0] = b"\x88" + page[1:]
        if cdb[1] & 1:
            pages[1] = pages[0]
        store()
        return 0, "-", b""
    if op == 0x55:
        return refuse(0x26)
    return refuse(0x20)


for line in sys.stdin:
    word = line.split()
    if word[0] == "hello":
        print("hello 1", flush=True)
    elif word[0] == "submit":
        ident, time, cdb, length = word[1], int(word[2]), bytes.fromhex(word[3]), int(word[5])
        mine = str(count) == options.get("kill")
        count += 1
        if mine and "after" not in options:
            strike()
        status, sense, reply = serve(cdb, bytes.fromhex(word[6]) if len(word) > 6 else b"")
        if mine and "after" in options:
            strike()
        reply = reply[:length]
        moved = length if word[4] == "out" else len(reply)
        pending.append((time + 1000, "done %s %d %d %d %s %s" % (ident, time + 1000, status, length - moved, sense, reply.hex() or "-")))
    elif word[0] == "wait":
        if pending and pending[0][0] <= int(word[2]):
            print(pending.pop(0)[1], flush=True)
        else:
            print("none", flush=True)
    elif word[0] == "bye":
        break
