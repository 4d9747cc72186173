# SPDX-License-Identifier: Apache-2.0
# Every kernel on 2 ranks, and at length on 1 and 4, too, on weft and on Open MPI's own transports, against one process;
# and what a contestant with a wrong answer causes.
. "$(dirname "$0")/common.sh"
for program in weft-peer-openmpi mpirun.openmpi weft-mpirun; do
  command -v $program >/dev/null || skip "$program is not there"
done
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
weft-mpirun --print -n 2 true >/dev/null 2>&1 && ways="--quiet --default" || ways=--default

counts=2
[ "$LONG" != ON ] || counts="1 2 4"
for way in $ways; do
  for ranks in $counts; do
    said=$(timeout -k 5 60 weft-mpirun $way -n $ranks weft-peer-openmpi kernel --class S --effort 0.01) ||
      { echo "$said"; echo "$way, $ranks ranks"; exit 1; }
    echo "$said"
    [ "$(grep -c '"verified":true' <<<"$said")" -eq 5 ] || { echo "not all of $way, $ranks ranks"; exit 1; }
    ! grep -q '"wrong"' <<<"$said" || exit 1
  done
done

skipped="Open MPI on weft,MPICH"
bench mpi kernel --kernel is,lu --ranks 2 --class S --rounds 1 --effort 0.01 --skip "MPICH" --json
says '"bench":"kernel","transport":"shm"'
says '"pattern":"lu","solve_ms":'
case $ways in --quiet*) says '"ratios":{"Open MPI vader":{"median":' ;; esac

# A program that computes something else: the run fails, and the contestant is named.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/weft-peer-openmpi" <<'PROGRAM'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" = 0 ] || exit 0
echo '{"bench":"kernel","ranks":2,"ranks_on_weft":0,"verified":false,"wrong":"lu of class S is wrong"}'
exit 1
PROGRAM
chmod +x "$folder/weft-peer-openmpi"
status=0
said=$(weft-bench mpi kernel --bin "$folder" --kernel lu --ranks 2 --class S --rounds 1 --skip "$skipped" --json 2>&1) ||
  status=$?
echo "$said"
[ "$status" -eq 1 ] || { echo "status $status"; exit 1; }
says "Open MPI vader is left out of the comparison: lu of class S is wrong"

refuses() {
  local status=0
  said=$(weft-bench mpi "${@:2}" 2>&1) || status=$?
  [ "$status" -eq 1 ] || { echo "status $status: $said"; exit 1; }
  says "$1"
}
refuses "weft's own kernels have no class B; there are S, W and A, or --nas" kernel --class B
refuses "--rounds stands before the word kernel" --rounds 1 kernel
