# SPDX-License-Identifier: Apache-2.0
# What the scripts have in common; sourced.
skip() {
  echo "skipped: $*"
  exit 77
}

# mpirun of Debian's Open MPI, also as root and with more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
command -v mpirun.openmpi >/dev/null || skip "mpirun.openmpi is not installed (openmpi-bin)"
# 124: it did not end.
mpi() { timeout -k 5 100 mpirun.openmpi "$@"; }
