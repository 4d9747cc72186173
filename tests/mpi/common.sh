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

# Any number of ranks on this machine's cores, none of them pinned.
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none

# on_weft ARGUMENTS..., on_default ARGUMENTS...: a job, for at most as many seconds as $limit says; 124: it did not end.
limit=100
on_weft() { timeout -k 5 "$limit" weft-mpirun "$@"; }
on_default() { timeout -k 5 "$limit" weft-mpirun --default "$@"; }
