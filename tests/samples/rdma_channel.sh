# SPDX-License-Identifier: Apache-2.0
# All rungs over shared memory; an unknown transport is refused; over a device where there is one.
rdma_channel | tee all
for rung in basic piggyback pipelined "zero-copy, read" "zero-copy, written"; do grep -q "^$rung  *[0-9][0-9]* MB/s$" all; done
! rdma_channel carrier_pigeon 2>refusal
grep -q "usage" refusal
rdma_channel verbs >by_device 2>why || grep -q "RDMA channel: " why
