# SPDX-License-Identifier: Apache-2.0
# Calls and collectives from C, in each way of progress.
. "$(dirname "$0")/common.sh"
for progress in dedicated polling interrupt; do
  WEFT_PROGRESS=$progress within_time 100 weft-run -n 4 "$programs/c-together"
done
WEFT_TRANSPORTS=self,tcp within_time 100 weft-run -n 2 "$programs/c-together"
