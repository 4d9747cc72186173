# SPDX-License-Identifier: Apache-2.0
# Callbacks, completion queues, states, refusals.
programs=$(dirname "$(command -v weft-run)")/tests
for transports in self,shm self,tcp; do
  WEFT_TRANSPORTS=$transports timeout --kill-after=5 60 "$programs/vipl-events"
done
