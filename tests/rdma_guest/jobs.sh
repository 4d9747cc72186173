#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# jobs.sh BIN [ON]: jobs of four ranks: collectives over verbs alone; all to all with another transport. ON: also beside
# others.
set -euo pipefail
PATH=$1:$1/tests:$PATH

# job TRANSPORTS COMMAND...: ends well, and no rank reports that something broke.
job() {
  local said
  said=$(WEFT_TRANSPORTS=$1 timeout -s KILL 100 weft-run -n 4 "${@:2}" 2>&1) && [[ -z $said ]] && return 0
  echo "over $1: $said" >&2
  exit 1
}
# why TRANSPORTS TEXT: what rank 0 says of how it reaches rank 1.
why() {
  WEFT_TRANSPORTS=$1 timeout -s KILL 50 weft-run --no-label -n 2 weft-info --why rank:1 2>&1 | grep -qE -- "$2" ||
    { echo "missing over $1: $2" >&2; exit 1; }
}

job self,verbs collectives results 100
if [[ ${2:-} == ON ]]; then
  job self,verbs all_to_all
  job self,shm,verbs,tcp all_to_all
  job self,verbs,tcp all_to_all
fi
# One rank has no device: the others reach it over TCP, and each other over verbs, or over both joined.
one_without='[[ $WEFT_RANK != 2 ]] || export WEFT_VERBS_DEVICE=none; exec all_to_all'
job self,verbs,tcp bash -c "$one_without"
WEFT_TCP_LINKS=2 job self,verbs+tcp,tcp bash -c "$one_without"

why self,verbs,tcp '^  verbs +chosen +verbs, queue pair'
why self,shm,verbs,tcp '^  verbs +not tried'
WEFT_VERBS_DEVICE=none why self,verbs,tcp '^  verbs +not used +there is no RDMA device none'
