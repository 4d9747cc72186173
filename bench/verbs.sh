#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# verbs.sh BIN [ROUNDS]: weft over verbs compared with the bare device, on a machine that has one (./dev guest
# bench/verbs.sh $PWD/build/release/bin): half a round trip of 8 bytes beside ib_send_lat, the bandwidth of 1 MiB beside
# ib_write_bw. All poll, on the first two cores, with four messages of 1 MiB in flight. Short runs in turns; the ratio
# is taken in each round, and its median counts.
#
#   WEFT_VERBS_DEVICE, WEFT_VERBS_GID_INDEX  for both (default: rxe0, and the address that weft finds)
#   WEFT_VERBS_EFFORT                        how long each run is (default: 1)
set -euo pipefail
bin=$1 rounds=${2:-11} effort=${WEFT_VERBS_EFFORT:-1}
device=${WEFT_VERBS_DEVICE:-rxe0}
say() { echo "verbs.sh: $*" >&2; exit 1; }
command -v ib_send_lat > /dev/null || say "there is no ib_send_lat (Debian package perftest)"
gid=${WEFT_VERBS_GID_INDEX:-$("$bin/weft-info" | sed -n 's/.*GID index \([0-9]*\).*/\1/p' | head -n 1)}
[[ -n $gid ]] || say "weft finds no RDMA device here"
times() { awk -v n="$1" -v e="$effort" 'BEGIN { printf "%d", n * e < 5 ? 5 : n * e }'; }

# perftest PROGRAM SIZE TIMES ARGUMENTS...: its table's line, from the client.
perftest() {
  local program=$1 all=(-d "$device" -x "$gid" -s "$2" -n "$3" -F "${@:4}") server line
  taskset -c 0 "$program" "${all[@]}" > /dev/null 2>&1 &
  server=$!
  for _ in {1..100}; do
    # The server listens when it has opened the device.
    if line=$(taskset -c 1 timeout 120 "$program" "${all[@]}" 127.0.0.1 2> /dev/null); then break; fi
    line=
  done
  [[ -n $line ]] || { kill "$server" 2> /dev/null || true; say "$program does not run"; }
  wait "$server" || true
  awk -v size="$2" '$1 == size' <<< "$line"
}
# weft BENCH SIZE CACHE EFFORT KEY ARGUMENTS...: the median that it prints.
weft() {
  WEFT_REGISTRATION_CACHE=$3 "$bin/weft-bench" "$1" --transport verbs --progress polling --size "$2" --effort "$4" "${@:6}" --json |
    sed -n "s/.*\"$5\":\([0-9.e+-]*\).*/\1/p"
}

send_lat() { perftest ib_send_lat 8 "$(times 500)" | awk '{ print $5 }'; }
write_bw() { perftest ib_write_bw 1048576 "$(times 60)" -t 4 --report_gbits | awk '{ print $4 * 125 }'; }
weft_lat() { weft latency 8 off "$(awk -v e="$effort" 'BEGIN { print 0.02 * e }')" half_rtt_us; }
weft_bw() { weft bandwidth 1M "$1" "$(awk -v e="$effort" 'BEGIN { print 0.05 * e }')" mb_s --window 4; }

# tell FILE COLUMN TITLE UNIT: medians, and the ratio of the pairs to column 1 with its 10th and 90th percentile.
tell() {
  awk -v c="$2" -v title="$3" -v unit="$4" '
    function at(a, n, p,  i) { i = 1 + (n - 1) * p; return a[int(i)] + (a[int(i) + (int(i) < n)] - a[int(i)]) * (i - int(i)) }
    function sorted(a, n,  i, j, v) { for (i = 2; i <= n; ++i) { v = a[i]; for (j = i - 1; j && a[j] > v; --j) a[j + 1] = a[j]; a[j + 1] = v } }
    { raw[NR] = $1; own[NR] = $c; ratio[NR] = $c / $1 }
    END {
      sorted(raw, NR); sorted(own, NR); sorted(ratio, NR)
      printf "%-44s %9.4g %9.4g %s  ratio %.3f (%.3f to %.3f), %d pairs\n", title, at(own, NR, .5), at(raw, NR, .5), unit,
        at(ratio, NR, .5), at(ratio, NR, .1), at(ratio, NR, .9), NR
    }' "$1"
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for ((round = 0; round != rounds; ++round)); do
  # The order changes, so that no way always follows the same other one.
  if ((round % 2)); then
    own=$(weft_lat) raw=$(send_lat)
    kept=$(weft_bw bounded) bare=$(write_bw) fresh=$(weft_bw off)
  else
    raw=$(send_lat) own=$(weft_lat)
    fresh=$(weft_bw off) bare=$(write_bw) kept=$(weft_bw bounded)
  fi
  echo "$raw $own" >> "$folder/latency"
  echo "$bare $fresh $kept" >> "$folder/bandwidth"
  echo "round $round: 8 B $raw $own us, 1 MiB $bare $fresh $kept MB/s" >&2
done
echo "weft, the bare device; median of each, and of the ratios (10th to 90th percentile)"
tell "$folder/latency" 2 "8 B, half a round trip, ib_send_lat" us
tell "$folder/bandwidth" 2 "1 MiB, ib_write_bw, registered anew" MB/s
tell "$folder/bandwidth" 3 "1 MiB, ib_write_bw, WEFT_REGISTRATION_CACHE=bounded" MB/s
