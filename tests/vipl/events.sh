# SPDX-License-Identifier: Apache-2.0
# Callbacks, completion queues, states, refusals; what unreliable VIs drop; errors of descriptors; a peer that is killed,
# and one that sends wrong messages.
programs=$(dirname "$(command -v weft-run)")/tests
for transports in self,shm self,tcp; do
  for program in events drops death hostile; do
    WEFT_TRANSPORTS=$transports timeout --kill-after=5 60 "$programs/vipl-$program"
  done
done
