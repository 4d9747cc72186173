# SPDX-License-Identifier: Apache-2.0
# One-sided calls over the provider's RMA: Open MPI's osc rdma on its btl ofi, which requires FI_RMA and FI_ATOMIC. With
# Open MPI 5 that btl has the messages, too.
. "$(dirname "$0")/common.sh"
limit=60
if [ "$open_mpi" = 4 ]; then endpoints=2 subjects=windows; else endpoints=1 subjects="windows locks probes order"; fi
for job in "2 self,shm" "4 self,tcp"; do
  set -- $job
  export WEFT_TRANSPORTS=$2
  # Without osc sm, which has windows of one host in memory that MPI has allocated.
  on_weft --one-sided -n $1 --mca osc rdma mpi-conformance $subjects 2>said.txt ||
    { cat said.txt; fail "windows of $1 ranks over $2"; }
  cat said.txt
  test "$(grep -c "MPI runs on weft" said.txt)" = $endpoints || fail "btl ofi did not take weft"
done
