# SPDX-License-Identifier: Apache-2.0
# The RDMA channel on plain shared memory, which needs no device.
. "$(dirname "$0")/common.sh"
needs_part verbs

bench ladder --transport shm --rounds 1 --effort 0.02 --size 8 --large 64,300K --chunk 4K --json
says '"bench":"ladder","transport":"shm"'
for step in raw basic piggyback pipelined "zero-copy, read" "zero-copy, written"; do says "\"step\":\"$step\""; done
says '"chunk":"4 KiB"'
