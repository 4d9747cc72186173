# SPDX-License-Identifier: Apache-2.0
# Installations of an MPI and of UCX that the user names: their programs are built, and they take part.
. "$(dirname "$0")/common.sh"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/broken/bin" "$folder/none"

# fails TEXT ARGUMENTS...: weft-bench ends with an error that says so.
fails() {
  local expected=$1
  shift
  echo "+ weft-bench $*"
  if said=$(timeout -s KILL 100 weft-bench "$@" 2>&1); then echo "$said"; echo "it did not fail"; exit 1; fi
  echo "$said"
  says "$expected"
}

fails "it has to be NAME=PREFIX" mpi --mpi today
fails "$folder/none/bin/mpirun is not there" mpi --mpi "today=$folder/none"
fails "$folder/none/bin/ucx_perftest is not there" compare --ucx "$folder/none"
[ "$LONG" = ON ] || exit 0  # builds and jobs take minutes

for mpi in openmpi mpich; do
  command -v mpirun.$mpi >/dev/null && command -v mpicc.$mpi >/dev/null && command -v c++ >/dev/null || continue
  mkdir -p "$folder/$mpi/bin"
  for program in mpirun mpicc; do
    printf '#!/bin/sh\nexec %s.%s "$@"\n' $program $mpi >"$folder/$mpi/bin/$program"
    chmod +x "$folder/$mpi/bin/$program"
  done
  cp "$folder/$mpi/bin/mpirun" "$folder/broken/bin/mpirun"
done
[ -e "$folder/broken/bin/mpirun" ] || skip "neither Open MPI nor MPICH is there"
printf '#!/bin/sh\necho cc -I/no/such/folder\n' >"$folder/broken/bin/mpicc"
chmod +x "$folder/broken/bin/mpicc"
fails "the MPI program could not be built with $folder/broken/bin/mpicc" mpi --mpi "today=$folder/broken"
says "/no/such/folder"

skipped="Open MPI on weft,Open MPI vader,Open MPI UCX,MPICH,MPICH async"
if [ -d "$folder/openmpi" ]; then
  bench mpi --mpi "today=$folder/openmpi" --only "latency,barrier 2 ranks" --rounds 1 --effort 0.01 --skip "$skipped" --json
  says '"contestant":"today vader"'
  says '"library":"Open MPI'
fi
if [ -d "$folder/mpich" ]; then
  bench collectives --mpi "today=$folder/mpich" --only "barrier 2 ranks" --rounds 1 --effort 0.01 --pattern plain --skip "$skipped"
  says "today"
  says "MPICH Version"
fi
[ "$(ls -d "${TMPDIR:-/tmp}"/weft-bench-??????/peer 2>/dev/null | wc -l)" -eq 0 ] || { echo "left behind: a folder"; exit 1; }

perftest=$(command -v ucx_perftest) || skip "of UCX itself: ucx_perftest is not there (apt-get install ucx-utils)"
bench compare --ucx "$(dirname "$(dirname "$perftest")")" --only "latency,rate,bandwidth" --rounds 1 --effort 0.02 --json \
  --skip "$skipped,weft polling,raw cache_line,raw slot_rate,raw cma,raw direct_copy,raw pipelined_copy"
says '"contestant":"UCX '
bench company --ucx "$(dirname "$(dirname "$perftest")")" --spinners 1 --ranks 0 --rounds 1 --effort 0.02 --skip "$skipped" --json
says '"contestant":"UCX '
