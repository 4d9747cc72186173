# SPDX-License-Identifier: Apache-2.0
# mpich.sh RANKS: mpi-conformance on MPICH's own transports. What fails here as well as on weft is the program's fault.
. "$(dirname "$0")/common.sh"
command -v mpirun.mpich >/dev/null || skip "mpirun.mpich is not installed (mpich)"
left_out=()
# MPICH 4.0 crashes in it, on its own transports; 4.2 does not.
if mpirun.mpich --version | grep -qE 'Version: +4\.0'; then left_out=(-rooted); fi
timeout -k 5 280 mpirun.mpich -n "$1" mpi-conformance-mpich "${left_out[@]}"
