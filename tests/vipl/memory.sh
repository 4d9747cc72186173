# SPDX-License-Identifier: Apache-2.0
# A thread without memory. The program brings its own operator new, as ThreadSanitizer does: it is not built for that.
program=$(dirname "$(command -v weft-run)")/tests/vipl-memory
if ! [ -x "$program" ]; then
  echo "vipl-memory is not built: ThreadSanitizer brings its own operator new"
  exit 77
fi
for transports in self,shm self,tcp; do
  WEFT_TRANSPORTS=$transports timeout --kill-after=5 60 "$program"
done
