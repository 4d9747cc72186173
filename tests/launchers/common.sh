# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts; sourced.
skip() {
  echo "skipped: $*"
  exit 77
}

# mpirun of Debian's Open MPI, also as root and with more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export PRTE_MCA_rmaps_default_mapping_policy=slot:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none  # Open MPI 5
command -v mpirun.openmpi >/dev/null || skip "mpirun.openmpi is not installed (openmpi-bin)"
# 124: it did not end.
mpi() { timeout -k 5 100 mpirun.openmpi "$@"; }

picture=$SAMPLES/heat/picture.pgm

# same_as_alone LAUNCHER...: four ranks greet, each once, and heat makes the same picture as with one process.
same_as_alone() {
  local rank
  "$@" -n 4 hello >hello.txt
  cat hello.txt
  for rank in 0 1 2 3; do
    [ "$(grep -c "hello from rank $rank" hello.txt)" = 1 ]
  done
  heat --steps 100 "$picture" alone.pgm
  "$@" -n 4 heat --steps 100 "$picture" four.pgm >heat.txt
  cat heat.txt
  grep -q "4 processes" heat.txt
  cmp alone.pgm four.pgm
}
