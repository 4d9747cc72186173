# SPDX-License-Identifier: Apache-2.0
# Every call about memory of peers: over each transport and way of progress, with two ranks and with four.
. "$(dirname "$0")/common.sh"
for transports in self,shm self,tcp; do
  for progress in dedicated polling interrupt; do
    for n in 2 4; do
      WEFT_TRANSPORTS=$transports WEFT_PROGRESS=$progress within_time 100 weft-run -n $n "$programs/c-access"
    done
  done
done
