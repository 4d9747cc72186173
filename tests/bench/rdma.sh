# SPDX-License-Identifier: Apache-2.0
# The payload schemes of long messages over qdma.
. "$(dirname "$0")/common.sh"
needs_part qdma

bench rdma --rounds 1 --effort 0.02 --size 4,64K
says "put, inlined"
bench rdma --rounds 1 --effort 0.02 --size 256K --json
says '"bench":"rdma"'
says '"rest":"get","fin":"chained","ends":"two queues"'
