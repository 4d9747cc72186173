#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench.sh BIN [ON]: with the registration cache no memory is registered twice, nor a part of registered memory; without
# the cache all memory is. ON: each rung of the ladder is measured, too.
set -euo pipefail
said=$(timeout -s KILL 100 "$1/weft-bench" regcache --rounds 1 --effort 0.02 --size 64K --json)

# counts CACHE KEY LOW HIGH: the count for a message lies between LOW and HIGH.
counts() {
  local n
  n=$(sed -n "s/.*\"cache\":\"$1\".*\"$2\":\([0-9.e+-]*\).*/\1/p" <<< "$said")
  awk -v n="$n" -v low="$3" -v high="$4" 'BEGIN { exit !(n != "" && n >= low && n <= high) }' ||
    { echo "$1: $2 is '$n', not $3 to $4: $said" >&2; exit 1; }
}

counts off registrations 1 1
counts 'off, parts' registrations 1 1
counts on registrations 0 0
counts on hits 1 1
counts 'on, parts' registrations 0 0
counts 'on, parts' sub_range_hits 0.9 1

[[ ${2:-} == ON ]] || exit 0
said=$(timeout -s KILL 100 "$1/weft-bench" ladder --rounds 1 --effort 0.02 --size 8 --large 64K --chunk 4K --json)
for step in raw basic piggyback pipelined 'zero-copy, read' 'zero-copy, written'; do
  n=$(grep -c "\"step\":\"$step\"" <<< "$said" || true)
  [[ $n == $([[ $step == pipelined ]] && echo 3 || echo 2) ]] || { echo "$n lines of $step: $said" >&2; exit 1; }
done

said=$(timeout -s KILL 60 "$1/weft-bench" device --rounds 1 --effort 0.02 --size 64 --json)
[[ $(grep -o '"work":"[^"]*"' <<< "$said" | sort -u | wc -l) == 7 ]] || { echo "not all works of a device: $said" >&2; exit 1; }
said=$(timeout -s KILL 60 "$1/weft-bench" frames --rounds 1 --effort 0.02 --size 64 --json)
[[ $(grep -c '"eager":"write"' <<< "$said") == 2 ]] || { echo "no written frames: $said" >&2; exit 1; }

# The other side by a server: the link between the two is TCP, what is measured is not.
work=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
(umask 077; printf '%064d' 1 > "$work/key")
"$1/weft-bench" serve --port 7499 --key-file "$work/key" > "$work/served" 2>&1 &
server=$!
for _ in $(seq 200); do grep -q "serves at" "$work/served" && break; sleep 0.05; done
said=$(timeout -s KILL 60 "$1/weft-bench" latency --to 127.0.0.1:7499 --key-file "$work/key" --transport verbs --size 64 \
  --effort 0.02) || { echo "$said" >&2; cat "$work/served" >&2; exit 1; }
grep -q "^verbs" <<< "$said" || { echo "not over verbs: $said" >&2; exit 1; }
