# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts; sourced. Programs are on PATH.
skip() {
  echo "skipped: $*"
  exit 77
}
fail() {
  echo "FAILED: $*"
  exit 1
}
command -v mpirun.openmpi >/dev/null || skip "mpirun.openmpi is not installed (openmpi-bin)"

# Any number of ranks on this machine's cores, none of them pinned: as Open MPI 4 reads it, and PRRTE, the launcher of 5.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export PRTE_MCA_rmaps_default_mapping_policy=slot:oversubscribe PRTE_MCA_hwloc_default_binding_policy=none
# Its number in front of the first point: 4 or 5.
open_mpi=$(mpirun.openmpi --version | sed -n 's/^mpirun.*) \([0-9]*\)\..*/\1/p')

# on_weft ARGUMENTS..., on_default ARGUMENTS...: a job, for at most as many seconds as $limit says; 124: it did not end.
limit=100
on_weft() { timeout -k 5 "$limit" weft-mpirun "$@"; }
on_default() { timeout -k 5 "$limit" weft-mpirun --default "$@"; }

# mpirun_says PATTERN FILE: mpirun breaks its lines at any blank.
mpirun_says() { tr -s '\n' ' ' <"$2" | grep -qE -- "$1"; }
