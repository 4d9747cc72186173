# SPDX-License-Identifier: Apache-2.0
# One-sided calls over the provider's RMA: Open MPI's osc rdma on its btl ofi, which requires FI_RMA and FI_ATOMIC.
. "$(dirname "$0")/common.sh"
limit=60
# Open MPI 4.1's btl ofi ends the job at an MPI_MAX of a single number, unless osc rdma is told not to pass it on.
for job in "2 self,shm" "4 self,tcp"; do
  set -- $job
  export WEFT_TRANSPORTS=$2
  on_weft -n $1 --mca btl self,ofi --mca btl_ofi_provider_include weft --mca osc rdma --mca osc_rdma_acc_use_amo 0 \
    mpi-conformance windows 2>said.txt || { cat said.txt; fail "windows of $1 ranks over $2"; }
  cat said.txt
  # One endpoint for messages, another one for memory.
  test "$(grep -c "MPI runs on weft" said.txt)" = 2 || fail "btl ofi did not take weft"
done
