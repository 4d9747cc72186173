# SPDX-License-Identifier: Apache-2.0
# Progress while nobody calls.
. "$(dirname "$0")/common.sh"
for transports in self,shm self,tcp; do
  WEFT_TRANSPORTS=$transports timeout -s KILL 50 weft-run -n 2 "$programs/c-absent"
done
