# SPDX-License-Identifier: Apache-2.0
# Two hosts with two ranks on each: shared memory within a host, TCP between them, in one job. Arguments are those of
# mpi-conformance.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/../support/two_hosts.sh"

on_first weft-mpirun "${hosts_for_mpirun[@]}" -n 4 mpi-conformance -persistent_buffered "$@"
