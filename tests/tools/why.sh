# SPDX-License-Identifier: Apache-2.0
# weft-info --why PEER: prints which transports were tried for the peer.
says() { grep -qE -- "$1" <<<"$said" || { echo "$said"; echo "missing: $1"; exit 1; }; }
fails_with() { said=$("${@:2}" 2>&1) && { echo "$said"; echo "should fail: ${*:2}"; exit 1; }; says "$1"; }
why() { said=$(timeout -s KILL 50 weft-run --no-label -n 2 weft-info --why "$1" 2>&1) || { echo "$said"; exit 1; }; }

why rank:1
says "^from rank 0 to rank:1"
says "^  self +failed +.self. reaches no other process"
says "^  shm +chosen +shm"
says "^  tcp +not tried +one works that comes before"
says "^  self +chosen"  # rank 1, to itself

WEFT_TRANSPORTS=self,tcp why rank:0
says "^  tcp +chosen +tcp, "
says "^  shm +not used +not in WEFT_TRANSPORTS"

# By size: the ways, and what they cost here.
said=$(timeout -s KILL 50 weft-info --why 8 1m 2>&1) || { echo "$said"; exit 1; }
says "^8 bytes"
says "^  measured now.*: as chosen [0-9.]+$"
says "^  measured now.*: as chosen [0-9.]+, in frames [0-9.]+, by get [0-9.]+, out of weft::shared_memory [0-9.]+$"
said=$(WEFT_TRANSPORTS=self,tcp timeout -s KILL 50 weft-info --why 1m --json 2>&1) || { echo "$said"; exit 1; }
says '"in frames": [0-9.]+'
said=$(ulimit -n 32; timeout -s KILL 50 weft-info --why 8 2>&1) || { echo "$said"; exit 1; }
says "^  could not be measured: .*ulimit -n"
said=$(timeout -s KILL 50 weft-info --why 2>&1) || { echo "$said"; exit 1; }
says "^8388608 bytes"
[[ $said != *measured\ now* ]] || { echo "$said"; echo "a list of usual sizes is not measured"; exit 1; }

# By collective: the algorithms, the chosen one first.
said=$(weft-info --why all_reduce:8:8 all_reduce:16m:8 2>&1) || { echo "$said"; exit 1; }
says "^all_reduce of 8 bytes by 8 ranks"
says "^  on one host"
says "^    recursive_doubling +[0-9.]+  chosen: cheapest$"
says "^    ring +[0-9.]+  not used: fewer than 8 bytes for each rank$"
says "^all_reduce of 16777216 bytes by 8 ranks"
says "^    (ring|rabenseifner) +[0-9]+  chosen: cheapest$"
said=$(WEFT_COLLECTIVES=all_reduce:ring weft-info --why all_reduce:1m:8 all_reduce:8:8 2>&1) || { echo "$said"; exit 1; }
says "^    ring +[0-9.]+  chosen: WEFT_COLLECTIVES$"
says "^    ring +[0-9.]+  not used: WEFT_COLLECTIVES asks for it, but: fewer than 8 bytes for each rank$"
fails_with "WEFT_COLLECTIVES=\"all_reduce:no\" makes no sense.*all_reduce:recursive_doubling\|rabenseifner\|ring" \
  env WEFT_COLLECTIVES=all_reduce:no weft-info --why all_reduce:8:8
said=$(weft-info --why barrier:0:8 --json 2>&1) || { echo "$said"; exit 1; }
says '"algorithm": "dissemination"'
says '"on_several_hosts"'
said=$(weft-info --why all_reduce:1m:8x4 2>&1) || { echo "$said"; exit 1; }
says "^  on 8 hosts with 4 ranks each, in µs"
says "^    levels_parts +[0-9.]+"
fails_with "COLLECTIVE:SIZE:RANKS" weft-info --why all_reduce:8:2x
fails_with "no collective all_mean; there are: barrier, broadcast" weft-info --why all_mean:8:8
fails_with "COLLECTIVE:SIZE:RANKS" weft-info --why all_reduce:8
fails_with "COLLECTIVE:SIZE:RANKS" weft-info --why all_reduce:8:none
fails_with "COLLECTIVE:SIZE:RANKS" weft-info --why all_reduce:8:0
fails_with "many.*makes no sense" weft-info --why all_reduce:many:8
fails_with "COLLECTIVE:SIZE:RANKS" weft-info --why 8 all_reduce:8:8

fails_with "the job has 1 ranks" weft-info --why rank:7
fails_with "write rank:N" weft-info --why rank:one
fails_with "refused|nobody" weft-info --why "unix://weft-nobody-$$"

# By address: the process that listens there sees a requester come and go.
command -v pingpong >/dev/null || exit 0
address=unix://weft-why-$$
listen=$(mktemp)
pingpong --listen $address >"$listen" 2>&1 &
listening=$!
trap 'kill $listening 2>/dev/null || true; rm -f "$listen"' EXIT
tail -f --pid=$listening "$listen" | grep -q -m 1 "waiting at"
said=$(timeout -s KILL 50 weft-info --why $address --json 2>&1) || { echo "$said"; exit 1; }
says '"peer": "'$address'"'
says '"outcome": "chosen"'
