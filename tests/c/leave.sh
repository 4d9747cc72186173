# SPDX-License-Identifier: Apache-2.0
# A process exits with contexts open, often: from main, from another thread, and closing them in a handler of exit.
. "$(dirname "$0")/common.sh"
for way in main thread close; do
  for transports in self,shm self,tcp; do
    for time in $(seq "${WEFT_TEST_ROUNDS:-16}"); do
      code=0
      WEFT_TRANSPORTS=$transports timeout 60 "$programs/c-leave" $way || code=$?
      if ((code != 3)); then
        echo "$way over $transports ended with $code"
        exit 1
      fi
    done
  done
done
