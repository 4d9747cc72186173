# SPDX-License-Identifier: Apache-2.0
# One MPI program on Open MPI, on Open MPI with weft, and on MPICH; and a check that no other transport is measured in
# place of weft.
. "$(dirname "$0")/common.sh"
for program in weft-peer-openmpi mpirun.openmpi weft-mpirun; do
  command -v $program >/dev/null || skip "$program is not there"
done

never() { ! grep -q -- "$1" <<<"$said" || { echo "unexpected: $1"; exit 1; }; }

skipped="MPICH async"
weft-mpirun --print -n 2 true >/dev/null 2>&1 || skipped="$skipped,Open MPI on weft"
command -v mpirun.mpich >/dev/null || skipped="$skipped,MPICH"
bench mpi --rounds 1 --effort 0.01 --only "latency,allreduce 2 ranks,barrier 4 ranks,start 8 ranks" --skip "$skipped" --json
says '"contestant":"Open MPI vader"'
says '"series":"barrier 4 ranks"'
says '"ms_per_job":'
never '"left_out"'
case $skipped in *"Open MPI on weft"*) ;; *) says '"contestant":"Open MPI on weft"' ;; esac
! command -v weft-peer-mpich >/dev/null || ! command -v mpirun.mpich >/dev/null || says '"contestant":"MPICH"'
bench mpi --rounds 1 --effort 0.01 --only overlap --skip "${skipped%,MPICH},MPICH" --json
says '"pattern":"sender_blocked"'
never '"left_out"'
bench mpi --transport tcp --rounds 1 --effort 0.01 --only rate --skip "$skipped"
says 'Open MPI tcp'

# not_weft TEXT: a launcher that does not run weft is recognised, and its measurement does not count.
not_weft() {
  echo "+ weft-bench mpi, with a launcher that is none"
  said=$(timeout -s KILL 60 weft-bench mpi --bin "$folder" --rounds 1 --effort 0.01 --only "barrier 2 ranks" --json 2>&1) &&
    { echo "$said"; exit 1; }
  echo "$said"
  says "Open MPI on weft is left out of the comparison: $1"
  never '"contestant":"Open MPI on weft".*"us_per_call"'
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
ln -s "$(command -v weft-peer-openmpi)" "$folder"
printf '#!/bin/sh\nshift 2\nexec "$@"\n' >"$folder/weft-mpirun" # --quiet --mpirun
chmod +x "$folder/weft-mpirun"
not_weft "0 of its 2 ranks had libweft-fi.so loaded"
printf '#!/bin/sh\nexit 3\n' >"$folder/weft-mpirun"
not_weft "exit code 3"
rm "$folder/weft-mpirun"
not_weft "$folder/weft-mpirun was not built"
