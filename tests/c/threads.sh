# SPDX-License-Identifier: Apache-2.0
# Several threads in one context.
for transports in self,shm self,tcp; do
  WEFT_TRANSPORTS=$transports timeout -s KILL 50 weft-run -n 2 tests/c-threads
done
