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
