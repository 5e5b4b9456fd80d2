"""agree.py DEVICE: compares every mode page that `sgprobe mode --json` shows with sg_modes (bytes) and sdparm (fields)."""
import json
import re
import subprocess
import sys

device = sys.argv[1]
problems = []


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def same(theirs, ours):
    # sdparm prints a field of all ones as -1.
    return theirs == ours or (theirs == -1 and ours > 0 and (ours & (ours + 1)) == 0)


pages = json.loads(output("build/sgprobe", "mode", "--all", "--json", device))["pages"]
compared_bytes = compared_values = 0
for page in pages:
    name = f"{page['code']:#x}" + (f",{page['subpage']:#x}" if page["subpage"] else "")
    for control, kind in enumerate(("current", "changeable", "default", "saved")):
        ours = page["hex"].get(kind)
        theirs = output("sg_modes", "--raw", "--raw", "-p", name, f"--control={control}", device)
        theirs = "".join(re.findall(r"\b[0-9a-f]{2}\b", theirs))
        if not ours or not theirs:
            continue
        compared_bytes += 1
        if not theirs.endswith(ours[2:]):     # the first byte has PS, which sg_modes may strip
            problems.append(f"page {name}, {kind}: ours {ours}, sg_modes {theirs}")
    for line in output("sdparm", "--quiet", "--all", "--page=" + name, device).splitlines():
        match = re.match(r"\s+(\S+)\s+(-?\d+)\s*(?:\[cha: ([yn])(?:, def: *(-?\d+))?(?:, sav: *(-?\d+))?\])?", line)
        if not match or match[1] not in page["fields"]:
            continue
        field = page["fields"][match[1]]
        for kind, theirs in (("current", match[2]), ("default", match[4]), ("saved", match[5])):
            if theirs is None or field.get(kind) is None:
                continue
            compared_values += 1
            if not same(int(theirs), field[kind]):
                problems.append(f"{match[1]} of page {name}, {kind}: ours {field[kind]}, sdparm {theirs}")
        if match[3] and (match[3] == "y") != field["changeable"]:
            problems.append(f"{match[1]} of page {name}: changeable {field['changeable']}, sdparm {match[3]}")
print(f"{device}: {len(pages)} pages, {compared_bytes} images and {compared_values} values compared")
for problem in problems:
    print(problem)
sys.exit(1 if problems or compared_bytes < len(pages) or compared_values < 20 else 0)
