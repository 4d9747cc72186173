# SPDX-License-Identifier: Apache-2.0
# Two processes that use every part of vipl.h, at each reliability level, over each transport.
programs=$(dirname "$(command -v weft-run)")/tests
for transports in self,shm self,tcp; do
  export WEFT_TRANSPORTS=$transports
  echo "over $transports"
  timeout --kill-after=5 60 "$programs/vipl-pair" server "$$" &
  server=$!
  timeout --kill-after=5 60 "$programs/vipl-pair" client "$$"
  wait "$server"
done
