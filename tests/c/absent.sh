# SPDX-License-Identifier: Apache-2.0
# Progress while no thread calls weft.
. "$(dirname "$0")/common.sh"
for transports in self,shm self,tcp; do
  WEFT_TRANSPORTS=$transports within_time 100 weft-run -n 2 "$programs/c-absent"
done
