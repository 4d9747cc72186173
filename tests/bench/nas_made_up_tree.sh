# SPDX-License-Identifier: Apache-2.0
# weft-bench mpi kernel --nas with a tree that this script makes up: its programs are an MPI program of weft's own and a
# report as NPB prints it. So it tests how programs are found, started and read, not NPB (docs/performance.md has that).
. "$(dirname "$0")/common.sh"
for program in weft-peer-openmpi mpirun.openmpi weft-mpirun; do
  command -v $program >/dev/null || skip "$program is not there"
done
skipped=none
weft-mpirun --print -n 2 true >/dev/null 2>&1 || skipped="Open MPI on weft"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tree=$folder/NPB3.4-MPI
mkdir -p "$tree/bin" "$tree/config"

# program FILE VERDICT: rank 0 prints a report.
program() {
  cat >"$tree/bin/$1" <<PROGRAM
#!/bin/sh
weft-peer-openmpi kernel --kernel is --effort 0.01 >/dev/null || exit 1
[ "\$OMPI_COMM_WORLD_RANK" = 0 ] || exit 0
echo " Time in seconds =                     0.50
 Total processes =                        2
 Mop/s total     =                  1234.50
 Verification    =             $2"
PROGRAM
  chmod +x "$tree/bin/$1"
}

# fails TEXT ARGUMENTS...: it ends with 1 and prints that text.
fails() {
  local status=0
  said=$(timeout -s KILL 60 weft-bench mpi kernel --ranks 2 --rounds 1 "${@:2}" 2>&1) || status=$?
  echo "$said"
  [ "$status" -eq 1 ] || { echo "status $status"; exit 1; }
  says "$1"
}

program lu.S.x SUCCESSFUL
bench mpi kernel --nas "$folder" --kernel lu --class S --ranks 2 --rounds 1 --skip "$skipped" --json
says '"bench":"nas"'
says '"contestant":"Open MPI vader"'
says '"mop_s":1234.5'
[ "$skipped" != none ] || says '"ratios":{"Open MPI vader":{"median":1.0,'

program lu.W.2 UNSUCCESSFUL
fails "Open MPI vader is left out of the comparison: lu of class W on 2 ranks says that its verification failed" \
  --nas "$tree" --kernel lu --class W --skip "Open MPI on weft"
fails "cannot build it without config/make.def; copy" --nas "$tree" --kernel cg --class S
fails "there is no tree of the NAS Parallel Benchmarks" --nas /proc/self
printf '#!/bin/sh\nexit 0\n' >"$tree/bin/ft.S.x"
chmod +x "$tree/bin/ft.S.x"
fails '"Mop/s total =" is missing' --nas "$tree" --kernel ft --class S
