# SPDX-License-Identifier: Apache-2.0
# Collective calls of weft beside those of MPI, plain and during a computation.
. "$(dirname "$0")/common.sh"

# weft alone: every call is verified.
calls="barrier all_reduce"
[ "$LONG" != ON ] || calls="barrier broadcast all_reduce all_to_all"
for call in $calls; do
  bench collective --call $call --ranks 3 --size 8,64k --effort 0.01 --json
  says '"pattern":"plain"'
  says '"pattern":"computing_long"'
  says '"beyond_us":'
done
bench collective --call all_reduce --ranks 2 --size 8 --pattern computing --effort 0.01 --transport tcp
says "all_reduce of 2 ranks over tcp"

command -v mpirun.openmpi >/dev/null && command -v weft-peer-openmpi >/dev/null || skip "Open MPI is not there"
skipped="MPICH async"
command -v mpirun.mpich >/dev/null || skipped="$skipped,MPICH"
bench collectives --rounds 1 --effort 0.01 --size 8,64k --only "barrier 2 ranks,all_to_all 4 ranks" --skip "$skipped" --json
says '"contestant":"weft"'
says '"contestant":"Open MPI vader"'
says '"series":"all_to_all 4 ranks","pattern":"computing"'
! grep -q '"left_out"' <<<"$said" || exit 1
bench collectives --rounds 1 --effort 0.01 --size 4k --transport tcp --only "broadcast 4 ranks,all_reduce 4 ranks" \
  --pattern plain --skip "MPICH tcp"
says "weft to"
says "Open MPI tcp"
