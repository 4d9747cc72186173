# SPDX-License-Identifier: Apache-2.0
# The static probes are in a program, and the scripts for bpftrace run on one that works.
weft-info --version | grep -q "^built with: .*probes" || { echo "weft was built without probes"; exit 77; }
program=$(command -v pingpong)
notes=$(readelf -n "$program")
for probe in post match complete sleep wake loss; do
  grep -A1 "Provider: weft" <<<"$notes" | grep -q "Name: $probe\$" || { echo "missing: $probe"; exit 1; }
done

command -v bpftrace >/dev/null || { echo "bpftrace is not installed; the notes are there"; exit 0; }
[[ $(id -u) == 0 ]] || { echo "only root may load programs into the kernel; the notes are there"; exit 0; }
timeout 20 bpftrace -e 'BEGIN { exit(); }' &>/dev/null || { echo "the kernel takes no programs here; the notes are there"; exit 0; }

weft-run -n 2 pingpong --rounds 1000000000 >/dev/null 2>&1 &
job=$!
trap 'kill $job 2>/dev/null || true' EXIT
rank=
until [[ $rank ]]; do
  kill -0 $job
  rank=$(cut -d' ' -f1 "/proc/$job/task/$job/children")
done
# \param 1 the script, \param 2 what it prints
prints() {
  timeout -s INT 8 bpftrace "$SOURCE/share/weft/$1" "/proc/$rank/exe" "$rank" >"$1.txt" 2>&1 || true
  grep -qE "$2" "$1.txt" || { cat "$1.txt"; exit 1; }
}
prints latency.bt '^@receive_waits_ns\[1\]:'
prints awaited.bt '^@waited_us\[1\]: [0-9]+'
